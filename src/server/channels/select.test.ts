import { describe, expect, it } from 'vitest'
import { providerById } from '../providers/index.ts'
import { indexChannels, type RunningChannel } from './model-index.ts'
import { resolveModel, type Selection, selectChannel } from './select.ts'
import { readModelMapping } from './values.ts'

describe('the channel of a request', () => {
  it('has the highest priority, and the next one only when all of those were tried', () => {
    const index = indexChannels([running(1, { priority: 5 }), running(2, { priority: 9 }), running(3, { priority: 9 })])
    const order = drain(index)
    expect(new Set(order.slice(0, 2))).toEqual(new Set([2, 3]))
    expect(order.slice(2)).toEqual([1])
  })

  it('is never one that was tried', () => {
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

  it('exists at both ends of the random source', () => {
    const index = indexChannels([running(1, { weight: 3 }), running(2, { weight: 1e9 })])
    expect(select(index, {}, () => 0)?.id).toBe(1)
    expect(select(index, {}, () => 1 - Number.EPSILON / 2)?.id).toBe(2)
  })

  it('speaks the format, even when only a lower priority does', () => {
    const index = indexChannels([
      running(1, { priority: 9, type: 14 }),
      running(2, { type: 1 }),
      running(3, { priority: 99, type: 24 }),
    ])
    expect(select(index, { format: 'openai.chat' })?.id).toBe(2)
    expect(select(index, { format: 'anthropic.messages' })?.id).toBe(1)
    expect(select(indexChannels([running(3, { type: 24 })]), {})).toBeUndefined()
  })

  it('takes prompts of that length', () => {
    const index = indexChannels([running(1, { priority: 9, maxInputTokens: 1000 }), running(2)])
    expect(select(index, { inputTokens: 1000 })?.id).toBe(1)
    expect(select(index, { inputTokens: 1001 })?.id).toBe(2)
    expect(select(index, {})?.id).toBe(1)
  })

  it('serves the very model to the very group', () => {
    const index = indexChannels([running(1, { models: new Set(['a', 'b']), groups: new Set(['vip', 'default']) })])
    expect(select(index, { model: 'b', group: 'vip' })?.id).toBe(1)
    for (const miss of [{ model: 'A' }, { group: 'VIP' }, { model: 'constructor' }, { group: '__proto__' }]) {
      expect(select(index, { model: 'a', ...miss })).toBeUndefined()
    }
    expect(index.modelsOf('vip')).toEqual(['a', 'b'])
    expect(index.modelsOf('other')).toEqual([])
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

  it('has nothing to do with the names of objects', () => {
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

function select(index: ReturnType<typeof indexChannels>, given: Partial<Selection> = {}, random: () => number = Math.random) {
  return selectChannel(index, { group: 'default', model: 'm', format: 'openai.chat', tried: new Set(), ...given }, random)
}

/** Ids of the channels of one request that fails everywhere. */
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
