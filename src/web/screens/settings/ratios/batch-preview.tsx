import { useText } from '../../../lib/i18n.ts'
import { useStatus } from '../../../lib/status.ts'
import shared from '../../../ui/shared.module.css'
import { PriceChange } from '../prices/price-change.tsx'
import { changeOf } from '../prices/price-rows.ts'
import { dollarsOf } from './batch.ts'
import { examplePrice, priceOptions } from './example-price.ts'
import styles from './ratios.module.css'
import { type ModelPrices, noPrices, type OptionTexts, type PriceTable, priceFields } from './table.ts'
import { priceLabels, texts } from './texts.ts'

interface BatchPreviewProps {
  /** Each model with its new prices; undefined if they cannot be applied to it. */
  readonly filled: readonly (readonly [name: string, prices: ModelPrices | undefined])[]
  readonly table: PriceTable
  readonly options: OptionTexts
}

const shownMax = 50

/** Each model's price now and with the entered values, by the rule that charges. */
export function BatchPreview({ filled, table, options }: BatchPreviewProps) {
  const say = useText(texts)
  const perUsd = useStatus().quota_per_unit
  const saved = priceOptions(options)
  const dollars = (name: string, prices: ModelPrices) => dollarsOf(examplePrice(name, prices, saved), perUsd)

  /** The prices that change. */
  function changesOf(name: string, prices: ModelPrices) {
    const now = dollars(name, table[name] ?? noPrices)
    const then = dollars(name, prices)
    return priceFields.flatMap((field) => {
      const becomes = then[field]
      return becomes === null || changeOf(now[field], becomes) === 0 || now[field] === becomes
        ? []
        : [{ field, now: now[field], becomes }]
    })
  }

  return (
    // Many models scroll by themselves, and by keyboard too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable
    <section className={styles.preview} aria-label={say('batchPreview')} tabIndex={0}>
      <strong>{say('batchPreview')}</strong>
      <ul>
        {filled.slice(0, shownMax).map(([name, prices]) => {
          const changes = prices && changesOf(name, prices)
          return (
            <li key={name}>
              <span className={styles.model}>{name}</span>
              {changes === undefined && <span className={styles.lacking}>{say('batchNoInput')}</span>}
              {changes?.length === 0 && <span className={shared.note}>{say('batchSame')}</span>}
              {changes?.map(({ field, now, becomes }) => (
                <span key={field} className={styles.change}>
                  <span className={shared.note}>{say(priceLabels.usd[field])}</span>
                  <PriceChange now={now} becomes={becomes} />
                </span>
              ))}
            </li>
          )
        })}
      </ul>
      {filled.length > shownMax && <p className={shared.note}>{say('batchMore', { count: filled.length - shownMax })}</p>}
    </section>
  )
}
