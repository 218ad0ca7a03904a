import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { PriceRow } from '../../../contract/routes/pricing.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { pricesOf, usdText } from '../../lib/prices.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { useClipWords } from '../../ui/view/clip-words.ts'
import styles from './pricing.module.css'
import { texts } from './texts.ts'

/** The price of a request of a model, computed with figures that the reader may change. */
interface WorkedExampleProps {
  readonly row: PriceRow
  readonly ratio: number
  readonly perUsd: number
  readonly onClose: () => void
}

export function WorkedExample({ row, ratio, perUsd, onClose }: WorkedExampleProps) {
  const say = useText(texts)
  const clipWords = useClipWords()
  const usual = usualClip(row)
  const [input, setInput] = useState(1000)
  const [output, setOutput] = useState(500)
  const price = pricesOf(row, ratio, perUsd)
  const usd = price.isPerCall ? price.call : (input * price.input + output * price.output) / 1_000_000
  const units = Math.ceil(Number((usd * perUsd).toPrecision(12)))

  return (
    <Dialog title={say('example')} onClose={onClose}>
      {!price.isPerCall && (
        <div className={styles.figures}>
          <Tokens label={say('inputTokens')} value={input} onChange={setInput} />
          <Tokens label={say('outputTokens')} value={output} onChange={setOutput} />
        </div>
      )}
      <p className={styles.words}>
        {usual
          ? say('exampleClip', { model: row.model_name, clip: clipWords(usual) })
          : price.isPerCall
            ? say('exampleCall', { model: row.model_name })
            : say('exampleTokens', { model: row.model_name, input: formatCount(input), output: formatCount(output) })}{' '}
        <strong>{usdText(usd)}</strong>
      </p>
      {!price.isPerCall && (
        <p className={styles.sum}>
          {say('exampleSum', {
            input: formatCount(input),
            output: formatCount(output),
            inputPrice: usdText(price.input),
            outputPrice: usdText(price.output),
            sum: usdText(usd),
          })}
        </p>
      )}
      <p className={styles.quiet}>{say('exampleUnits', { units: formatCount(units), ratio })}</p>
      {!price.isPerCall && <p className={styles.quiet}>{say('exampleRule', { perUsd: formatCount(perUsd) })}</p>}
    </Dialog>
  )
}

/** The clip of a request that names nothing, whose price is `model_price`. */
function usualClip({ clips }: PriceRow) {
  const [first] = clips?.rates ?? []
  if (!clips || !first) return undefined
  const sound = first.sound === 'any' ? null : first.sound === 'with'
  return { seconds: clips.seconds.usual, resolution: first.resolution, sound, pieces: 1 }
}

const tokensMax = 100_000_000

/** Digits alone; a field for every kind of number would be nine kilobytes of script. */
function Tokens({ label, value, onChange }: { label: string; value: number; onChange: (value: number) => void }) {
  return (
    <TextInput
      label={label}
      inputMode="numeric"
      value={String(value)}
      onChange={(event) => onChange(Math.min(tokensMax, Number(event.currentTarget.value.replace(/\D/g, ''))))}
    />
  )
}
