import type { Step } from './series.ts'

/** How stacked bars stand on their axes. */
export interface Scale {
  /** The value at the upper edge. */
  readonly top: number
  /** Values with a line, from 0 to the top. */
  readonly ticks: readonly number[]
}

const intervals = 4
const roundSteps = [1, 2, 2.5, 5, 10]

/** A scale in round numbers that the largest value fits into. `isWhole`: there is nothing between two whole numbers. */
export function scaleOf(largest: number, isWhole: boolean): Scale {
  const wanted = (largest > 0 ? largest : 1) / intervals
  const power = 10 ** Math.floor(Math.log10(wanted))
  const round = (roundSteps.find((step) => step * power >= wanted) ?? 10) * power
  const size = isWhole ? Math.max(1, Math.ceil(round)) : round
  const count = Math.max(1, Math.ceil(largest / size))
  return { top: count * size, ticks: Array.from({ length: count + 1 }, (_, nth) => nth * size) }
}

export const sumOf = ({ values }: Step): number => [...values.values()].reduce((sum, value) => sum + value, 0)

/** The steps that are named below, evenly spread. */
export function labelled(count: number, most: number): readonly number[] {
  const every = Math.max(1, Math.ceil(count / most))
  const places = Array.from({ length: Math.ceil(count / every) }, (_, nth) => nth * every + Math.floor((every - 1) / 2))
  return places.filter((place) => place < count)
}

/**
 * All bars of each key as one path, in a picture that is as wide as there are steps and 100 high: some hundred bars are as quick to draw
 * as some.
 */
export function barPaths(steps: readonly Step[], keys: readonly string[], top: number): readonly string[] {
  // A bar is never as wide as a finger where there are few.
  const width = Math.min(0.8, Math.max(0.2, steps.length * 0.044))
  const heights = steps.map(() => 0)
  return keys.map((key) =>
    steps
      .map(({ values }, index) => {
        const height = ((values.get(key) ?? 0) / top) * 100
        if (!(height > 0)) return ''
        const below = heights[index] ?? 0
        heights[index] = below + height
        return `M${round(index + (1 - width) / 2)} ${round(100 - below)}h${round(width)}v${round(-height)}h${round(-width)}z`
      })
      .join(''),
  )
}

const round = (value: number): number => Number(value.toFixed(3))
