import type { LogHistogram } from '../../../contract/entities/log.ts'

/** What charts over time draw: one series per key, with a value for every step of time. */

export interface Series {
  /** Safe as the name of a field, unlike the names of models, which have dots. */
  readonly id: string
  readonly key: string
  readonly color: string
  /** The height in pixels that a bar has at least, so that the rare is seen beside the frequent. */
  readonly least?: number
}

export interface Step {
  readonly at: number
  readonly label: string
  /** Names the step where its label on the axis is too short. */
  readonly title?: string
  readonly values: ReadonlyMap<string, number>
}

/** Round axis ticks from the least to the largest value, at most that many: multiples of 1, 2, 2.5 or 5 times a power of ten. */
export function roundTicks(least: number, largest: number, ticksMax = 6): readonly number[] {
  const span = largest - least
  if (!(span > 0)) return [0, 1]
  const power = 10 ** Math.floor(Math.log10(span / ticksMax))
  const size = power * ([1, 2, 2.5, 5, 10].find((step) => span / (step * power) <= ticksMax - 1) ?? 10)
  const [first, last] = [Math.floor(least / size), Math.ceil(largest / size)]
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * size).toPrecision(12)))
}

/** The steps whose labels are shown, at most `most`: those at round times of day, such as every six hours from midnight. */
export function roundSteps(steps: readonly Step[], most: number): readonly Step[] {
  const at = (seconds: number) => steps.filter((step) => secondOfDay(step.at) % seconds === 0)
  const midnights = at(daySeconds)
  const shown =
    roundTimes.map(at).find((few) => few.length > 0 && few.length <= most) ?? (midnights.length > 0 ? midnights : steps)
  const every = Math.ceil(shown.length / most)
  return shown.filter((_, index) => index % every === 0)
}

const daySeconds = 86_400
const hourSeconds = 3600
const roundTimes = [...[1, 5, 15, 30, 60, 300, 900, 1800], ...[1, 2, 3, 6, 12].map((hours) => hours * hourSeconds)]

function secondOfDay(at: number): number {
  const date = new Date(at * 1000)
  return date.getHours() * hourSeconds + date.getMinutes() * 60 + date.getSeconds()
}

/** The sum of all series in a step. */
export function sumOf({ values }: Step, series: readonly Series[]): number {
  return series.reduce((sum, { key }) => sum + (values.get(key) ?? 0), 0)
}

export function colorOf(color = 'gray.5'): string {
  return `var(--mantine-color-${color.replace('.', '-')})`
}

/** Every step of a time, with its answered and failed calls. */
export function callSteps({
  from,
  to,
  step_seconds: size,
  points,
}: Pick<LogHistogram, 'from' | 'to' | 'step_seconds' | 'points'>): Step[] {
  const known = new Map(points.map((point) => [point.at, point]))
  const labelOf = to - from > daySeconds ? (size < daySeconds ? momentOf : dayOf) : clockOf
  const steps: Step[] = []
  for (let at = from; at <= to; at += size) {
    const { answered = 0, failed = 0 } = known.get(at) ?? {}
    steps.push({ at, label: labelOf(at), title: titleOf(at, size), values: new Map(Object.entries({ answered, failed })) })
  }
  return steps
}

/** `11-20 09:00 – 09:15`, and days by their dates. */
function titleOf(at: number, size: number): string {
  const end = at + size
  if (secondOfDay(at) === 0 && size % daySeconds === 0)
    return size === daySeconds ? dayOf(at) : `${dayOf(at)} – ${dayOf(end - 1)}`
  return `${momentOf(at)} – ${dayOf(at) === dayOf(end) ? clockOf(end) : momentOf(end)}`
}

const momentOf = (at: number): string => `${dayOf(at)} ${clockOf(at)}`

/** `09:00`, with seconds where there are some. */
function clockOf(at: number): string {
  const date = new Date(at * 1000)
  const [hours, minutes, seconds] = [date.getHours(), date.getMinutes(), date.getSeconds()]
  return [hours, minutes, ...(seconds > 0 ? [seconds] : [])].map(pad).join(':')
}

/** `11-20`, local time. */
export function dayOf(at: number): string {
  const date = new Date(at * 1000)
  return `${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
}

export const pad = (value: number): string => String(value).padStart(2, '0')
