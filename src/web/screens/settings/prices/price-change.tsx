import { IconArrowNarrowRight } from '@tabler/icons-react'
import { useText } from '../../../lib/i18n.ts'
import { usdText } from '../../../lib/prices.ts'
import shared from '../../../ui/shared.module.css'
import { Tag } from '../../../ui/view/tag.tsx'
import { changeOf } from './price-rows.ts'
import styles from './prices.module.css'
import { texts } from './texts.ts'

interface PriceChangeProps {
  /** US dollars; null for none. */
  readonly now: number | null
  readonly becomes: number
  /** The placeholder for a missing price. */
  readonly before?: string | undefined
  /** The difference is below, so that the prices of a column are aligned. */
  readonly stacked?: boolean
}

/** The current price, the new price, and the difference. */
export function PriceChange({ now, becomes, before = '–', stacked = false }: PriceChangeProps) {
  const say = useText(texts)
  const change = changeOf(now, becomes)
  if (change === 0) return <span className={shared.aside}>{usdText(becomes)}</span>
  return (
    <span className={styles.price} data-stacked={stacked}>
      <span className={shared.aside}>{now === null ? before : usdText(now)}</span>
      <IconArrowNarrowRight size={14} className={styles.arrow} role="img" aria-label={say('becomes')} />
      <strong>{usdText(becomes)}</strong>
      {change !== undefined && <Tag color={change > 0 ? 'red' : 'green'}>{percentText(change)}</Tag>}
    </span>
  )
}

/** +20%, −33.3%, ×12 */
function percentText(change: number): string {
  if (change >= 10) return `×${Number((change + 1).toPrecision(3))}`
  const percent = Math.abs(change * 100)
  return `${change > 0 ? '+' : '−'}${Number(percent.toPrecision(percent < 1 ? 1 : 3))}%`
}
