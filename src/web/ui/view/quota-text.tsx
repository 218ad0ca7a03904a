import { Tooltip } from '@mantine/core'
import { type FormatQuota, formatCount, useExactQuota, useQuotaChange, useQuotaFormat } from '../../lib/format.ts'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import shared from '../shared.module.css'

/** Quota as lists show it, with the exact amount on hover or tap. */
export function QuotaText({ units }: { units: number }) {
  const format = useQuotaFormat()
  return (
    <Tooltip label={useQuotaHint()(units)}>
      <span className={shared.figure}>{format(units)}</span>
    </Tooltip>
  )
}

/** A change of a balance: signed, and green when it is a gain. */
export function QuotaChange({ units }: { units: number }) {
  const { format, exact } = useQuotaChange()
  return (
    <Tooltip label={useQuotaHint(exact)(units)}>
      <span className={shared.figure} data-gain={units > 0}>
        {format(units)}
      </span>
    </Tooltip>
  )
}

/** An amount exact to the unit, as the text of a hint. */
export function useQuotaHint(written?: FormatQuota): (units: number) => string {
  const say = useText(texts)
  const plain = useExactQuota()
  const exact = written ?? plain
  const { display_in_currency: inCurrency } = useStatus()
  return (units) => {
    const count = say('units', { count: formatCount(units) })
    return inCurrency ? `${exact(units)} · ${count}` : count
  }
}

const texts = defineTexts({ units: ['{count} 额度', '{count} {count|unit|units}'] })
