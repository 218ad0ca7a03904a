import { expect, it } from 'vitest'
import { barPath, layoutOf } from '../../ui/chart/layout.ts'
import { grainFor, othersKey, refundsKey, seriesOf, sharesOf, stepsOf, sumsOfSteps } from './series.ts'

const sum = (quota: number) => ({ quota, count: 1, token_used: 1 })
const names = Array.from({ length: 11 }, (_, index) => `model-${index}`)
const sums = {
  keys: names.map((key, index) => ({ key, name: key, ...sum(100 - index) })),
  points: [...names.map((key) => ({ at: 0, key, ...sum(10) })), { at: 3600, key: 'model-0', ...sum(-4) }],
  total: sum(1045),
}

it('eight series are separate, the others are summed up, and refunds have their own', () => {
  const series = seriesOf(sums, 'quota')
  expect(series.map(({ key }) => key)).toEqual([...names.slice(0, 8), othersKey, refundsKey])
  expect(new Set(series.map(({ color }) => color)).size).toBe(10)
  expect(sharesOf(sums, 'quota').get(othersKey)).toBe(92 + 91 + 90)
  const steps = stepsOf(sums, { metric: 'quota', grain: 'hour', from: 0, to: 3600 })
  const values = new Map(steps.map((step) => [step.at, step.values]))
  expect(values.get(0)?.get(othersKey)).toBe(30)
  expect(values.get(3600)).toEqual(new Map([[refundsKey, -4]]))
})

const day = 86_400

it.each([
  ['hour', 3 * day, 'hour'],
  ['hour', 5 * day, 'hour'],
  ['hour', 5 * day + 1, 'day'],
  ['day', 120 * day, 'day'],
  ['day', 366 * day, 'week'],
  ['hour', 366 * day, 'week'],
  ['week', day, 'week'],
] as const)('%s over %d seconds is shown by %s', (wanted, seconds, shown) => {
  expect(grainFor(wanted, seconds)).toBe(shown)
})

it('a year of nine series is nine paths, and bars stand one above the other without a gap', () => {
  const series = seriesOf(sums, 'quota')
  const steps = stepsOf(sums, { metric: 'quota', grain: 'week', from: 0, to: 366 * day })
  const drawn = { width: 1000, height: 340, steps, series, line: undefined, scale: 1, formatTick: String }
  const { columns, ticks, left } = layoutOf(drawn)
  expect(columns).toHaveLength(series.length)
  for (const { bars } of columns) expect(barPath(bars).startsWith('M') || bars.length === 0).toBe(true)
  const first = columns.flatMap(({ bars }) => bars.filter(({ x }) => x === columns[0]?.bars[0]?.x))
  const upwards = first.slice(0, -1).sort((one, other) => other.y - one.y)
  upwards.slice(1).forEach((bar, index) => {
    expect(bar.y + bar.height).toBeCloseTo(upwards[index]?.y ?? 0)
  })
  expect(left).toBeGreaterThan(Math.max(...ticks.map(({ text }) => text.length)) * 7)
})

it('the period before has its sums at the steps that are as far from its begin', () => {
  const steps = [2 * day, 3 * day].map((at) => ({ at, label: '', values: new Map() }))
  const points = [
    { at: 0, key: 'a', ...sum(1) },
    { at: day, key: 'a', ...sum(2) },
    { at: day, key: 'b', ...sum(4) },
  ]
  expect(sumsOfSteps({ ...sums, points }, { metric: 'quota', grain: 'day', from: 2 * day, to: 4 * day, steps })).toEqual([1, 6])
})
