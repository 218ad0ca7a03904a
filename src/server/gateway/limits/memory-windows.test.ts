import { describe, expect, it } from 'vitest'
import { newClock } from '../../../../test/helpers/clock.ts'
import { collectGarbage } from '../../../../test/helpers/collect-garbage.ts'
import { isTorture } from '../../../../test/helpers/torture.ts'
import { Counters, type Grant } from './counters.ts'
import type { Measure, Rule } from './rule.ts'

const rule = (more: Partial<Rule> = {}): Rule => ({
  key: 'user:1',
  scope: 'user',
  windowMs: 60_000,
  requests: 0,
  successes: 0,
  tokens: 0,
  concurrency: 0,
  ...more,
})

function counters() {
  const clock = newClock()
  const all = new Counters({ now: () => clock.now() })
  let ids = 0
  /** The admitted request, or the reason of its refusal and the time until the retry. */
  const take = (rules: readonly Rule[], inputTokens = 0, outputTokens = 0) => {
    const decision = all.acquire(rules, { id: String(ids++), inputTokens, outputTokens })
    if (decision instanceof Promise) throw new Error('No Redis was asked, so the answer comes at once')
    const { refusal, grant, statuses } = decision
    return { grant, refused: refusal?.measure, retryMs: refusal?.retryMs, statuses }
  }
  const passed = (rules: readonly Rule[], times: number) =>
    Array.from({ length: times }, () => take(rules)).filter(({ grant }) => grant).length
  const end = (grant: Grant | undefined, succeeded: boolean, tokens = 0) => {
    if (!grant) throw new Error('It was not let in')
    all.release(grant, { succeeded, tokens })
  }
  return { clock, take, passed, end }
}

describe('a limit of requests', () => {
  it('[T205] lets exactly that many of 1,000 requests through, and all of them again after the window', () => {
    const { clock, passed } = counters()
    const rules = [rule({ requests: 30 })]
    expect(passed(rules, 1000)).toBe(30)
    clock.passSeconds(59)
    expect(passed(rules, 1000)).toBe(0)
    clock.passSeconds(1)
    expect(passed(rules, 1000)).toBe(30)
  })

  it('holds in every interval as long as the window, for any pattern of requests, and refuses little more than needed', () => {
    const { clock, passed } = counters()
    const rules = [rule({ requests: 100 })]
    const times: number[] = []
    /** The reference: which of the same requests an exact list of all times admits. */
    const exact: number[] = []
    let seed = 7
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    for (let step = 0; step < 5000; step++) {
      clock.nowMs += Math.floor(random() < 0.05 ? random() * 20_000 : random() * 100)
      const come = Math.floor(random() * 12)
      const count = passed(rules, come)
      for (let n = 0; n < count; n++) times.push(clock.nowMs)
      for (let n = 0; n < come; n++) if (clock.nowMs - (exact.at(-100) ?? 0) >= 60_000) exact.push(clock.nowMs)
    }
    const worst = Math.max(...times.map((end) => times.filter((time) => time > end - 60_000 && time <= end).length))
    expect(worst).toBe(100)
    expect(times.length / exact.length).toBeGreaterThan(0.94)
  })

  it('does not count the requests that it refused', () => {
    const { clock, passed } = counters()
    const rules = [rule({ requests: 1 })]
    for (let second = 0; second < 60; second++) {
      expect(passed(rules, 10)).toBe(second === 0 ? 1 : 0)
      clock.passSeconds(1)
    }
    expect(passed(rules, 10)).toBe(1)
  })

  it('reports when it admits requests again', () => {
    const { clock, take } = counters()
    const rules = [rule({ requests: 2 })]
    take(rules)
    clock.passSeconds(20)
    take(rules)
    clock.passSeconds(10)
    expect(take(rules)).toMatchObject({ refused: 'requests', retryMs: 30_000 })
    clock.nowMs += 29_999
    expect(take(rules).refused).toBe('requests')
    clock.nowMs += 1
    expect(take(rules).refused).toBe(undefined)
  })

  it('reports the used amount and when the window is empty', () => {
    const { clock, take } = counters()
    const rules = [rule({ requests: 5, tokens: 1000 })]
    take(rules, 10, 90)
    clock.passSeconds(20)
    expect(take(rules, 10, 40).statuses).toMatchObject([{ requests: 2, tokens: 150, resetMs: 60_000 }])
  })

  it('applies a new limit at once and keeps the counts', () => {
    const { passed } = counters()
    expect(passed([rule({ requests: 10 })], 20)).toBe(10)
    expect(passed([rule({ requests: 15 })], 20)).toBe(5)
    expect(passed([rule({ requests: 3 })], 20)).toBe(0)
  })

  it('keeps working when the clock is set back', () => {
    const { clock, passed } = counters()
    const rules = [rule({ requests: 5 })]
    expect(passed(rules, 9)).toBe(5)
    clock.passSeconds(-10)
    expect(passed(rules, 9)).toBe(0)
    clock.passSeconds(-86_400)
    expect(passed(rules, 9)).toBe(5)
  })
})

describe('several rules', () => {
  it('count a request under all of them or under none', () => {
    const { passed } = counters()
    const user = rule({ requests: 10 })
    const token = (id: number) => rule({ key: `token:${id}`, scope: 'token', requests: 3 })
    expect(passed([user, token(1)], 100)).toBe(3)
    expect(passed([user, token(2)], 100)).toBe(3)
    expect(passed([user], 100)).toBe(4)
  })

  it('may watch several windows', () => {
    const { clock, passed } = counters()
    const rules = [rule({ requests: 2 }), rule({ key: 'day', windowMs: 86_400_000, requests: 5 })]
    const byMinute = Array.from({ length: 4 }, () => {
      const count = passed(rules, 9)
      clock.passSeconds(60)
      return count
    })
    expect(byMinute).toEqual([2, 2, 1, 0])
  })
})

describe('a limit on successful requests', () => {
  it('is freed only by failed requests', () => {
    const { take, passed, end } = counters()
    const rules = [rule({ successes: 3 })]
    const [first, second] = [take(rules), take(rules), take(rules)]
    expect(take(rules).refused).toBe('successes')
    end(first?.grant, true)
    expect(take(rules).refused).toBe('successes')
    end(second?.grant, false)
    expect(passed(rules, 10)).toBe(1)
  })

  it('coexists with a limit of all requests, which a failure does not release', () => {
    const { take, end } = counters()
    const rules = [rule({ requests: 2, successes: 1 })]
    end(take(rules).grant, false)
    end(take(rules).grant, false)
    expect(take(rules).refused).toBe('requests')
  })
})

describe('a limit of tokens', () => {
  it("reserves a request's greatest usage until its usage is known", () => {
    const { take, end } = counters()
    const rules = [rule({ tokens: 1000 })]
    const first = take(rules, 100, 500)
    expect(take(rules, 100, 500).refused).toBe('tokens')
    end(first.grant, true, 150)
    expect(take(rules, 100, 500).refused).toBe(undefined)
    expect(take(rules, 100, 200).refused).toBe('tokens')
  })

  it('counts usage beyond the reserved tokens, even after these have left the window', () => {
    const { clock, take, end } = counters()
    const rules = [rule({ tokens: 1000 })]
    const first = take(rules, 10, 10)
    clock.passSeconds(61)
    end(first.grant, true, 1010)
    expect(take(rules, 10, 10)).toMatchObject({ refused: 'tokens', retryMs: 60_000 })
  })

  it('lets a request whose output limit is higher use the full limit, and refuses a longer prompt permanently', () => {
    const { take } = counters()
    const rules = [rule({ tokens: 1000 })]
    expect(take(rules, 1001, 0)).toMatchObject({ refused: 'tokens', retryMs: 'never' })
    expect(take(rules, 10, 64_000).refused).toBe(undefined)
    expect(take(rules, 1, 0).refused).toBe('tokens')
  })

  it('is not used by a request that failed', () => {
    const { take, end } = counters()
    const rules = [rule({ tokens: 1000 })]
    end(take(rules, 500, 500).grant, false, 0)
    expect(take(rules, 500, 500).refused).toBe(undefined)
  })
})

describe('a limit on concurrent requests', () => {
  it('has room again when a request ends, whichever way it ends', () => {
    const { take, end } = counters()
    const rules = [rule({ concurrency: 2 })]
    const [first, second] = [take(rules), take(rules)]
    expect(take(rules)).toMatchObject({ refused: 'concurrency', retryMs: 1000 })
    end(first?.grant, true)
    end(second?.grant, false)
    expect([take(rules), take(rules), take(rules)].map(({ refused }) => refused as Measure | undefined)).toEqual([
      undefined,
      undefined,
      'concurrency',
    ])
  })
})

/** More callers than windows are stored. */
const callers = isTorture ? 1_000_000 : 150_000
it(`[T207] ${callers} callers take at most 64 MB`, () => {
  const { clock, passed } = counters()
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let caller = 0; caller < callers; caller++) {
    passed([rule({ key: `client:${caller}`, requests: 600 })], 1)
    if (caller % 10_000 === 0) clock.passSeconds(1)
  }
  collectGarbage()
  expect((process.memoryUsage().heapUsed - before) / 1024 / 1024).toBeLessThan(64)
  expect(passed([rule({ key: `client:${callers - 1}`, requests: 1 })], 1)).toBe(0)
})
