import { randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isTorture } from '../../../../test/helpers/torture.ts'
import { noUsage, type Usage } from '../../../contract/usage.ts'
import { costOf, type Price, tierFactor } from './quote.ts'

const price = (over: Partial<Price> = {}): Price => ({
  model: 'm',
  group: 'default',
  fixedUsd: -1,
  modelRatio: 1,
  completionRatio: 1,
  cacheRatio: 1,
  createCacheRatio: 1.25,
  cacheWriteFactors: { '30m': 1, '1h': 1.6, '12h': 1.6 },
  audioRatio: 1,
  audioCompletionRatio: 2,
  audioCacheRatio: 1,
  imageRatio: 1,
  imageCompletionRatio: 1,
  imageCacheRatio: 1,
  videoCompletionRatio: 1,
  searchUsd: 0.01,
  toolUsd: {},
  tierFactors: {},
  groupRatio: 1,
  quotaPerUnit: 500_000,
  unpriced: false,
  ...over,
})
const usage = (over: Partial<Usage>): Usage => ({ ...noUsage, ...over })

describe('the cost of a call', () => {
  it('is group ratio × model ratio × (prompt + completion × completion ratio), where 500000 units are a dollar', () => {
    expect(costOf(price({ modelRatio: 1.25, completionRatio: 4 }), usage({ input: 1000, output: 500 }))).toBe(3750)
    expect(costOf(price({ modelRatio: 15, completionRatio: 2, groupRatio: 0.5 }), usage({ input: 200, output: 100 }))).toBe(3000)
    // 2 dollars per million input tokens at a ratio of 1.
    expect(costOf(price(), usage({ input: 1_000_000 }))).toBe(2 * 500_000)
    // 6 dollars per million output tokens: 2 × ratio × completion ratio × group ratio.
    expect(costOf(price({ modelRatio: 2, completionRatio: 3, groupRatio: 0.5 }), usage({ output: 1_000_000 }))).toBe(6 * 500_000)
  })

  it('prices cache reads and writes by their own ratios, and one-hour writes at twice the input', () => {
    const claude = price({ modelRatio: 1.5, completionRatio: 5, cacheRatio: 0.1, createCacheRatio: 1.25 })
    expect(costOf(claude, usage({ cacheRead: 10_000 }))).toBe(1500)
    expect(costOf(claude, usage({ cacheWrite: 10_000 }))).toBe(18_750)
    expect(costOf(claude, usage({ cacheWrite1h: 10_000 }))).toBe(30_000)
    const all = { input: 100, cacheRead: 1000, cacheWrite: 100, cacheWrite1h: 10, output: 20, reasoning: 20 }
    expect(costOf(claude, usage(all))).toBe(668)
  })

  it('prices cache writes of each lifetime by its own factor', () => {
    const cacheWriteFactors = { '30m': 1.1, '1h': 1.6, '12h': 2.4 }
    const long = price({ modelRatio: 2, createCacheRatio: 1.25, cacheWriteFactors })
    expect(costOf(long, usage({ cacheWrite30m: 10_000 }))).toBe(27_500)
    expect(costOf(long, usage({ cacheWrite1h: 10_000 }))).toBe(40_000)
    expect(costOf(long, usage({ cacheWrite12h: 10_000 }))).toBe(60_000)
    const all = usage({ cacheWrite: 10_000, cacheWrite30m: 10_000, cacheWrite1h: 10_000, cacheWrite12h: 10_000 })
    expect(costOf(long, all)).toBe(25_000 + 27_500 + 40_000 + 60_000)
  })

  it('prices cached audio, cached images and video by their own ratios', () => {
    const omni = price({ modelRatio: 2, cacheRatio: 0.1, audioCacheRatio: 0.35, imageCacheRatio: 0.2, videoCompletionRatio: 11 })
    expect(costOf(omni, usage({ cacheRead: 1000 }))).toBe(200)
    expect(costOf(omni, usage({ cachedAudio: 1000 }))).toBe(700)
    expect(costOf(omni, usage({ cachedImage: 1000 }))).toBe(400)
    expect(costOf(omni, usage({ videoOutput: 1000 }))).toBe(22_000)
  })

  it('prices audio and images by their own ratios', () => {
    const omni = price({ modelRatio: 1.25, completionRatio: 4, audioRatio: 16, audioCompletionRatio: 2, imageRatio: 2 })
    expect(costOf(omni, usage({ audioInput: 100 }))).toBe(2000)
    expect(costOf(omni, usage({ audioOutput: 100 }))).toBe(4000)
    expect(costOf(omni, usage({ imageInput: 100 }))).toBe(250)
    expect(costOf({ ...omni, imageCompletionRatio: 12 }, usage({ imageOutput: 100 }))).toBe(1500)
  })

  it('is that of the highest step that the whole prompt exceeds', () => {
    const long = price({ modelRatio: 2, completionRatio: 3 })
    const longest = price({ modelRatio: 5, completionRatio: 2 })
    const stepped = price({
      completionRatio: 4,
      steps: [
        { above: 1000, price: long },
        { above: 2000, price: longest },
      ],
    })
    expect(costOf(stepped, usage({ input: 1000, output: 10 }))).toBe(1040)
    expect(costOf(stepped, usage({ input: 900, cacheRead: 101, output: 10 }))).toBe(2 * 1001 + 60)
    expect(costOf(stepped, usage({ input: 2001, output: 10 }))).toBe(5 * 2001 + 100)
    // A price that was stored as JSON charges the same.
    expect(costOf(JSON.parse(JSON.stringify(stepped)), usage({ input: 2001, output: 10 }))).toBe(5 * 2001 + 100)
  })

  it('charges a price per call for each call, and web searches in addition to either kind', () => {
    const image = price({ fixedUsd: 0.04 })
    expect(costOf(image, usage({ calls: 3 }))).toBe(60_000)
    expect(costOf(image, usage({ calls: 0.45, input: 500 }))).toBe(9000)
    expect(costOf(image, usage({ searches: 2 }))).toBe(30_000)
    expect(costOf(price({ groupRatio: 0.5 }), usage({ input: 10, searches: 2 }))).toBe(5005)
    expect(() => costOf(image, usage({ calls: 100_000 }))).toThrow()
  })

  it('multiplies tokens and a price per call by the factor of the tier, exactly, but no tool', () => {
    const tiers = { tierFactors: { priority: 1.75, us: 1.1 }, toolUsd: { file_search: 0.0025 } }
    const tier = { service_tier: 'priority' }
    expect(costOf(price(tiers), usage({ input: 100, tier }))).toBe(175)
    expect(costOf(price({ ...tiers, modelRatio: 0.1 }), usage({ input: 30, tier: { ...tier, inference_geo: 'us' } }))).toBe(6)
    expect(tierFactor(price(tiers), { ...tier, inference_geo: 'us' })).toBe(1.925)
    expect(costOf(price({ ...tiers, fixedUsd: 0.04 }), usage({ tier }))).toBe(35_000)
    expect(costOf(price(tiers), usage({ input: 100, tier, searches: 1, toolCalls: { file_search: 2 } }))).toBe(175 + 5000 + 2500)
    expect(costOf(price(tiers), usage({ input: 100, tier: { service_tier: 'constructor' } }))).toBe(100)
  })

  it("adds other models' usage at their own prices, and rounds the sum once", () => {
    const cheap = price({ modelRatio: 0.25 })
    const other = { price: price({ modelRatio: 0.25, groupRatio: 1 }), usage: usage({ input: 1 }) }
    expect(costOf(cheap, usage({ input: 1 }))).toBe(1)
    expect(costOf(cheap, usage({ input: 1 }), [other, other, other])).toBe(1)
    expect(costOf(cheap, usage({ input: 2 }), [other, other, other])).toBe(2)
  })

  it('computes with decimals as they are written', () => {
    // 0.1 × 3 is 0.30000000000000004 in binary, which would round up to 4.
    expect(costOf(price({ modelRatio: 0.1 }), usage({ input: 30 }))).toBe(3)
    expect(costOf(price({ modelRatio: 0.075, completionRatio: 4, groupRatio: 1.1 }), usage({ input: 400, output: 0 }))).toBe(33)
    expect(costOf(price({ modelRatio: 1e-7 }), usage({ input: 10_000_000 }))).toBe(1)
  })

  it('rounds up once, at the end', () => {
    const cheap = price({ modelRatio: 0.075, completionRatio: 4 })
    expect(costOf(cheap, usage({ input: 1 }))).toBe(1)
    expect(costOf(cheap, usage({ input: 10, cacheRead: 1, output: 1 }))).toBe(Math.ceil(0.075 * 15))
  })

  it('is 0 without usage, and 0 for a ratio of 0', () => {
    expect(costOf(price(), noUsage)).toBe(0)
    expect(costOf(price({ modelRatio: 0 }), usage({ input: 1000, output: 1000 }))).toBe(0)
    expect(costOf(price({ groupRatio: 0 }), usage({ input: 1000 }))).toBe(0)
    expect(costOf(price(), usage({ reasoning: 50 }))).toBe(0)
  })

  it('is price × units of a dollar × group ratio for a fixed price, for any usage', () => {
    const image = price({ fixedUsd: 0.04, modelRatio: 9 })
    expect(costOf(image, usage({ input: 5, output: 7 }))).toBe(20_000)
    expect(costOf(image, noUsage)).toBe(20_000)
    expect(costOf({ ...image, groupRatio: 0.5 }, noUsage)).toBe(10_000)
    expect(costOf({ ...image, quotaPerUnit: 333_333 }, noUsage)).toBe(13_334)
    expect(costOf({ ...image, fixedUsd: 0 }, noUsage)).toBe(0)
  })

  it('does not depend on the units of a dollar when it is by tokens', () => {
    expect(costOf(price({ quotaPerUnit: 1 }), usage({ input: 10 }))).toBe(10)
  })

  it('[T155] is refused for counts and costs that are out of range', () => {
    for (const count of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1_000_000_001]) {
      expect(() => costOf(price(), usage({ input: count })), String(count)).toThrow('out of range: input')
      expect(() => costOf(price(), usage({ output: count })), String(count)).toThrow('out of range: output')
    }
    expect(() => costOf(price({ modelRatio: 1_000_000, groupRatio: 1000 }), usage({ input: 1_000_000_000 }))).toThrow(
      'out of range: quota',
    )
    expect(() => costOf(price({ fixedUsd: 1_000_000, quotaPerUnit: 1e9, groupRatio: 1000 }), noUsage)).toThrow(
      'out of range: quota',
    )
  })
})

describe('any cost', () => {
  const seed = Number(process.env.SEED ?? randomInt(2 ** 31))

  const cases = isTorture ? 1_000_000 : 10_000
  it(`[T154] equals that of an independent exact calculator in ${cases} cases (SEED=${seed})`, () => {
    console.info(`pricing property test: SEED=${seed}`)
    const random = mulberry32(seed)
    const ratio = () => Number((random() * 10 ** Math.floor(random() * 4)).toPrecision(1 + Math.floor(random() * 16)))
    const count = () => (random() < 0.3 ? 0 : Math.floor(random() * 10 ** Math.floor(random() * 8)))

    for (let round = 0; round < cases; round++) {
      const fixedUsd = random() < 0.1 ? ratio() : -1
      const wanted = price({
        fixedUsd,
        modelRatio: random() < 0.02 ? 0 : ratio(),
        completionRatio: ratio(),
        cacheRatio: ratio(),
        createCacheRatio: ratio(),
        cacheWriteFactors: { '30m': ratio(), '1h': ratio(), '12h': ratio() },
        ...{ audioCacheRatio: ratio(), imageCacheRatio: ratio(), videoCompletionRatio: ratio() },
        groupRatio: ratio(),
        quotaPerUnit: random() < 0.5 ? 500_000 : 1 + ratio(),
      })
      const used = usage({
        ...{ input: count(), cacheRead: count(), cachedAudio: count(), cachedImage: count() },
        ...{ cacheWrite: count(), cacheWrite30m: count(), cacheWrite1h: count(), cacheWrite12h: count() },
        ...{ output: count(), videoOutput: count() },
      })
      const expected = exactCost(wanted, used)
      if (expected > BigInt(Number.MAX_SAFE_INTEGER)) {
        expect(() => costOf(wanted, used)).toThrow('out of range')
        continue
      }
      const cost = costOf(wanted, used)
      if (BigInt(cost) !== expected) throw new Error(`${JSON.stringify({ wanted, used })}: ${cost}, expected ${expected}`)
      const owes = fixedUsd < 0 && wanted.modelRatio * wanted.groupRatio > 0 && used.input > 0
      if (owes && cost <= 0) throw new Error(`${JSON.stringify({ wanted, used })} is free`)
    }
  })
})

/** Fractions as numerator and denominator, read digit by digit: shares no code with the calculation under test. */
type Fraction = readonly [bigint, bigint]

function exactCost(wanted: Price, used: Usage): bigint {
  const times = (...factors: Fraction[]): Fraction =>
    factors.reduce(([a, b], [c, d]) => [a * c, b * d] as const, [1n, 1n] as const)
  const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d]
  const whole = (value: number): Fraction => [BigInt(value), 1n]

  const createCache = read(wanted.createCacheRatio)
  const weighted = [
    whole(used.input),
    times(whole(used.cacheRead), read(wanted.cacheRatio)),
    times(whole(used.cacheWrite), createCache),
    times(whole(used.cachedAudio), read(wanted.audioCacheRatio)),
    times(whole(used.cachedImage), read(wanted.imageCacheRatio)),
    times(whole(used.cacheWrite30m), createCache, read(wanted.cacheWriteFactors['30m'])),
    times(whole(used.cacheWrite1h), createCache, read(wanted.cacheWriteFactors['1h'])),
    times(whole(used.cacheWrite12h), createCache, read(wanted.cacheWriteFactors['12h'])),
    times(whole(used.videoOutput), read(wanted.videoCompletionRatio)),
    times(whole(used.audioInput), read(wanted.audioRatio)),
    times(whole(used.imageInput), read(wanted.imageRatio)),
    times(whole(used.output), read(wanted.completionRatio)),
    times(whole(used.audioOutput), read(wanted.audioRatio), read(wanted.audioCompletionRatio)),
    times(whole(used.imageOutput), read(wanted.imageCompletionRatio)),
  ].reduce(plus)
  const searched = times(whole(used.searches), read(wanted.searchUsd), read(wanted.quotaPerUnit), read(wanted.groupRatio))
  const called = times(
    read(wanted.fixedUsd < 0 ? 0 : wanted.fixedUsd),
    read(used.calls),
    read(wanted.quotaPerUnit),
    read(wanted.groupRatio),
  )
  const metered = times(weighted, read(wanted.modelRatio), read(wanted.groupRatio))
  const [top, bottom] = plus(wanted.fixedUsd >= 0 ? called : metered, searched)
  return top / bottom + (top % bottom === 0n ? 0n : 1n)
}

function read(value: number): Fraction {
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value))
  if (!match) throw new Error(`Not a plain number: ${value}`)
  let top = 0n
  for (const digit of `${match[1]}${match[2] ?? ''}`) top = top * 10n + BigInt(digit)
  const shift = Number(match[3] ?? 0) - (match[2]?.length ?? 0)
  return shift >= 0 ? [top * 10n ** BigInt(shift), 1n] : [top, 10n ** BigInt(-shift)]
}

function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
