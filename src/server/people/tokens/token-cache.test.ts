import { describe, expect, it } from 'vitest'
import { TokenCache } from './token-cache.ts'

interface Entry {
  tokenId: number
  userId: number
  version: number
}

/** A table of entries whose loads finish when the test lets them. */
function aCache(options: { max?: number } = {}) {
  const rows = new Map<string, Entry>()
  const waiting: (() => void)[] = []
  const state = { now: 1_000_000, loads: 0, held: false }

  const cache = new TokenCache<Entry>({
    ...options,
    now: () => state.now,
    load: async (hash) => {
      state.loads++
      const row = rows.get(hash)
      const read = row ? { ...row } : null
      if (state.held) await new Promise<void>((resolve) => waiting.push(resolve))
      return read
    },
  })
  const finishLoads = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  return { cache, rows, state, finishLoads }
}

const aRow = (tokenId: number, userId = 1, version = 1): Entry => ({ tokenId, userId, version })

describe('token cache', () => {
  it('returns a token synchronously after the first load, for a minute', async () => {
    const { cache, rows, state } = aCache()
    rows.set('a', aRow(1))
    expect(cache.peek('a')).toBeUndefined()
    await cache.find('a')
    expect(cache.peek('a')?.tokenId).toBe(1)

    state.now += 59_999
    expect(cache.peek('a')?.tokenId).toBe(1)
    state.now += 1
    expect(cache.peek('a')).toBeUndefined()
    await cache.find('a')
    expect(state.loads).toBe(2)
  })

  it('does not keep entries longer when the clock is set back', async () => {
    const { cache, rows, state } = aCache()
    rows.set('a', aRow(1))
    await cache.find('a')
    state.now -= 86_400_000
    expect(cache.peek('a')).toBeUndefined()
  })

  it('caches unknown keys for a short time only', async () => {
    const { cache, rows, state } = aCache()
    expect(await cache.find('a')).toBeNull()
    expect(cache.peek('a')).toBeNull()
    rows.set('a', aRow(1))
    state.now += 5_000
    expect((await cache.find('a'))?.tokenId).toBe(1)
  })

  it('drops unknown keys with every change, so that a new key works at once', async () => {
    const { cache, rows } = aCache()
    await cache.find('a')
    rows.set('a', aRow(1))
    cache.dropToken(1)
    expect((await cache.find('a'))?.tokenId).toBe(1)
  })

  it('shares one load between concurrent requests for an uncached key', async () => {
    const { cache, rows, state } = aCache()
    rows.set('a', aRow(1))
    await Promise.all([cache.find('a'), cache.find('a'), cache.find('a')])
    expect(state.loads).toBe(1)
  })

  it('loads again after a failed load', async () => {
    let broken = true
    const cache = new TokenCache<Entry>({
      now: () => 0,
      load: async () => {
        if (broken) throw new Error('database is away')
        return aRow(1)
      },
    })
    await expect(cache.find('a')).rejects.toThrow('away')
    broken = false
    expect((await cache.find('a'))?.tokenId).toBe(1)
  })

  it('drops one token, the tokens of one user, or all', async () => {
    const { cache, rows } = aCache()
    const all = ['a', 'b', 'c', 'd']
    rows.set('a', aRow(1, 1)).set('b', aRow(2, 1)).set('c', aRow(3, 2)).set('d', aRow(4, 3))
    const fill = () => Promise.all(all.map((hash) => cache.find(hash)))
    const kept = () => all.filter((hash) => cache.peek(hash))

    await fill()
    cache.dropToken(4)
    expect(kept()).toEqual(['a', 'b', 'c'])
    cache.dropUser(1)
    expect(kept()).toEqual(['c'])
    await fill()
    cache.dropUser(0)
    expect(kept()).toEqual([])
    await fill()
    cache.dropToken(0)
    expect(kept()).toEqual([])
  })

  it('does not cache entries whose load began before a change', async () => {
    for (const change of ['dropToken', 'dropUser'] as const) {
      const { cache, rows, state, finishLoads } = aCache()
      rows.set('a', aRow(1, 1, 1))
      state.held = true
      const early = cache.find('a')
      rows.set('a', aRow(1, 1, 2))
      cache[change](1)
      finishLoads()
      await early
      expect(cache.peek('a')).toBeUndefined()
    }
  })

  it('does not share a load that began before a change with later requests', async () => {
    const { cache, rows, state, finishLoads } = aCache()
    rows.set('a', aRow(1, 1, 1))
    state.held = true
    const early = cache.find('a')
    rows.set('a', aRow(1, 1, 2))
    cache.dropToken(1)
    const late = cache.find('a')
    finishLoads()

    expect((await early)?.version).toBe(1)
    expect((await late)?.version).toBe(2)
    expect(cache.peek('a')?.version).toBe(2)
  })

  it('caches no more entries than its bound and still drops by user after evictions', async () => {
    const { cache, rows } = aCache({ max: 2 })
    for (const id of [1, 2, 3]) rows.set(`hash ${id}`, aRow(id))
    for (const hash of rows.keys()) await cache.find(hash)
    expect(cache.peek('hash 1')).toBeUndefined()
    expect(cache.peek('hash 3')?.tokenId).toBe(3)
    cache.dropUser(1)
    expect(cache.peek('hash 2')).toBeUndefined()
    expect(cache.peek('hash 3')).toBeUndefined()
  })
})
