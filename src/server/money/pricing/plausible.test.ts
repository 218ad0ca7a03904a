import { describe, expect, it } from 'vitest'
import { completionTokens, noUsage, promptTokens, type Usage } from '../../../contract/usage.ts'
import { costBeyond, plausibleUsage, withCacheLifetime } from './plausible.ts'
import { costOf, freePrice, type Price } from './quote.ts'

const price: Price = {
  ...freePrice('m', 'default'),
  fixedUsd: -1,
  modelRatio: 1,
  completionRatio: 4,
  cacheRatio: 0.5,
  audioRatio: 8,
}
const bound = { promptTokens: 100, outputTokens: 50 }
const usageOf = (more: Partial<Usage>): Usage => ({ ...noUsage, ...more })

/** Random numbers in [0, 1), reproducible by their seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

describe('a plausible usage', () => {
  it('is unchanged up to the bound', () => {
    const usage = usageOf({ input: 60, cacheRead: 40, output: 50, reasoning: 30 })
    expect(plausibleUsage(usage, bound)).toEqual({ usage, isImplausible: false })
    expect(plausibleUsage(usage, undefined).usage).toBe(usage)
    const huge = usageOf({ input: 1e9, output: 1e9 })
    expect(plausibleUsage(huge, undefined)).toEqual({ usage: huge, isImplausible: false })
  })
})

describe('tokens that only the total of a report contains', () => {
  it('are output as far as the bound has room for them, then input, and only beyond both implausible', () => {
    const inside = usageOf({ input: 60, output: 45, unexplained: 30 })
    expect(plausibleUsage(inside, bound).usage).toBe(inside)
    expect(plausibleUsage(usageOf({ input: 60, output: 80, unexplained: 40 }), bound)).toEqual({
      usage: usageOf({ input: 90, output: 50, unexplained: 40 }),
      isImplausible: false,
    })
    expect(plausibleUsage(usageOf({ input: 60, output: 200, unexplained: 160 }), bound)).toEqual({
      usage: usageOf({ input: 100, output: 50, unexplained: 160 }),
      isImplausible: true,
    })
    // What the host itself reports as output stays output.
    expect(plausibleUsage(usageOf({ input: 60, output: 80, unexplained: 10 }), bound)).toEqual({
      usage: usageOf({ input: 70, output: 50, unexplained: 10 }),
      isImplausible: true,
    })
  })
})

describe('cache writes of an unknown lifetime', () => {
  it('are counted with the longest lifetime that the request can have', () => {
    const unknown = usageOf({ input: 1, cacheWrite: 20, cacheLifetimeUnknown: true })
    expect(withCacheLifetime(unknown, { ...bound, cacheLifetime: '12h' })).toEqual(usageOf({ input: 1, cacheWrite12h: 20 }))
    expect(withCacheLifetime(unknown, bound)).toBe(unknown)
    const told = usageOf({ input: 1, cacheWrite: 20 })
    expect(withCacheLifetime(told, { ...bound, cacheLifetime: '12h' })).toBe(told)
  })
})

describe('an implausible usage', () => {
  it('is reduced on its side, prompt or output, from the most expensive bucket on', () => {
    const usage = usageOf({ input: 90, cacheRead: 80, audioInput: 20, output: 500, reasoning: 400, searches: 2 })
    expect(plausibleUsage(usage, bound)).toEqual({
      usage: usageOf({ input: 20, cacheRead: 80, audioInput: 0, output: 50, reasoning: 50, searches: 2 }),
      isImplausible: true,
    })
    expect(plausibleUsage(usageOf({ input: 101, output: 9 }), bound).usage).toEqual(usageOf({ input: 100, output: 9 }))
  })

  it('[209] has a prompt that is raised to what was cached of it, as far as the bound reaches', () => {
    const usage = usageOf({ cacheRead: 10, cacheExcess: 40, output: 5 })
    const raised = usageOf({ cacheRead: 50, cacheExcess: 40, output: 5 })
    for (const each of [bound, undefined]) expect(plausibleUsage(usage, each)).toEqual({ usage: raised, isImplausible: false })
    const beyond = usageOf({ cacheRead: 10, cacheExcess: 5000, output: 5 })
    const cut = usageOf({ cacheRead: 100, cacheExcess: 5000, output: 5 })
    expect(plausibleUsage(beyond, bound)).toEqual({ usage: cut, isImplausible: true })
  })

  it('is bounded for each other model that worked for the call, by its own limits and number of calls', () => {
    const other = (more: Partial<Usage>) => ({ model: 'claude-3-haiku', usage: usageOf({ calls: 2, ...more }) })
    const plausible = usageOf({ input: 5, byOthers: [other({ input: 400_000, output: 8192 })] })
    expect(plausibleUsage(plausible, bound)).toEqual({ usage: plausible, isImplausible: false })
    const reported = usageOf({ input: 5, byOthers: [other({ input: 900_000, cacheRead: 100_000, output: 9000 })] })
    expect(plausibleUsage(reported, bound)).toEqual({
      usage: usageOf({ input: 5, byOthers: [other({ input: 300_000, cacheRead: 100_000, output: 8192 })] }),
      isImplausible: true,
    })
    expect(plausibleUsage(reported, undefined)).toEqual({ usage: reported, isImplausible: false })
    const others = [{ price, usage: usageOf({ input: 1000 }) }]
    expect(costBeyond(price, { usage: usageOf({ input: 5 }), others }, 5)).toBe(1000)
  })

  it('never grows in a bucket or in cost, and fits its bound, for any report', () => {
    const random = randomOf(7)
    const count = () => Math.floor(random() * 10 ** Math.floor(random() * 6))
    for (let round = 0; round < 2000; round++) {
      const buckets = [
        'input',
        'cacheRead',
        'cacheWrite',
        'cacheWrite1h',
        'audioInput',
        'imageInput',
        'output',
        'audioOutput',
        'imageOutput',
      ] as const
      const counts = Object.fromEntries(buckets.map((bucket) => [bucket, random() < 0.5 ? 0 : count()]))
      const reported = usageOf({ ...counts, reasoning: count() })
      const limits = { promptTokens: count(), outputTokens: count() }
      const { usage, isImplausible } = plausibleUsage(reported, limits)

      expect(promptTokens(usage)).toBe(Math.min(promptTokens(reported), limits.promptTokens))
      expect(completionTokens(usage)).toBe(Math.min(completionTokens(reported), limits.outputTokens))
      for (const bucket of buckets) expect(usage[bucket]).toBeLessThanOrEqual(reported[bucket])
      expect(isImplausible).toBe(usage !== reported)
      const [charged, cost] = [costOf(price, usage), costOf(price, reported)]
      expect(charged).toBeLessThanOrEqual(cost)
      expect(costBeyond(price, { usage: reported }, charged)).toBe(cost - charged)
    }
  })
})

describe('the cost beyond a charge', () => {
  it('includes cached tokens beyond those of the prompt', () => {
    expect(costBeyond(price, { usage: usageOf({ cacheRead: 10, cacheExcess: 30 }) }, 5)).toBe(15)
  })

  it('is bounded when it is too large to be priced', () => {
    expect(costBeyond({ ...price, modelRatio: 1e9 }, { usage: usageOf({ output: 1e9 }) }, 5)).toBe(1e12)
    expect(costBeyond(price, { usage: usageOf({ output: 2e9 }) }, 5)).toBe(1e12)
  })
})
