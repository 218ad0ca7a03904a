import type { AlertUnit } from '../../../contract/entities/alert.ts'
import type { Text } from '../../../contract/text.ts'

/** The label beside a field of this unit. */
export const unitLabels: Readonly<Record<AlertUnit, Text>> = {
  percent: { zh: '%', en: '%' },
  seconds: { zh: '秒', en: 's' },
  minutes: { zh: '分钟', en: 'min' },
  hours: { zh: '小时', en: 'h' },
  usd: { zh: '美元', en: 'USD' },
  days: { zh: '天', en: 'days' },
  count: { zh: '个', en: '' },
  calls: { zh: '次调用', en: 'calls' },
  times: { zh: '倍', en: '×' },
}

/** A value of a rule in its unit. */
export function alertValue(value: number, unit: AlertUnit, local: (text: Text) => string): string {
  if (unit === 'usd') return `$${value.toFixed(2)}`
  const rounded = String(Math.round(value * 10) / 10)
  if (unit === 'count' || unit === 'calls') return rounded
  const label = local(unitLabels[unit])
  return unit === 'percent' || unit === 'times' ? `${rounded}${label}` : `${rounded} ${label}`
}
