import { describe, expect, it } from 'vitest'
import { providerById } from '../../providers/index.ts'
import { type ChannelIndex, indexChannels, type RunningChannel } from '../index/model-index.ts'
import { readModelMapping } from '../row/read-columns.ts'
import { candidatesOf } from './candidates.ts'
import { type Conditions, resolveModel, type Selection, selectChannel, selectPinned } from './select.ts'

describe('the channel of a request', () => {
  it('has the highest priority, or the next one only when all channels of the highest were tried', () => {
    const index = indexChannels([running(1, { priority: 5 }), running(2, { priority: 9 }), running(3, { priority: 9 })])
    const order = drain(index)
    expect(new Set(order.slice(0, 2))).toEqual(new Set([2, 3]))
    expect(order.slice(2)).toEqual([1])
  })

  it('never repeats a tried channel', () => {
    const index = indexChannels([running(1), running(2), running(3)])
    for (let seed = 0; seed < 50; seed++) expect(new Set(drain(index, seeded(seed))).size).toBe(3)
    expect(select(index, { tried: new Set([1, 2, 3]) })).toBeUndefined()
  })

  it('is drawn by weight plus ten, so that weight 0 gets its share too', () => {
    const index = indexChannels([running(1, { weight: 0 }), running(2, { weight: 10 }), running(3, { weight: 60 })])
    const random = seeded(42)
    const hits = new Map<number, number>()
    const draws = 50_000
    for (let draw = 0; draw < draws; draw++) {
      const id = select(index, {}, random)?.id ?? 0
      hits.set(id, (hits.get(id) ?? 0) + 1)
    }
    expect((hits.get(1) ?? 0) / draws).toBeCloseTo(0.1, 2)
    expect((hits.get(2) ?? 0) / draws).toBeCloseTo(0.2, 2)
    expect((hits.get(3) ?? 0) / draws).toBeCloseTo(0.7, 2)
  })

  it('is found at both ends of the range of random numbers', () => {
    const index = indexChannels([running(1, { weight: 3 }), running(2, { weight: 1e9 })])
    expect(select(index, {}, () => 0)?.id).toBe(1)
    expect(select(index, {}, () => 1 - Number.EPSILON / 2)?.id).toBe(2)
  })

  it('supports the format, even if only channels of a lower priority do', () => {
    const index = indexChannels([
      running(1, { priority: 9, type: 14 }),
      running(2, { type: 1 }),
      running(3, { priority: 99, type: 2 }),
    ])
    expect(select(index, { format: 'openai.embeddings' })?.id).toBe(2)
    expect(select(index, { format: 'anthropic.messages' })?.id).toBe(1)
    expect(select(indexChannels([running(3, { type: 2 })]), {})).toBeUndefined()
  })

  it('accepts prompts of the given length', () => {
    const index = indexChannels([running(1, { priority: 9, maxInputTokens: 1000 }), running(2)])
    expect(select(index, { inputTokens: 1000 })?.id).toBe(1)
    expect(select(index, { inputTokens: 1001 })?.id).toBe(2)
    expect(select(index, {})?.id).toBe(1)
  })

  it('serves exactly this model to exactly this group', () => {
    const index = indexChannels([running(1, { models: new Set(['a', 'b']), groups: new Set(['vip', 'default']) })])
    expect(select(index, { model: 'b', group: 'vip' })?.id).toBe(1)
    for (const miss of [{ model: 'A' }, { group: 'VIP' }, { model: 'constructor' }, { group: '__proto__' }]) {
      expect(select(index, { model: 'a', ...miss })).toBeUndefined()
    }
    expect(index.modelsOf('vip')).toEqual(['a', 'b'])
    expect(index.modelsOf('other')).toEqual([])
  })
})

describe('the key of a channel', () => {
  const three = (setting: RunningChannel['setting'] = {}) =>
    indexChannels([1, 2, 3].map((keyId) => running(7, { keyId, key: `k${keyId}`, setting })))

  it('does not add to the weight of its channel', () => {
    const index = indexChannels([running(7, { keyId: 1 }), running(7, { keyId: 2 }), running(7, { keyId: 3 }), running(8)])
    const random = seeded(7)
    const hits = Array.from({ length: 10_000 }, () => select(index, {}, random)?.id).filter((id) => id === 8)
    expect(hits.length / 10_000).toBeCloseTo(0.5, 1)
  })

  it('is chosen at random, in turn, or by the conversation', () => {
    const random = seeded(1)
    const drawn = new Set(Array.from({ length: 100 }, () => select(three(), {}, random)?.key))
    expect(drawn).toEqual(new Set(['k1', 'k2', 'k3']))
    const inTurn = [0, 1, 2, 3].map((turn) => look(three({ key_mode: 'round-robin' }), {}, { turn: () => turn }).channel?.key)
    expect(inTurn).toEqual(['k1', 'k2', 'k3', 'k1'])
    const ofSession = (key: string) =>
      look(three({ key_mode: 'session' }), { session: () => ({ key, isKnown: true }) }).channel?.key
    const sessions = Array.from({ length: 60 }, (_, at) => `conversation ${at}`)
    expect(sessions.map(ofSession)).toEqual(sessions.map(ofSession))
    expect(new Set(sessions.map(ofSession))).toEqual(new Set(['k1', 'k2', 'k3']))
  })

  it('is another key after the failure of one, and undefined when all were tried', () => {
    const triedKeys = new Set<number>()
    for (let tries = 0; tries < 3; tries++) triedKeys.add(select(three(), { triedKeys })?.keyId ?? 0)
    expect(triedKeys).toEqual(new Set([1, 2, 3]))
    expect(select(three(), { triedKeys })).toBeUndefined()
    expect(select(three(), { tried: new Set([7]) })).toBeUndefined()
  })

  it('is a working one if the caller named the channel, or any key when none works', () => {
    const pinned = (conditions: Partial<Conditions>) =>
      selectPinned(three(), { id: 7, model: 'm' }, { ...calm, ...conditions, random: () => 0 })
    expect(pinned({ breaker: ({ keyId }) => (keyId === 1 ? 'open' : 'closed') })).toMatchObject({
      channel: { keyId: 2 },
      choice: 'pinned',
    })
    expect(pinned({ restMs: () => 1000 })).toMatchObject({ channel: { keyId: 1 } })
    expect(selectPinned(three(), { id: 8, model: 'm' }, calm)).toEqual({ channel: undefined, waitMs: 0 })
  })
})

describe('a channel that is failing', () => {
  const index = indexChannels([running(1, { priority: 9 }), running(2), running(3)])
  const failing = (...ids: number[]): Partial<Conditions> => ({ breaker: ({ id }) => (ids.includes(id) ? 'open' : 'closed') })

  it('is skipped while another is left, even of a lower priority', () => {
    expect(look(index, {}, failing(1, 2))).toMatchObject({ channel: { id: 3 }, choice: 'only' })
  })

  it('is called nevertheless when all channels fail, in the order of priority', () => {
    expect(look(index, {}, failing(1, 2, 3))).toMatchObject({ channel: { id: 1 }, choice: 'last-resort' })
  })

  it('is selected while its breaker is half-open', () => {
    expect(look(index, {}, { breaker: () => 'half-open' })).toMatchObject({ channel: { id: 1 }, choice: 'only' })
  })

  it('is skipped while it is full, and the caller gets the time to wait', () => {
    expect(look(index, { full: new Map([[1, full(5000)]]), tried: new Set([2]) })).toMatchObject({
      channel: { id: 3 },
      choice: 'only',
    })
    const all = [1, 2, 3].map((id) => [id, full(5000 - id)] as const)
    expect(look(index, { full: new Map(all) })).toMatchObject({ channel: undefined, waitMs: 4997 })
  })

  it('is skipped for the time of its Retry-After, and the caller gets the time to wait', () => {
    const restMs = ({ id }: RunningChannel) => id * 1000
    expect(look(index, {}, { restMs })).toMatchObject({ channel: undefined, waitMs: 1000 })
    expect(look(index, {}, { restMs: ({ id }) => (id === 2 ? 0 : 1000) })).toMatchObject({ channel: { id: 2 } })
  })

  it('is skipped at its limits, which also apply to last resorts', () => {
    expect(
      look(index, {}, { reachedLimit: ({ id }) => (id === 1 ? full(500) : undefined), breaker: () => 'open' }),
    ).toMatchObject({
      choice: 'last-resort',
      channel: { priority: 0 },
    })
    expect(look(index, {}, { reachedLimit: () => full(500) })).toMatchObject({ channel: undefined, waitMs: 500 })
    expect(look(index, { model: 'other' }, { reachedLimit: () => full(500) })).toEqual({ channel: undefined, waitMs: 0 })
  })
})

describe('a conversation', () => {
  const index = indexChannels([running(1, { priority: 9 }), running(2), running(3, { weight: 20 })])
  const level = indexChannels([running(1), running(2), running(3, { weight: 20 })])
  const session = (key = 'one') => ({ session: () => ({ key, isKnown: true }) })

  it('continues with the channel and key that answered it last, while they are healthy', () => {
    const keyOfSession = () => 2
    expect(look(index, session(), { keyOfSession })).toMatchObject({ channel: { id: 2 }, choice: 'session' })
    for (const not of [
      { breaker: ({ id }: RunningChannel) => (id === 2 ? ('open' as const) : ('closed' as const)) },
      { reachedLimit: ({ id }: RunningChannel) => (id === 2 ? full(1) : undefined) },
    ])
      expect(look(index, session(), { keyOfSession, ...not })).toMatchObject({ channel: { id: 1 } })
    expect(look(index, { ...session(), tried: new Set([2]) }, { keyOfSession })).toMatchObject({ channel: { id: 1 } })
    expect(look(index, { ...session(), triedKeys: new Set([2]) }, { keyOfSession })).toMatchObject({ channel: { id: 1 } })
  })

  it('[297] continues with another key of the same account, before channels of a higher priority', () => {
    const accounts = new Map([
      [1, 'one'],
      [2, 'two'],
      [3, 'two'],
    ])
    const conditions = { keyOfSession: () => 2, accountOf: (keyId: number) => accounts.get(keyId) }
    const after = (...tried: number[]) => look(index, { ...session(), tried: new Set(tried) }, conditions)
    expect(after()).toMatchObject({ channel: { id: 2 }, choice: 'session' })
    expect(after(2)).toMatchObject({ channel: { id: 3 }, choice: 'session' })
    expect(after(2, 3)).toMatchObject({ channel: { id: 1 } })
    accounts.delete(2)
    expect(after(2)).toMatchObject({ channel: { id: 1 } })
  })

  it('continues with a key of the same account among the keys of its channel', () => {
    const keys = indexChannels([11, 12, 13].map((keyId) => running(1, { keyId })))
    const accountOf = (keyId: number) => (keyId === 12 ? 'other' : 'own')
    const conditions = { keyOfSession: () => 11, accountOf, random: () => 0 }
    const after = (...triedKeys: number[]) => look(keys, { ...session(), triedKeys: new Set(triedKeys) }, conditions)
    expect([after(), after(11), after(11, 13)].map(({ channel }) => channel?.keyId)).toEqual([11, 13, 12])
  })

  it('finds the same channel on every node, and others share by weight', () => {
    const hits = new Map<number, number>()
    for (let at = 0; at < 4000; at++) {
      const [one, other] = [look(level, session(`s${at}`)), look(level, session(`s${at}`))]
      expect(one).toEqual(other)
      expect(one.channel && one.choice).toBe('session')
      hits.set(one.channel?.id ?? 0, (hits.get(one.channel?.id ?? 0) ?? 0) + 1)
    }
    expect((hits.get(1) ?? 0) / 4000).toBeCloseTo(0.2, 1)
    expect((hits.get(3) ?? 0) / 4000).toBeCloseTo(0.6, 1)
  })

  it('moves only when its own channel is removed: all others stay', () => {
    const fewer = indexChannels([running(1), running(3, { weight: 20 })])
    for (let at = 0; at < 300; at++) {
      const before = look(level, session(`s${at}`)).channel?.id
      if (before !== 2) expect(look(fewer, session(`s${at}`)).channel?.id).toBe(before)
    }
  })

  it('may go to any channel with its first turn', () => {
    const first = { session: () => ({ key: 'one', isKnown: false }) }
    const random = seeded(3)
    const hits = new Set(Array.from({ length: 100 }, () => look(level, first, { random, keyOfSession: () => 1 }).channel?.id))
    expect(hits).toEqual(new Set([1, 2, 3]))
  })

  it('is not computed when there is nothing to choose', () => {
    const session = () => {
      throw new Error('It was asked for')
    }
    expect(look(indexChannels([running(1)]), { session })).toMatchObject({ channel: { id: 1 }, choice: 'only' })
  })
})

describe('the strategy of a group', () => {
  const index = indexChannels([running(1), running(2), running(3, { weight: 90 }), running(4, { priority: -1 })])

  it('least-busy selects the channel with the fewest requests for its weight', () => {
    const load = new Map([
      [1, 2],
      [2, 3],
      [3, 10],
    ])
    const conditions = { running: ({ id }: RunningChannel) => load.get(id) ?? 0 }
    expect(look(index, { strategy: 'least-busy' }, conditions)).toMatchObject({ channel: { id: 3 }, choice: 'least-busy' })
  })

  it('lowest-latency selects the fastest channel, but first those without measurements', () => {
    const known = new Map([
      [1, 300],
      [2, 200],
    ])
    const latencyMs = ({ id }: RunningChannel) => known.get(id)
    expect(look(index, { strategy: 'lowest-latency' }, { latencyMs })).toMatchObject({ channel: { id: 3 } })
    known.set(3, 900)
    expect(look(index, { strategy: 'lowest-latency' }, { latencyMs })).toMatchObject({
      channel: { id: 2 },
      choice: 'lowest-latency',
    })
  })

  it('cheapest selects the channel with the lowest price, and one without a price last', () => {
    const price = ({ id }: RunningChannel) => (id === 1 ? undefined : id)
    expect(look(index, { strategy: 'cheapest' }, { price })).toMatchObject({ channel: { id: 2 }, choice: 'cheapest' })
  })

  it('never goes against priority, and draws by weight among equals', () => {
    const hits = new Set(Array.from({ length: 300 }, () => look(index, { strategy: 'least-busy' }).channel?.id))
    expect(hits).toEqual(new Set([1, 2, 3]))
  })
})

describe('the candidates of a choice', () => {
  const candidates = (index: ChannelIndex, given: Partial<Selection> = {}, conditions: Partial<Conditions> = {}) => {
    const { considered } = look(index, given, conditions)
    return considered && candidatesOf(considered)
  }

  it('are stored with the reason of each exclusion, including the tiers that were not examined', () => {
    const index = indexChannels([
      ...[1, 2, 3, 4, 5, 6, 7].map((id) => running(id, { priority: 9, weight: id })),
      running(8, { priority: 9, type: 2 }),
      running(9, { priority: 9, maxInputTokens: 10 }),
      running(10, { priority: 5 }),
      running(11, { priority: 99, models: new Set(['m*']) }),
    ])
    const conditions: Partial<Conditions> = {
      breaker: ({ id }) => (id === 2 ? 'open' : 'closed'),
      restMs: ({ id }) => (id === 3 ? 1000 : 0),
      reachedLimit: ({ id }) => (id === 4 ? full(1) : undefined),
      random: () => 0,
    }
    const given = {
      inputTokens: 11,
      tried: new Set([1]),
      triedKeys: new Set([5]),
      full: new Map([[6, { limit: 'budget' as const, waitMs: 1 }]]),
    }
    const expected = [
      ['failed', 'breaker', 'retry-after', 'concurrency', 'failed', 'budget', undefined, 'format', 'prompt-length'],
      ['lower-priority', 'pattern'],
    ]
    const kept = candidates(index, given, conditions)
    expect(kept?.listed.map(({ excluded }) => excluded)).toEqual(expected.flat())
    expect(kept?.listed.slice(6, 8)).toEqual([
      { channel: 7, priority: 9, weight: 7 },
      { channel: 8, priority: 9, excluded: 'format' },
    ])
    expect(kept?.more).toBeUndefined()
  })

  it('are stored when no channel was left, and with a last resort', () => {
    const index = indexChannels([running(1), running(2, { priority: -1 })])
    expect(candidates(index, {}, { restMs: () => 1 })?.listed).toEqual([
      { channel: 1, excluded: 'retry-after' },
      { channel: 2, priority: -1, excluded: 'retry-after' },
    ])
    const only = indexChannels([running(1)])
    expect(candidates(only, {}, { breaker: () => 'open' })?.listed).toEqual([{ channel: 1, excluded: 'breaker' }])
    expect(candidates(only, {}, { reachedLimit: () => full(1) })?.listed).toEqual([{ channel: 1, excluded: 'concurrency' }])
  })

  it('are not stored for a single channel without an exclusion, nor for later choices of a long chain', () => {
    expect(candidates(indexChannels([running(1)]))).toBeUndefined()
    expect(candidates(indexChannels([running(1, { keyId: 1 }), running(1, { keyId: 2 })]))).toBeUndefined()
    expect(candidates(indexChannels([]))).toBeUndefined()
    const index = indexChannels(Array.from({ length: 9 }, (_, at) => running(at + 1)))
    expect(candidates(index, { tried: new Set([1, 2, 3]), triedKeys: new Set([4]) })?.listed).toHaveLength(9)
    expect(candidates(index, { tried: new Set([1, 2, 3, 4]), triedKeys: new Set([5]) })).toBeUndefined()
  })

  it('have the scores that the strategy compared', () => {
    const index = indexChannels([running(1), running(2), running(3), running(4, { priority: -1 })])
    const latencyMs = ({ id }: RunningChannel) => (id === 3 ? undefined : id * 100.123456)
    expect(candidates(index, { strategy: 'lowest-latency' }, { latencyMs })?.listed).toEqual([
      { channel: 1, score: 100.1 },
      { channel: 2, score: 200.2 },
      { channel: 3 },
      { channel: 4, priority: -1, excluded: 'lower-priority' },
    ])
  })

  it('include the others when a conversation stays on its channel', () => {
    const index = indexChannels([running(1, { priority: 9 }), running(2), running(3)])
    const session = () => ({ key: 'one', isKnown: true })
    expect(candidates(index, { session }, { keyOfSession: () => 2 })?.listed).toEqual([
      { channel: 1, priority: 9, excluded: 'session' },
      { channel: 2 },
      { channel: 3, excluded: 'session' },
    ])
  })

  it('are listed up to 20, always with the chosen one, and the rest is counted', () => {
    const index = indexChannels(Array.from({ length: 50 }, (_, at) => running(at + 1)))
    const kept = candidates(index, {}, { random: () => 0.999 })
    expect(kept?.listed.map(({ channel }) => channel)).toEqual([...Array.from({ length: 20 }, (_, at) => at + 1), 50])
    expect(kept?.more).toBe(29)
  })
})

describe('a model that no channel names', () => {
  const models = (...names: string[]) => ({ models: new Set(names) })
  const ids = (index: ChannelIndex, model: string) => index.candidates('default', model).map((tier) => tier.map(({ id }) => id))

  it('is served by channels with a matching pattern, after those that name it', () => {
    const index = indexChannels([
      running(1, { ...models('gpt-4*', 'o3'), priority: 9 }),
      running(2, models('gpt-4o', 'gpt-*')),
      running(3, models('gpt-*-mini', 'gpt-4*')),
      running(4, { ...models('*'), groups: new Set(['vip']) }),
    ])
    expect(ids(index, 'gpt-4o')).toEqual([[2], [1], [3]])
    expect(ids(index, 'gpt-4.1')).toEqual([[1], [2, 3]])
    expect(ids(index, 'gpt-4.1')).toEqual([[1], [2, 3]])
    expect(ids(index, 'gpt-5-mini')).toEqual([[2, 3]])
    expect(ids(index, 'o3-mini')).toEqual([])
    expect(index.candidates('vip', 'anything').flat()).toHaveLength(1)
    expect([index.modelsOf('default'), index.modelsOf('vip')]).toEqual([['gpt-4o', 'o3'], []])
    expect([index.hasPatterns('default'), index.hasPatterns('vip'), index.hasPatterns('none')]).toEqual([true, true, false])
  })

  it('stays within bounded memory when callers make up names', () => {
    const index = indexChannels([running(1, models('*'))])
    for (let at = 0; at < 5000; at++) expect(ids(index, `made-up-${at}`)).toEqual([[1]])
  })
})

describe('a redirected model', () => {
  const resolve = (mapping: object, model: string) =>
    resolveModel(running(1, { modelMapping: readModelMapping(JSON.stringify(mapping)) }), model)

  it('is the one at the end of its chain', () => {
    const mapping = { a: 'b', b: 'c', c: 'd', x: 'b' }
    expect(['a', 'b', 'c', 'x', 'd', 'z'].map((model) => resolve(mapping, model))).toEqual(['d', 'd', 'd', 'd', 'd', 'z'])
  })

  it('cannot lead back to itself', () => {
    for (const mapping of [{ a: 'a' }, { a: 'b', b: 'a' }, { x: 'a', a: 'b', b: 'c', c: 'b' }]) {
      expect(() => resolve(mapping, 'a')).toThrow('loop')
    }
  })

  it('is found quickly in long chains', () => {
    const mapping = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`m${at}`, `m${at + 1}`]))
    expect(resolve(mapping, 'm0')).toBe('m5000')
  })

  it('is not confused with members of Object.prototype', () => {
    expect(resolve({ a: 'b' }, 'constructor')).toBe('constructor')
    expect(resolveModel(running(1, { modelMapping: readModelMapping('{"__proto__":"b"}') }), 'toString')).toBe('toString')
  })
})

function running(id: number, given: Partial<RunningChannel> = {}): RunningChannel {
  const provider = providerById(given.type ?? 1)
  if (!provider) throw new Error('No such provider')
  return {
    id,
    type: 1,
    provider,
    name: `channel ${id}`,
    key: 'k',
    keyId: id,
    keySealed: '',
    siteId: '',
    promptPolicy: 'closed',
    promptAdditions: new Map(),
    modelEnds: new Map(),
    baseUrl: provider.baseUrl,
    organization: '',
    other: '',
    setting: {},
    models: new Set(['m']),
    groups: new Set(['default']),
    modelMapping: new Map(),
    statusCodeMapping: new Map(),
    priority: 0,
    weight: 0,
    autoBan: true,
    tag: '',
    testModel: '',
    maxInputTokens: 0,
    ...given,
  }
}

/** Nothing is known of any channel. */
const calm: Conditions = {
  random: Math.random,
  restMs: () => 0,
  reachedLimit: () => undefined,
  breaker: () => 'closed',
  running: () => 0,
  turn: () => 0,
  latencyMs: () => undefined,
  price: () => undefined,
  keyOfSession: () => undefined,
  accountOf: () => undefined,
}

const full = (waitMs: number) => ({ limit: 'concurrency' as const, waitMs })

function look(index: ChannelIndex, given: Partial<Selection> = {}, conditions: Partial<Conditions> = {}) {
  const selection = { group: 'default', model: 'm', format: 'openai.chat' as const, tried: new Set<number>(), ...given }
  return selectChannel(index, selection, { ...calm, ...conditions })
}

function select(index: ChannelIndex, given: Partial<Selection> = {}, random: () => number = Math.random) {
  return look(index, given, { random }).channel
}

/** Ids of the channels, in order, for a request that every channel fails. */
function drain(index: ReturnType<typeof indexChannels>, random: () => number = Math.random): number[] {
  const tried = new Set<number>()
  for (let next = select(index, { tried }, random); next; next = select(index, { tried }, random)) tried.add(next.id)
  return [...tried]
}

/** A repeatable source of random numbers (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
