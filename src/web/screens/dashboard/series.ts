import { type Grain, grainSeconds, grains, type UsageSums } from '../../../contract/entities/usage-sum.ts'

/** The data of charts and tables: one series per key, with a value for every time step. */

export const metrics = ['quota', 'count', 'tokens'] as const
export type Metric = (typeof metrics)[number]

export interface Series {
  /** Safe as the name of a field, unlike the names of models, which have dots. */
  readonly id: string
  readonly key: string
  readonly color: string
}

export interface Step {
  readonly at: number
  readonly label: string
  readonly values: ReadonlyMap<string, number>
}

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

/** Round axis ticks from the least to the largest value, at most six: multiples of 1, 2, 2.5 or 5 times a power of ten. */
export function roundTicks(least: number, largest: number): readonly number[] {
  const span = largest - least
  if (!(span > 0)) return [0, 1]
  const power = 10 ** Math.floor(Math.log10(span / ticksMax))
  const size = power * ([1, 2, 2.5, 5, 10].find((step) => span / (step * power) <= ticksMax - 1) ?? 10)
  const [first, last] = [Math.floor(least / size), Math.ceil(largest / size)]
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * size).toPrecision(12)))
}

const ticksMax = 6

/** The steps whose labels are shown, at most `most`: of hours those at round ones, such as every six from midnight. */
export function roundSteps(steps: readonly Step[], most: number): readonly Step[] {
  const at = (hours: number) => steps.filter((step) => new Date(step.at * 1000).getHours() % hours === 0)
  const shown = [1, 2, 3, 6, 12].map(at).find((few) => few.length <= most) ?? at(24)
  const every = Math.ceil(shown.length / most)
  return shown.filter((_, index) => index % every === 0)
}

export function figureOf(sum: { quota: number; count: number; token_used: number }, metric: Metric): number {
  return metric === 'tokens' ? sum.token_used : sum[metric]
}

/** The sum of all series in a step. */
export function sumOf({ values }: Step, series: readonly Series[]): number {
  return series.reduce((sum, { key }) => sum + (values.get(key) ?? 0), 0)
}

/** The chosen granularity, or the finest one that has few enough steps in a period of that many seconds. */
export function grainFor(wanted: Grain, seconds: number): Grain {
  const fits = (grain: Grain) => seconds <= stepsMax * grainSeconds[grain]
  return fits(wanted) ? wanted : (grains.find(fits) ?? 'week')
}

export function colorOf(color = 'gray.5'): string {
  return `var(--mantine-color-${color.replace('.', '-')})`
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
  const day = (seconds: number) => {
    const date = new Date(seconds * 1000)
    return `${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  }
  if (grain === 'day') return day(at)
  if (grain === 'week') return `${day(at)} – ${day(at + 6 * 86_400)}`
  return `${day(at)} ${pad(new Date(at * 1000).getHours())}:00`
}

const pad = (value: number): string => String(value).padStart(2, '0')
