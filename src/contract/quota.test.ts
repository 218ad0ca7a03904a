import { expect, it } from 'vitest'
import { formatQuota, quotaPerUsd } from './quota.ts'

it('quota in dollars has its thousands apart, cents, and six decimals where cents would show nothing', () => {
  const display = { inCurrency: true, perUsd: quotaPerUsd }
  expect(formatQuota(1_234_567_890, display)).toBe('$2,469.14')
  expect(formatQuota(-500_000_000, display, 6)).toBe('-$1,000.000000')
  expect(formatQuota(100_000, display)).toBe('$0.20')
  expect(formatQuota(33, display)).toBe('$0.000066')
  expect(formatQuota(12_340_000, { ...display, inCurrency: false })).toBe('12.3M')
})
