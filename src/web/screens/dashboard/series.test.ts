import { expect, it } from 'vitest'
import { othersKey, refundsKey, roundTicks, seriesOf, sharesOf, stepsOf } from './series.ts'

it.each([
  [0, 0.001068, [0, 0.00025, 0.0005, 0.00075, 0.001, 0.00125]],
  [0, 7, [0, 2, 4, 6, 8]],
  [0, 93, [0, 20, 40, 60, 80, 100]],
  [-3, 9, [-2.5 * 2, -2.5, 0, 2.5, 5, 7.5, 10]],
  [0, 0, [0, 1]],
])('marks from %d to %d are round', (least, largest, ticks) => {
  expect(roundTicks(least, largest)).toEqual(ticks)
})

const sum = (quota: number) => ({ quota, count: 1, token_used: 1 })
const names = Array.from({ length: 11 }, (_, index) => `model-${index}`)
const sums = {
  keys: names.map((key, index) => ({ key, name: key, ...sum(100 - index) })),
  points: [...names.map((key) => ({ at: 0, key, ...sum(10) })), { at: 3600, key: 'model-0', ...sum(-4) }],
  total: sum(1045),
}

it('has eight series, the others together, and refunds apart', () => {
  const series = seriesOf(sums, 'quota')
  expect(series.map(({ key }) => key)).toEqual([...names.slice(0, 8), othersKey, refundsKey])
  expect(new Set(series.map(({ color }) => color)).size).toBe(10)
  expect(sharesOf(sums, 'quota').get(othersKey)).toBe(92 + 91 + 90)
  const steps = stepsOf(sums, { metric: 'quota', grain: 'hour', from: 0, to: 3600 })
  const values = new Map(steps.map((step) => [step.at, step.values]))
  expect(values.get(0)?.get(othersKey)).toBe(30)
  expect(values.get(3600)).toEqual(new Map([[refundsKey, -4]]))
})
