import { Tooltip } from '@mantine/core'
import { formatCount, useQuotaFormat } from '../lib/format.ts'
import styles from './numbers.module.css'

/** Quota as the site shows it; the exact units on hover. */
export function QuotaText({ units, digits }: { units: number; digits?: number }) {
  const format = useQuotaFormat()
  return (
    <Tooltip label={formatCount(units)}>
      <span className={styles.number}>{format(units, digits)}</span>
    </Tooltip>
  )
}
