import { Box, Select } from '@mantine/core'
import { useState } from 'react'
import { figuresOf, type PriceFigures } from '../../../../contract/model-price.ts'
import { formatCount } from '../../../lib/format.ts'
import { useText } from '../../../lib/i18n.ts'
import { type Prices, pricesOf, usdText } from '../../../lib/prices.ts'
import { useStatus } from '../../../lib/status.ts'
import shared from '../../../ui/shared.module.css'
import { examplePrice, priceOptions } from './example-price.ts'
import type { Unit } from './price-input.tsx'
import styles from './ratios.module.css'
import { noPrices } from './table.ts'
import { texts } from './texts.ts'
import type { PriceEditing } from './use-price-table.ts'

interface ExampleProps {
  readonly editing: PriceEditing
  /** The models of the page. */
  readonly names: readonly string[]
  readonly unit: Unit
}

const tokens = 1000

/** A worked example of each price of a model: for a thousand tokens of each kind, or for a call. */
export function Example({ editing: { table, options }, names, unit }: ExampleProps) {
  const say = useText(texts)
  const perUsd = useStatus().quota_per_unit
  const [chosen, setChosen] = useState<string | null>(null)
  const saved = priceOptions(options)
  const priceOf = (name: string) => examplePrice(name, table[name] ?? noPrices, saved)
  const priced = names.filter(priceOf)
  const model = chosen !== null && priced.includes(chosen) ? chosen : priced[0]
  const price = model === undefined ? undefined : priceOf(model)
  if (!price) return null

  const row = figuresOf(price)
  const prices = pricesOf(row, 1, perUsd)
  const shown = kinds.flatMap((kind) => {
    const price = prices[kind]
    return price === undefined ? [] : { kind, price, usd: (tokens * price) / 1_000_000 }
  })
  const workings = (kind: Kind, price: number): string =>
    [
      formatCount(tokens),
      ...(unit === 'usd' ? [`${usdText(price)} / 1M`] : ratiosOf[kind](row).map((ratio) => Number(ratio.toPrecision(6)))),
    ].join(' × ')

  return (
    <section className={styles.example} aria-label={say('exampleTitle')}>
      <div className={styles.exampleHead}>
        <strong>{say('exampleTitle')}</strong>
        <Select
          size="xs"
          searchable
          allowDeselect={false}
          aria-label={say('exampleModel')}
          data={priced}
          value={price.model}
          onChange={setChosen}
        />
      </div>
      {prices.isPerCall ? (
        <p className={styles.sum}>
          {say('exampleCall')} <strong>{usdText(prices.call)}</strong>
        </p>
      ) : (
        <dl className={styles.lines}>
          {shown.map(({ kind, price, usd }) => (
            <div key={kind}>
              <dt>{say(labels[kind], { count: formatCount(tokens) })}</dt>
              <dd className={styles.working}>{workings(kind, price)}</dd>
              <dd>{usdText(usd)}</dd>
            </div>
          ))}
          <div className={styles.total}>
            <dt>{say('exampleSum', { count: formatCount(tokens) })}</dt>
            <dd>{usdText((tokens * (prices.input + prices.output)) / 1_000_000)}</dd>
          </div>
        </dl>
      )}
      <Box component="p" mt="xs" className={shared.note}>
        {say('exampleHint')}
      </Box>
    </section>
  )
}

const kinds = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'audioInput',
  'audioOutput',
  'imageInput',
  'imageOutput',
  'videoOutput',
  'cachedAudio',
  'cachedImage',
] as const satisfies readonly (keyof Prices)[]
type Kind = (typeof kinds)[number]

const labels = {
  input: 'inputTokens',
  output: 'outputTokens',
  cacheRead: 'cacheRead',
  cacheWrite: 'cacheWrite',
  audioInput: 'audioInput',
  audioOutput: 'audioOutput',
  imageInput: 'imageInput',
  imageOutput: 'imageOutput',
  videoOutput: 'videoOutput',
  cachedAudio: 'cachedAudio',
  cachedImage: 'cachedImage',
} as const satisfies Record<Kind, string>

/** The ratios of the tokens, shown beside the price, which only `pricesOf` computes. */
const ratiosOf: Readonly<Record<Kind, (row: PriceFigures) => readonly number[]>> = {
  input: (row) => [row.model_ratio],
  output: (row) => [row.model_ratio, row.completion_ratio],
  cacheRead: (row) => [row.model_ratio, row.cache_ratio],
  cacheWrite: (row) => [row.model_ratio, row.create_cache_ratio],
  audioInput: (row) => [row.model_ratio, row.audio_ratio],
  audioOutput: (row) => [row.model_ratio, row.audio_ratio, row.audio_completion_ratio],
  imageInput: (row) => [row.model_ratio, row.image_ratio],
  imageOutput: (row) => [row.model_ratio, row.image_completion_ratio],
  videoOutput: (row) => [row.model_ratio, row.video_completion_ratio],
  cachedAudio: (row) => [row.model_ratio, row.audio_cache_ratio],
  cachedImage: (row) => [row.model_ratio, row.image_cache_ratio],
}
