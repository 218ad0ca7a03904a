import { seconds } from '../../base/lib/time/clock.ts'
import { hourSeconds } from '../../usage/sums/hours.ts'
import { eachSum, hourSums } from '../../usage/sums/rollup.ts'
import type { App } from '../parts.ts'
import type { Measured, PastMeasured } from './measures.ts'
import type { Asked } from './rule-source.ts'

const daySeconds = 86_400
/** Four weeks of the same hour of the day. */
const daysCompared = 28
const daysNeeded = 7

/** The spend of this hour, in multiples of the median of the same hour over four weeks. */
export async function measureSpend(app: App, { params }: Asked): Promise<Measured[]> {
  const now = seconds(app.now())
  const hour = now - (now % hourSeconds)
  const value = multipleOf(await readHours(app, hour - daysCompared * daySeconds, hour), { hour, params, app })
  return value === undefined ? [] : [{ subject: 'site', name: '', value }]
}

export async function pastSpend(app: App, { params, from, to }: Asked & { from: number; to: number }): Promise<PastMeasured[]> {
  const first = from - (from % hourSeconds)
  const spent = await readHours(app, first - daysCompared * daySeconds, to)
  const hours = Array.from({ length: Math.floor((to - first) / hourSeconds) + 1 }, (_, index) => first + index * hourSeconds)
  return hours.flatMap((hour) => {
    const value = multipleOf(spent, { hour, params, app })
    return value === undefined ? [] : [{ subject: 'site', name: '', value, from: hour, to: hour + hourSeconds }]
  })
}

interface Compared {
  readonly hour: number
  readonly params: Readonly<Record<string, number>>
  readonly app: App
}

/**
 * The spend of an hour as a multiple of the median; undefined with less than a week of data. The median is at least the least
 * amount divided by the threshold, so that one comparison checks both conditions.
 */
function multipleOf(spent: ReadonlyMap<number, number>, { hour, params, app }: Compared): number | undefined {
  const [first = hour] = spent.keys()
  if (first > hour - daysNeeded * daySeconds) return undefined
  const days = Array.from({ length: daysCompared }, (_, day) => hour - (day + 1) * daySeconds).filter((at) => at >= first)
  const { threshold = 3, least = 1 } = params
  const leastUnits = least * app.options.current.QuotaPerUnit
  const median = Math.max(medianOf(days.map((at) => spent.get(at) ?? 0)), leastUnits / threshold, 1)
  return (spent.get(hour) ?? 0) / median
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** Quota units by hour, oldest first; hours without a charge are left out. */
async function readHours({ db }: App, from: number, to: number): Promise<Map<number, number>> {
  const spent = new Map<number, number>()
  for await (const piece of hourSums(db, { start_timestamp: from, end_timestamp: to }, 'group')) {
    for (const { hour, sums } of piece) {
      let sum = spent.get(hour) ?? 0
      eachSum(sums, (_key, { quota }) => {
        sum += quota
      })
      spent.set(hour, sum)
    }
  }
  return spent
}
