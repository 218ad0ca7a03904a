import { type Grain, grainSeconds, grains, type UsageSums } from '../../../contract/entities/usage-sum.ts'
import { dayOf, pad, type Series, type Step } from '../../ui/chart/steps.ts'

/** The data of charts and tables: one series per key, with a value for every time step. */

export const metrics = ['quota', 'count', 'tokens'] as const
export type Metric = (typeof metrics)[number]

const colors = ['blue.6', 'teal.6', 'orange.6', 'grape.6', 'lime.7', 'pink.6', 'cyan.7', 'yellow.7'] as const

/** More bars than this cannot be told apart: a longer period has a coarser granularity. It may begin and end within a step. */
const stepsMax = 120
/** The sum of all keys that have no series of their own. */
export const othersKey = '*'
/** The refunds of a step that exceed its charges. */
export const refundsKey = '-'

/** The eight largest keys, the sum of the others, and refunds where there are some. */
export function seriesOf({ keys, points }: UsageSums, metric: Metric): Series[] {
  const own = ownKeys(keys)
  const series: Series[] = own.map((key, index) => ({ id: `s${index}`, key, color: colors[index] ?? 'gray.5' }))
  if (keys.length > own.length) series.push({ id: `s${series.length}`, key: othersKey, color: 'gray.5' })
  if (metric === 'quota' && points.some(({ quota }) => quota < 0))
    series.push({ id: `s${series.length}`, key: refundsKey, color: 'red.6' })
  return series
}

function ownKeys(keys: UsageSums['keys']): readonly string[] {
  return keys.flatMap(({ key }) => (key === othersKey ? [] : [key])).slice(0, colors.length)
}

/** The value of each series; refunds have no share. */
export function sharesOf({ keys }: UsageSums, metric: Metric): Map<string, number> {
  const own = new Set(ownKeys(keys))
  const shares = new Map<string, number>()
  for (const sum of keys) addTo(shares, own.has(sum.key) ? sum.key : othersKey, Math.max(0, figureOf(sum, metric)))
  return shares
}

function addTo(values: Map<string, number>, key: string, value: number): void {
  values.set(key, (values.get(key) ?? 0) + value)
}

export function figureOf(sum: { quota: number; count: number; token_used: number }, metric: Metric): number {
  return metric === 'tokens' ? sum.token_used : sum[metric]
}

/** The chosen granularity, or the finest one that has few enough steps in a period of that many seconds. */
export function grainFor(wanted: Grain, seconds: number): Grain {
  const fits = (grain: Grain) => seconds <= stepsMax * grainSeconds[grain]
  return fits(wanted) ? wanted : (grains.find(fits) ?? 'week')
}

/** Every step between the first and the last moment, those without usage too. */
export function stepsOf(
  { keys, points }: UsageSums,
  { metric, grain, from, to }: { metric: Metric; grain: Grain; from: number; to: number },
): Step[] {
  const size = grainSeconds[grain]
  const own = new Set(ownKeys(keys))
  const byTime = new Map<number, Map<string, number>>()
  for (const point of points) {
    const values = byTime.get(point.at) ?? new Map<string, number>()
    const figure = figureOf(point, metric)
    addTo(values, figure < 0 ? refundsKey : own.has(point.key) ? point.key : othersKey, figure)
    byTime.set(point.at, values)
  }
  const known = points[0]?.at
  if (known === undefined) return []
  const first = known - Math.ceil((known - from) / size) * size
  const steps: Step[] = []
  for (let at = first + size > from ? first : first + size; at <= to && steps.length < stepsMax + 2; at += size) {
    steps.push({ at, label: labelOf(at, grain), values: byTime.get(at) ?? new Map() })
  }
  return steps
}

/**
 * The sums of the period before, one for each step of the period shown: a moment belongs to the step that is as far from the begin of
 * its own period.
 */
export function sumsOfSteps(
  { points }: UsageSums,
  { metric, grain, from, to, steps }: { metric: Metric; grain: Grain; from: number; to: number; steps: readonly Step[] },
): number[] {
  const sums = steps.map(() => 0)
  const first = steps[0]?.at ?? from
  for (const point of points) {
    const index = Math.floor((point.at + (to - from) - first) / grainSeconds[grain] + 0.5)
    if (index >= 0 && index < sums.length) sums[index] = (sums[index] ?? 0) + figureOf(point, metric)
  }
  return sums
}

/** `11-20 09:00`, `11-20`, `11-16 – 11-22`; local time. */
function labelOf(at: number, grain: Grain): string {
  if (grain === 'day') return dayOf(at)
  if (grain === 'week') return `${dayOf(at)} – ${dayOf(at + 6 * 86_400)}`
  return `${dayOf(at)} ${pad(new Date(at * 1000).getHours())}:00`
}
