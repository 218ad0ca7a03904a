import { expect, it } from 'vitest'
import { readQuota, writeQuota } from './read-quota.ts'

const perUsd = 500_000
const inUsd = (typed: string) => readQuota(typed, { unit: 'usd', perUsd })?.quota
const inUnits = (typed: string) => readQuota(typed, { unit: 'units', perUsd })?.quota

it.each([
  ['$5', 2_500_000],
  ['US$5', 2_500_000],
  ['us$ 5.50', 2_750_000],
  ['＄５', 2_500_000],
  ['5 USD', 2_500_000],
  ['$5 USD', 2_500_000],
  ['5美元', 2_500_000],
  ['$1,234.567892', 617_283_946],
  ['-$2', -1_000_000],
  ['−$0.000002', -1],
  ['$5k', 2_500_000_000],
  ['500,000 units', 500_000],
  ['1 unit', 1],
  ['50 万额度', 500_000],
  ['2m units', 2_000_000],
])('an amount with its unit is read as written, whatever the unit of the field: %s', (typed, quota) => {
  expect([inUsd(typed), inUnits(typed)]).toEqual([quota, quota])
})

it.each([
  ['5', 2_500_000, 5],
  [' 5 ', 2_500_000, 5],
  ['5k', 2_500_000_000, 5000],
  ['1.5万', 7_500_000_000, 15_000],
  ['0', 0, 0],
  ['-3', -1_500_000, -3],
  ['1 000', 500_000_000, 1000],
  ["1'000", 500_000_000, 1000],
])('a number alone is read in the unit of the field: %s', (typed, usd, units) => {
  expect([inUsd(typed), inUnits(typed)]).toEqual([usd, units])
})

it.each(['', 'abc', '¥5', '5元', '€5', '1,5', '1.000,50', '$5 units', '5 5', '--5', '1e5', '0x10', 'Infinity', '9999999999b'])(
  'what is no amount of quota is not read as another one: "%s"',
  (typed) => {
    expect([inUsd(typed), inUnits(typed)]).toEqual([undefined, undefined])
  },
)

it('parts of a unit are refused in units, and rounded in dollars', () => {
  expect(inUnits('1.5')).toBeUndefined()
  expect(inUnits('1.5k')).toBe(1500)
  expect(inUsd('0.0000029')).toBe(1)
})

it('a written amount is read as the same number of units', () => {
  for (const quotaPerUsd of [perUsd, 1, 7, 1_000_000_000])
    for (const unit of ['usd', 'units'] as const)
      for (const quota of [0, 1, -1, 3, 499_999, 1_234_567, 8_999_999_999, -12_345_678_901]) {
        const reading = { unit, perUsd: quotaPerUsd }
        expect(readQuota(writeQuota(quota, reading), reading)?.quota).toBe(quota)
      }
})
