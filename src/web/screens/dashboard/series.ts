import { type Grain, grainSeconds, type UsageSums } from '../../../contract/entities/usage-sum.ts'

/** The data of charts and tables: one series per key, with a value for every time step. */

export const metrics = ['quota', 'count', 'tokens'] as const
export type Metric = (typeof metrics)[number]

export interface Series {
  /** Safe as the name of a field: names of models have dots. */
  readonly id: string
  readonly key: string
  readonly color: string
}

export interface Step {
  readonly at: number
  readonly label: string
  readonly values: ReadonlyMap<string, number>
}

const colors = [
  'blue.6', 'teal.6', 'orange.6', 'grape.6', 'lime.7', 'pink.6', 'cyan.7', 'yellow.7',
  'indigo.5', 'green.7', 'red.6', 'violet.5', 'sluice.6', 'blue.3', 'orange.3',
] as const // biome-ignore format: one list

const stepsMax = 800
export const othersKey = '*'

export function seriesOf({ keys }: UsageSums): Series[] {
  return keys.map(({ key }, index) => ({
    id: `s${index}`,
    key,
    // The largest come first, so that no two of one chart share a colour.
    color: key === othersKey ? 'gray.5' : (colors[index % colors.length] ?? 'gray.5'),
  }))
}

export function figureOf(sum: { quota: number; count: number; token_used: number }, metric: Metric): number {
  return metric === 'tokens' ? sum.token_used : sum[metric]
}

/** Every step between the first and the last moment, those without usage too. */
export function stepsOf(
  { points }: UsageSums,
  { metric, grain, from, to }: { metric: Metric; grain: Grain; from: number; to: number },
): Step[] {
  const size = grainSeconds[grain]
  const byTime = new Map<number, Map<string, number>>()
  for (const point of points) {
    const values = byTime.get(point.at) ?? new Map<string, number>()
    values.set(point.key, figureOf(point, metric))
    byTime.set(point.at, values)
  }
  const known = points[0]?.at
  if (known === undefined) return []
  const first = known - Math.ceil((known - from) / size) * size
  const steps: Step[] = []
  for (let at = first + size > from ? first : first + size; at <= to && steps.length < stepsMax; at += size) {
    steps.push({ at, label: labelOf(at, grain), values: byTime.get(at) ?? new Map() })
  }
  return steps
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
