import { describe, expect, it } from 'vitest'
import { exactChange, exactQuota, exactUsd, formatChange, formatQuota, formatUsd, quotaPerUsd, usdFigure } from './quota.ts'

const dollars = { inCurrency: true, perUsd: quotaPerUsd }
const inUnits = { inCurrency: false, perUsd: quotaPerUsd }

describe('quota as lists and messages show it', () => {
  it.each([
    [1_234_567_890, '$2,469.14'],
    [-500_000_000, '−$1,000.00'],
    [100_000, '$0.20'],
    [617_283, '$1.23'],
    [5000, '$0.01'],
    [-5000, '−$0.01'],
    [7499, '$0.01'],
    [7500, '$0.02'],
    [0, '$0.00'],
  ])('has two decimals from one cent up: %d is %s', (units, text) => expect(formatQuota(units, dollars)).toBe(text))

  it.each([
    [4999, '$0.009998'],
    [33, '$0.000066'],
    [1, '$0.000002'],
    [-1, '−$0.000002'],
  ])('has six decimals below one cent: %d is %s', (units, text) => expect(formatQuota(units, dollars)).toBe(text))

  it('never shows a small amount as zero when a dollar has more units', () => {
    expect(formatQuota(1, { inCurrency: true, perUsd: 1e9 })).toBe('$0.000000001')
    expect(formatQuota(9_999_999, { inCurrency: true, perUsd: 1e9 })).toBe('$0.009999999')
    expect(formatQuota(10_000_000, { inCurrency: true, perUsd: 1e9 })).toBe('$0.01')
    expect(formatQuota(5, { inCurrency: true, perUsd: 1000 })).toBe('$0.005000')
  })

  it('is in units where the site shows no currency', () => {
    expect([12_340_000, -12_340, 9999, 1.5e9].map((units) => formatQuota(units, inUnits))).toEqual([
      '12.3M',
      '-12.3k',
      '9999',
      '1.5B',
    ])
  })

  it('is rounded down for balances and up for prices, so that too little is never shown as enough', () => {
    const [have, need] = [499_999, 500_001]
    expect([formatQuota(have, dollars, 'down'), formatQuota(need, dollars, 'up')]).toEqual(['$0.99', '$1.01'])
    expect([formatQuota(12_340, inUnits, 'down'), formatQuota(12_341, inUnits, 'up')]).toEqual(['12.3k', '12.4k'])
    for (const cents of [1, 29, 57, 58, 115, 100_001, 2_469_14]) {
      const units = cents * 5000
      expect([formatQuota(units, dollars, 'down'), formatQuota(units, dollars, 'up')]).toEqual(
        Array(2).fill(formatQuota(units, dollars)),
      )
    }
    expect(formatQuota(-499_999, dollars, 'down')).toBe('−$1.00')
  })
})

describe('quota to the unit', () => {
  it.each([
    [617_283_946, '$1,234.567892'],
    [-3, '−$0.000006'],
    [500_000, '$1.00'],
    [750_050, '$1.5001'],
    [0, '$0.00'],
  ])('is %d as %s', (units, text) => expect(exactQuota(units, dollars)).toBe(text))

  it('distinguishes amounts that differ by one unit, for any number of units per dollar', () => {
    for (const perUsd of [1, 7, 1000, 300_000, 500_000, 1e6, 123_456_789, 1e9]) {
      const display = { inCurrency: true, perUsd }
      for (const units of [0, 1, 12_345, 5_000_000]) {
        expect(exactQuota(units, display)).not.toBe(exactQuota(units + 1, display))
        expect(usdFigure(units, perUsd)).not.toBe(usdFigure(units + 1, perUsd))
      }
    }
  })

  it('is a plain figure in files', () => {
    expect([usdFigure(617_283_946, quotaPerUsd), usdFigure(33, quotaPerUsd)]).toEqual(['1234.567892', '0.000066'])
    expect(exactQuota(12_345_678, inUnits)).toBe('12,345,678')
  })
})

it('dollars of an upstream are shown like quota', () => {
  expect([1234.5, 0.004, 0, -2.506].map((usd) => formatUsd(usd))).toEqual(['$1,234.50', '$0.004000', '$0.00', '−$2.51'])
  expect([1234.5, 0.00412].map((usd) => exactUsd(usd))).toEqual(['$1,234.50', '$0.00412'])
})

it('writes a change of a balance with its sign', () => {
  expect([500_000, -125_000, 0].map((units) => formatChange(units, dollars))).toEqual(['+$1.00', '−$0.25', '$0.00'])
  expect([3, -3].map((units) => exactChange(units, dollars))).toEqual(['+$0.000006', '−$0.000006'])
  expect([12_345, -5].map((units) => formatChange(units, inUnits))).toEqual(['+12.3k', '−5'])
})
