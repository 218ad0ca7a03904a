import { expect, it } from 'vitest'
import { Histogram } from './histogram.ts'

function exact(durations: readonly number[], share: number): number {
  const sorted = [...durations].sort((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

it('returns percentiles within 2 % of the exact ones, also after histograms were serialized and merged', () => {
  let seed = 7
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const durations = Array.from({ length: 20_000 }, () => Math.exp(random() * 12))
  const parts = [new Histogram(), new Histogram(), new Histogram()]
  for (const [index, ms] of durations.entries()) parts[index % 3]?.add(ms)

  const merged = new Histogram()
  for (const part of parts) merged.addText(part.toText())
  const copied = new Histogram()
  copied.merge(merged)

  expect(merged.count).toBe(durations.length)
  expect(copied.toText()).toBe(merged.toText())
  const error = (share: number) => Math.abs((merged.percentile(share) ?? 0) / exact(durations, share) - 1)
  for (const share of [0.25, 0.5, 0.9, 0.95, 0.99]) expect(error(share)).toBeLessThan(0.02)
  // Durations end within the last bucket, so that they are not spread evenly in it.
  expect(error(1)).toBeLessThan(0.2)
})

it('tells percentiles in one bucket apart, and is within 20 % where durations are not spread evenly', () => {
  const histogram = new Histogram()
  for (let count = 0; count < 100; count++) histogram.add(1000)
  const [p50 = 0, p95 = 0] = [histogram.percentile(0.5), histogram.percentile(0.95)]
  expect(p95).toBeGreaterThan(p50)
  for (const ms of [p50, p95]) expect(Math.abs(ms / 1000 - 1)).toBeLessThan(0.2)
})

it('counts durations of zero and those above a day', () => {
  const histogram = new Histogram()
  for (const ms of [0, -1, Number.NaN, 0.5, 1e12]) histogram.add(ms)
  expect(histogram.count).toBe(5)
  expect(histogram.percentile(0.5)).toBe(1)
  expect(histogram.percentile(1)).toBeGreaterThan(86_400_000 * 0.9)
})

it('has no percentile and an empty text while nothing is counted', () => {
  expect(new Histogram().percentile(0.5)).toBeUndefined()
  expect(new Histogram().toText()).toBe('')
  expect(Histogram.parse('').count).toBe(0)
})
