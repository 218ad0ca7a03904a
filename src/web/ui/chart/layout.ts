import { roundSteps, roundTicks, type Series, type Step } from './steps.ts'

/** The geometry of stacked bars, in pixels. */

interface Bar {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Plot {
  readonly width: number
  readonly height: number
  readonly left: number
  readonly top: number
  /** The height between the axes. */
  readonly inner: number
  /** The width of one step. */
  readonly band: number
  readonly count: number
  readonly ticks: readonly { readonly y: number; readonly text: string }[]
  readonly times: readonly { readonly x: number; readonly text: string }[]
  readonly columns: readonly { readonly id: string; readonly color: string; readonly bars: readonly Bar[] }[]
  readonly line: readonly { readonly x: number; readonly y: number }[] | undefined
}

interface Drawn {
  readonly width: number
  readonly height: number
  readonly steps: readonly Step[]
  readonly series: readonly Series[]
  readonly line: readonly number[] | undefined
  readonly scale: number
  /** A tick without a text is left out. */
  readonly formatTick: (value: number) => string
}

/** A chart that is lower has fewer ticks. */
export const lowMax = 200
const [lowTicksMax, ticksMax] = [3, 6]
const [top, bottom] = [10, 28]
const barWidthMax = 44
/** Widths of characters of the axes, generous: labels are never cut. */
const digitWidth = 7.5

export function layoutOf({ width, height, steps, series, line, scale, formatTick }: Drawn): Plot {
  const inner = height - top - bottom
  const sides = steps.map((step) => sidesOf(step, series))
  const values = roundTicks(
    Math.min(0, ...sides.map(({ below }) => below / scale)),
    Math.max(0, ...sides.map(({ above }) => above / scale), ...(line ?? []).map((value) => value / scale)),
    height < lowMax ? lowTicksMax : ticksMax,
  ).map((tick) => tick * scale)
  const [least, most] = [values[0] ?? 0, values.at(-1) ?? 1]
  const yOf = (value: number) => top + ((most - value) / (most - least)) * inner
  const ticks = values.map((value) => ({ y: yOf(value), text: formatTick(value) })).filter(({ text }) => text !== '')
  const left = Math.ceil(Math.max(...ticks.map(({ text }) => text.length)) * digitWidth) + 12
  const band = Math.max(0, width - left) / Math.max(1, steps.length)
  return {
    width,
    height,
    left,
    top,
    inner,
    band,
    count: steps.length,
    ticks,
    times: timesOf(steps, { left, band, width }),
    columns: columnsOf(steps, series, { left, band, yOf }),
    line: line?.map((value, index) => ({ x: left + (index + 0.5) * band, y: yOf(value) })),
  }
}

interface Axes {
  readonly left: number
  readonly band: number
}

/** Labels of the round steps that have room beside each other. */
function timesOf(steps: readonly Step[], { left, band, width }: Axes & { readonly width: number }): Plot['times'] {
  const widest = Math.max(1, ...steps.map(({ label }) => label.length)) * digitWidth + 16
  const room = Math.max(1, Math.floor((width - left) / widest))
  const shown = new Set(roundSteps(steps, room))
  return steps.flatMap((step, index) => {
    const x = left + (index + 0.5) * band
    const half = widest / 2 - 8
    return shown.has(step) && x - half >= 0 && x + half <= width ? [{ x, text: step.label }] : []
  })
}

/** The bars of each series, one above the other; those below zero hang from it. */
function columnsOf(
  steps: readonly Step[],
  series: readonly Series[],
  { left, band, yOf }: Axes & { readonly yOf: (value: number) => number },
): Plot['columns'] {
  const barWidth = Math.min(barWidthMax, Math.max(1, band * 0.82))
  const bars = new Map(series.map(({ id }): [string, Bar[]] => [id, []]))
  steps.forEach((step, index) => {
    const x = left + (index + 0.5) * band - barWidth / 2
    const reached = { above: 0, below: 0 }
    for (const { id, key, least = 0 } of series) {
      const value = step.values.get(key) ?? 0
      if (value === 0) continue
      const side = value > 0 ? 'above' : 'below'
      const [from, to] = [reached[side], reached[side] + value]
      reached[side] = to
      const base = yOf(Math.min(from, to))
      const height = Math.max(least, base - yOf(Math.max(from, to)))
      bars.get(id)?.push({ x, y: base - height, width: barWidth, height })
    }
  })
  return series.map(({ id, color }) => ({ id, color, bars: bars.get(id) ?? [] }))
}

/** The sums above and below zero. */
function sidesOf(step: Step, series: readonly Series[]) {
  const values = series.map(({ key }) => step.values.get(key) ?? 0)
  return {
    above: values.reduce((sum, value) => sum + Math.max(0, value), 0),
    below: values.reduce((sum, value) => sum + Math.min(0, value), 0),
  }
}

/** The step below a place of the pointer; `undefined` beside the bars. */
export function columnAt({ left, band, count }: Plot, x: number): number | undefined {
  const index = Math.floor((x - left) / band)
  return index >= 0 && index < count ? index : undefined
}

/** The step at a place of the pointer, or the nearest one. */
export function nearestColumn({ left, band, count }: Plot, x: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor((x - left) / band)))
}

/** The place of a time between the first and the last step. */
export function placeOf({ left, band }: Plot, steps: readonly Step[], at: number): number {
  const [first = { at }, second = { at: at + 1 }] = steps
  return left + ((at - first.at) / (second.at - first.at)) * band
}

export function barPath(bars: readonly Bar[]): string {
  return bars
    .map(({ x, y, width, height }) => `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`)
    .join('')
}

export function linePath(points: readonly { readonly x: number; readonly y: number }[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('')
}

const round = (value: number): number => Math.round(value * 100) / 100
