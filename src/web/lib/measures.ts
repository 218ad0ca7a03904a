import type { Text } from '../../contract/text.ts'
import type { Unit } from '../../contract/units.ts'

type Local = (text: Text, params: { count: number }) => string

interface Step {
  readonly size: number
  readonly name: Text
}

const time: readonly Step[] = [
  { size: 86_400, name: { zh: '{count} 天', en: '{count} {count|day|days}' } },
  { size: 3600, name: { zh: '{count} 小时', en: '{count} h' } },
  { size: 60, name: { zh: '{count} 分钟', en: '{count} min' } },
  { size: 1, name: { zh: '{count} 秒', en: '{count} s' } },
]

const bytes: readonly Step[] = [4, 3, 2, 1].map((power) => {
  const name = `{count} ${['B', 'KB', 'MB', 'GB', 'TB'][power]}`
  return { size: 1024 ** power, name: { zh: name, en: name } }
})

/** A number of a unit in the larger units that people count it in: 36,000 seconds are 10 h. Undefined when there are none. */
export function inLargerUnits(count: number, { of, size = 1 }: Unit, local: Local): string | undefined {
  if (!(count > 0) || of === undefined || of === 'quota' || of === 'usd') return undefined
  const steps = of === 'time' ? time : bytes
  const amount = count * size
  const at = steps.findIndex((step) => step.size <= amount)
  const [large, small] = [steps[at], steps[at + 1]]
  if (!large || large.size <= size) return undefined
  if (of === 'bytes') return local(large.name, { count: Number((amount / large.size).toFixed(1)) })
  const whole = Math.floor(amount / large.size)
  const rest = small ? Math.floor((amount - whole * large.size) / small.size) : 0
  const parts = [local(large.name, { count: whole })]
  if (small && rest > 0) parts.push(local(small.name, { count: rest }))
  return parts.join(' ')
}
