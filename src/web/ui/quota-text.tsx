import { Tooltip } from '@mantine/core'
import { formatCount, useExactQuota, useQuotaFormat } from '../lib/format.ts'
import { defineTexts, useText } from '../lib/i18n.ts'
import { useStatus } from '../lib/status.ts'
import styles from './numbers.module.css'

/** Quota as lists show it; the exact amount when it is pointed at or tapped. */
export function QuotaText({ units }: { units: number }) {
  const format = useQuotaFormat()
  return (
    <Tooltip label={useQuotaHint()(units)}>
      <span className={styles.number}>{format(units)}</span>
    </Tooltip>
  )
}

/** An amount to the unit, in words for a hint. */
export function useQuotaHint(): (units: number) => string {
  const say = useText(texts)
  const exact = useExactQuota()
  const { display_in_currency: inCurrency } = useStatus()
  return (units) => {
    const count = say('units', { count: formatCount(units) })
    return inCurrency ? `${exact(units)} · ${count}` : count
  }
}

const texts = defineTexts({ zh: { units: '{count} 额度' }, en: { units: '{count} units' } })
