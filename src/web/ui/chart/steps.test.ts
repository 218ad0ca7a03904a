import { expect, it } from 'vitest'
import { layoutOf, nearestColumn, placeOf } from './layout.ts'
import { callSteps, roundSteps, roundTicks } from './steps.ts'

it.each([
  [0, 0.001068, [0, 0.00025, 0.0005, 0.00075, 0.001, 0.00125]],
  [0, 7, [0, 2, 4, 6, 8]],
  [0, 93, [0, 20, 40, 60, 80, 100]],
  [-3, 9, [-2.5 * 2, -2.5, 0, 2.5, 5, 7.5, 10]],
  [0, 0, [0, 1]],
])('axis ticks from %d to %d are round', (least, largest, ticks) => {
  expect(roundTicks(least, largest)).toEqual(ticks)
})

it.each([
  ['hours of three days', 72, 3600, 9, ['00:00', '12:00', '00:00', '12:00', '00:00', '12:00']],
  ['hours on a phone', 72, 3600, 3, ['00:00', '00:00', '00:00']],
  ['hours of a day', 24, 3600, 9, ['00:00', '03:00', '06:00', '09:00', '12:00', '15:00', '18:00', '21:00']],
  ['quarters of an hour', 96, 900, 12, Array.from({ length: 12 }, (_, index) => `${String(index * 2).padStart(2, '0')}:00`)],
  ['quarters of an hour of two hours', 8, 900, 4, ['00:00', '00:30', '01:00', '01:30']],
  ['days of a month', 30, 86_400, 9, Array.from({ length: 8 }, () => '00:00')],
] as const)('of %s the round ones are labelled', (_, count, size, most, times) => {
  const midnight = new Date(2026, 0, 5).getTime() / 1000
  const steps = Array.from({ length: count }, (_, index) => ({ at: midnight + index * size, label: '', values: new Map() }))
  const shown = roundSteps(steps, most).map(({ at }) => new Date(at * 1000).toTimeString().slice(0, 5))
  expect(shown).toEqual(times)
})

it('calls have a step for every bucket, named by its span, and few failed ones are seen beside many answered', () => {
  const at = new Date(2026, 0, 5, 9).getTime() / 1000
  const points = [
    { at, answered: 10_000, failed: 1 },
    { at: at + 1800, answered: 0, failed: 0 },
  ]
  const steps = callSteps({ from: at, to: at + 3599, step_seconds: 900, points })
  expect(steps.map(({ label, title }) => [label, title])).toEqual([
    ['09:00', '01-05 09:00 – 09:15'],
    ['09:15', '01-05 09:15 – 09:30'],
    ['09:30', '01-05 09:30 – 09:45'],
    ['09:45', '01-05 09:45 – 10:00'],
  ])
  const series = [
    { id: 'answered', key: 'answered', color: 'blue.6' },
    { id: 'failed', key: 'failed', color: 'red.6', least: 3 },
  ]
  const plot = layoutOf({ width: 500, height: 120, steps, series, line: undefined, scale: 1, formatTick: String })
  expect(plot.columns.map(({ bars }) => bars.length)).toEqual([1, 1])
  expect(plot.columns[1]?.bars[0]?.height).toBe(3)
  expect(plot.ticks.length).toBeLessThanOrEqual(4)
  expect([plot.left - 50, plot.left + 1, 5000].map((x) => nearestColumn(plot, x))).toEqual([0, 0, 3])
  expect(placeOf(plot, steps, at + 1350)).toBeCloseTo(plot.left + 1.5 * plot.band)
})

it('days and weeks are named by their dates', () => {
  const at = new Date(2026, 0, 5).getTime() / 1000
  const names = (size: number) => callSteps({ from: at, to: at + 2 * size, step_seconds: size, points: [] })[0]
  expect(names(86_400)).toMatchObject({ label: '01-05', title: '01-05' })
  expect(names(7 * 86_400)).toMatchObject({ label: '01-05', title: '01-05 – 01-11' })
})
