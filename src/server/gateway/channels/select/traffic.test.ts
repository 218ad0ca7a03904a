import { describe, expect, it } from 'vitest'
import { newClock } from '../../../../../test/helpers/clock.ts'
import type { ChannelSetting } from '../../../../contract/entities/channel.ts'
import { providerById } from '../../providers/index.ts'
import type { RunningChannel } from '../index/model-index.ts'
import { type FailureFacts, Traffic } from './traffic.ts'

const asked = { id: 'r', model: 'm', inputTokens: 100, isPinned: false }
const broken: FailureFacts = { retryAfter: 0, isFaultOfKey: false, isFaultOfUpstream: true, isRefusal: false }
const limited: FailureFacts = { retryAfter: 20, isFaultOfKey: true, isFaultOfUpstream: false, isRefusal: false }

function open(given: { prices?: Record<string, number>; spent?: Map<number, number> } = {}) {
  const clock = newClock()
  const traffic = new Traffic({
    now: () => clock.nowMs,
    priceOf: (model) => given.prices?.[model],
    spentToday: (id) => given.spent?.get(id) ?? 0,
  })
  return { clock, traffic }
}

function channel(id: number, setting: ChannelSetting = {}, keyId = id): RunningChannel {
  const provider = providerById(1)
  if (!provider) throw new Error('No such provider')
  const none = {
    key: 'k',
    keySealed: '',
    siteId: '',
    promptPolicy: 'closed' as const,
    promptAdditions: new Map(),
    modelEnds: new Map(),
    name: '',
    baseUrl: '',
    organization: '',
    other: '',
    tag: '',
    testModel: '',
  }
  const maps = { models: new Set<string>(), groups: new Set<string>(), modelMapping: new Map(), statusCodeMapping: new Map() }
  return { id, keyId, type: 1, provider, setting, ...none, ...maps, priority: 0, weight: 0, autoBan: true, maxInputTokens: 0 }
}

describe('the measurements of this node for its channels', () => {
  it('counts each running request once, whichever way it ends', () => {
    const { traffic } = open()
    const one = channel(1)
    const runs = [traffic.begin(one, asked), traffic.begin(one, asked), traffic.begin(one, asked)]
    expect([traffic.running(one), traffic.turn(one)]).toEqual([3, 3])
    runs[0]?.answered(5)
    runs[0]?.abandoned()
    runs[1]?.failed(broken)
    runs[2]?.abandoned()
    runs[2]?.failed(broken)
    expect([traffic.running(one), traffic.turn(one)]).toEqual([0, 3])
  })

  it('opens the breaker of a key by failures of the upstream or the key, not by those of a request', () => {
    const { traffic } = open()
    const neutral = { ...broken, isFaultOfUpstream: false }
    for (let time = 0; time < 10; time++) {
      traffic.begin(channel(1), asked).failed(broken)
      traffic.begin(channel(2), asked).failed(neutral)
      traffic.begin(channel(3), asked).abandoned()
    }
    expect([1, 2, 3].map((id) => traffic.breaker(channel(id)))).toEqual(['open', 'closed', 'closed'])
    expect(traffic.breaker(channel(1, {}, 77))).toBe('closed')
    traffic.forgive([channel(1)])
    expect(traffic.breaker(channel(1))).toBe('closed')
  })

  it('opens the breaker at once for a key that is refused', () => {
    const { traffic } = open()
    traffic.begin(channel(1), asked).failed({ ...limited, retryAfter: 0, isRefusal: true })
    expect(traffic.breaker(channel(1))).toBe('open')
  })

  it('keeps a bounded number of models per key, the latest ones, although callers make up names', () => {
    const { traffic } = open()
    for (let name = 0; name < 3000; name++) traffic.begin(channel(1), { ...asked, model: `m-${name}` }).failed(limited)
    const resting = Array.from({ length: 3000 }, (_, name) => traffic.restMs(channel(1), `m-${name}`) > 0)
    expect([resting.filter(Boolean).length, resting.lastIndexOf(true), resting.indexOf(true)]).toEqual([1000, 2999, 2000])
  })

  it('pauses a key for the model as long as the upstream asks, at most five minutes', () => {
    const { traffic, clock } = open()
    traffic.begin(channel(1), asked).failed(limited)
    traffic.begin(channel(2), asked).failed({ ...limited, retryAfter: 3600 })
    expect([traffic.restMs(channel(1), 'm'), traffic.restMs(channel(1), 'other')]).toEqual([20_000, 0])
    expect([traffic.restMs(channel(1, {}, 5), 'm'), traffic.restMs(channel(2), 'm')]).toEqual([0, 300_000])
    clock.passSeconds(20)
    expect(traffic.restMs(channel(1), 'm')).toBe(0)
  })

  it('enforces the limits of a channel: concurrency, requests per minute, tokens per minute', () => {
    const { traffic, clock } = open()
    const few = channel(1, { max_concurrency: 2 })
    const run = traffic.begin(few, asked)
    traffic.begin(few, asked)
    expect(traffic.reachedLimit(few, 1)).toEqual({ limit: 'concurrency', waitMs: expect.any(Number) })
    run.abandoned()
    expect(traffic.reachedLimit(few, 1)).toBeUndefined()

    const slow = channel(2, { max_requests_per_minute: 2 })
    for (let time = 0; time < 2; time++) traffic.begin(slow, asked).answered(1)
    expect(traffic.reachedLimit(slow, 1)).toEqual({ limit: 'requests-per-minute', waitMs: 60_000 })
    clock.passSeconds(60)
    expect(traffic.reachedLimit(slow, 1)).toBeUndefined()

    const short = channel(3, { max_tokens_per_minute: 1000 })
    traffic.begin(short, asked).answered(1)
    expect([900, 901].map((tokens) => traffic.reachedLimit(short, tokens)?.limit)).toEqual([undefined, 'tokens-per-minute'])
    traffic.used(short, 500)
    expect([400, 401].map((tokens) => traffic.reachedLimit(short, tokens)?.limit)).toEqual([undefined, 'tokens-per-minute'])
    expect(traffic.reachedLimit(channel(4, { max_tokens_per_minute: 1000 }), 5000)).toBeUndefined()
  })

  it('has no refusal to wait for where this node counts alone', () => {
    const { traffic } = open()
    const most = { max_concurrency: 1, max_requests_per_minute: 1, max_tokens_per_minute: 1 }
    expect([channel(1), channel(2, most)].map((each) => traffic.begin(each, asked).refusal)).toEqual([undefined, undefined])
  })

  it("enforces a channel's daily charge limit until midnight UTC", () => {
    const { traffic, clock } = open({ spent: new Map([[1, 500]]) })
    expect(traffic.reachedLimit(channel(1, { max_quota_per_day: 501 }), 1)).toBeUndefined()
    const { limit, waitMs = 0 } = traffic.reachedLimit(channel(1, { max_quota_per_day: 500 }), 1) ?? {}
    expect(limit).toBe('quota-per-day')
    expect(new Date(clock.nowMs + waitMs).toISOString()).toMatch(/T00:00:00.000Z$/)
  })

  it("measures a channel's speed, weighting recent requests most and forgetting old ones", () => {
    const { traffic, clock } = open()
    expect(traffic.latencyMs(channel(1))).toBeUndefined()
    traffic.begin(channel(1), asked).answered(1000)
    traffic.begin(channel(1), asked).answered(500)
    expect(traffic.latencyMs(channel(1))).toBe(900)
    clock.passSeconds(300)
    expect(traffic.latencyMs(channel(1))).toBeUndefined()
    traffic.begin(channel(1), asked).answered(100)
    expect(traffic.latencyMs(channel(1))).toBe(100)
  })

  it("computes a channel's cost: the price of the upstream model times the channel's ratio", () => {
    const { traffic } = open({ prices: { m: 2, cheap: 1 } })
    expect(traffic.price(channel(1), 'm')).toBe(2)
    expect(traffic.price(channel(1, { cost_ratio: 0.5 }), 'm')).toBe(1)
    expect(traffic.price({ ...channel(1), modelMapping: new Map([['m', 'cheap']]) }, 'm')).toBe(1)
    expect(traffic.price({ ...channel(1), modelMapping: new Map([['m', 'own-name']]) }, 'm')).toBe(2)
    expect(traffic.price(channel(1), 'unpriced')).toBeUndefined()
  })

  it('remembers for an hour where a conversation was answered', () => {
    const { traffic, clock } = open()
    traffic.remember('s', channel(1, {}, 7))
    expect([traffic.keyOfSession('s'), traffic.keyOfSession('t')]).toEqual([7, undefined])
    clock.passSeconds(3601)
    expect(traffic.keyOfSession('s')).toBeUndefined()
  })

  it("knows the account of a key by its answers, and of other processes' answers", () => {
    const { traffic } = open()
    traffic.remember('s', channel(1, {}, 7), 'org-1')
    traffic.remember('t', channel(1, {}, 7))
    traffic.receive({ kind: 'session', session: 'u', keyId: 8, account: 'org-1' })
    expect([7, 8, 9].map((keyId) => traffic.accountOf(keyId))).toEqual(['org-1', 'org-1', undefined])
  })
})
