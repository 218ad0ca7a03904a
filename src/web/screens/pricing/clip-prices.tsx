import { decimalText, product } from '../../../contract/decimal.ts'
import type { PriceRow } from '../../../contract/routes/pricing.ts'
import { useText } from '../../lib/i18n.ts'
import { usdText } from '../../lib/prices.ts'
import shared from '../../ui/shared.module.css'
import { useRateWords } from '../../ui/view/clip-words.ts'
import styles from './pricing.module.css'
import { texts } from './texts.ts'

interface ClipPricesProps {
  readonly clips: NonNullable<PriceRow['clips']>
  /** The ratio of the group. */
  readonly ratio: number
}

/** Prices of clips per second or clip, by resolution and sound, and the lengths that are sold. */
export function ClipPrices({ clips: { per, seconds, rates }, ratio }: ClipPricesProps) {
  const say = useText(texts)
  const rateWords = useRateWords()
  return (
    <span className={shared.figure}>
      {rates.map((rate) => {
        const price = usdText(Number(decimalText(product(rate.usd, ratio))))
        const words = rateWords(rate)
        return (
          <span key={words} className={styles.rate}>
            {say(per === 'second' ? 'perSecond' : 'perClip', { price })} {words !== '' && <small>{words}</small>}
          </span>
        )
      })}
      <small className={styles.step}>{say('clipLengths', seconds)}</small>
    </span>
  )
}
