import { type AlertUnit, alertUnitLabels } from '../../../contract/entities/alert.ts'
import type { Text } from '../../../contract/text.ts'

/** A value of a rule in its unit. */
export function alertValue(value: number, unit: AlertUnit, local: (text: Text) => string): string {
  if (unit === 'usd') return `$${value.toFixed(2)}`
  const rounded = String(Math.round(value * 10) / 10)
  if (unit === 'count' || unit === 'calls') return rounded
  const label = local(alertUnitLabels[unit])
  return unit === 'percent' || unit === 'times' ? `${rounded}${label}` : `${rounded} ${label}`
}
