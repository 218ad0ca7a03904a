import { describe, expect, it, vi } from 'vitest'
import type { Queries } from '../../base/db/open.ts'
import { SearchQueue } from './search-queue.ts'

/** A search that ends when aborted. */
class Search {
  hasBegun = false
  signal: AbortSignal | undefined
  end: (value: string) => void = () => {}
  readonly outcome: Promise<string>

  constructor(queue: TestQueue, filter: string, { userId = 1, left = new AbortController().signal } = {}) {
    this.outcome = queue
      .run({ userId, filter, signal: left }, () => {
        this.hasBegun = true
        this.signal = queue.signals.at(-1)
        return new Promise<string>((resolve) => {
          this.end = resolve
        })
      })
      .catch((error: { code: string }) => error.code)
  }
}

class TestQueue extends SearchQueue {
  readonly signals: (AbortSignal | undefined)[]

  constructor(limits = { waitMs: 60_000, crowdWaitMs: 60_000, runMs: 60_000 }, connections = 10) {
    const signals: (AbortSignal | undefined)[] = []
    const queries = (signal?: AbortSignal) => {
      signals.push(signal)
      // The query is not part of this test.
      return undefined as unknown as Queries
    }
    super({ queries, connections }, limits)
    this.signals = signals
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('the searches of a user', () => {
  it('run two at a time, four wait in their order, and the next is refused', async () => {
    const queue = new TestQueue()
    const all = Array.from({ length: 7 }, (_, at) => new Search(queue, `filter ${at}`))
    const begun = () => all.map(({ hasBegun }) => Number(hasBegun)).join('')
    expect(await all[6]?.outcome).toBe('log_searches_busy')
    expect(begun()).toBe('1100000')
    for (const [at, next] of [
      [1, '1110000'],
      [0, '1111000'],
      [2, '1111100'],
      [3, '1111110'],
    ] as const) {
      all[at]?.end('found')
      expect(await all[at]?.outcome).toBe('found')
      await settled()
      expect(begun()).toBe(next)
    }
  })

  it('do not delay those of another user', async () => {
    const queue = new TestQueue()
    for (let at = 0; at < 6; at++) new Search(queue, `filter ${at}`)
    const other = new Search(queue, 'filter', { userId: 2 })
    await settled()
    expect(other.hasBegun).toBe(true)
  })

  it('of all users are limited to the capacity of the reader', async () => {
    const queue = new TestQueue(undefined, 1)
    const all = Array.from({ length: 5 }, (_, at) => new Search(queue, 'filter', { userId: at }))
    await settled()
    expect(all.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false, false, false])
    all[0]?.end('found')
    await all[0]?.outcome
    await settled()
    expect(all.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, false, false])
  })

  it('of a crowd: those that can begin within the limit wait, the others are refused when they arrive and told when to come back', async () => {
    // Searches are assumed to take 100 ms, two run: behind n others a search waits (n - 1) / 2 times as long.
    const queue = new TestQueue({ waitMs: 60_000, crowdWaitMs: 60_000, runMs: 60_000 }, 1)
    const all = Array.from({ length: 1252 }, (_, at) => new Search(queue, 'filter', { userId: at }))
    const refused = all.slice(1202)
    expect(new Set(await Promise.all(refused.map(({ outcome }) => outcome)))).toEqual(new Set(['log_searches_busy']))
    await settled()
    expect(all.filter(({ hasBegun }) => hasBegun)).toHaveLength(2)
    const late = queue.run({ userId: 9999, filter: '', signal: new AbortController().signal }, async () => {})
    await expect(late).rejects.toMatchObject({ code: 'log_searches_busy', params: { seconds: 61 } })
    for (const search of all.slice(0, 20)) {
      await vi.waitUntil(() => search.hasBegun)
      search.end('found')
      expect(await search.outcome).toBe('found')
    }
  })

  it('that wait behind those of others for longer than expected are refused, and those behind their own user wait on', async () => {
    const queue = new TestQueue({ waitMs: 60_000, crowdWaitMs: 100, runMs: 60_000 }, 1)
    const [first, second] = [new Search(queue, 'a'), new Search(queue, 'b')]
    const [own, other] = [new Search(queue, 'c'), new Search(queue, 'a', { userId: 2 })]
    expect(await other.outcome).toBe('log_searches_busy')
    first.end('found')
    second.end('found')
    await vi.waitUntil(() => own.hasBegun)
    own.end('found')
    expect(await own.outcome).toBe('found')
  })

  it('for the same filter replace each other, whether the older runs or waits', async () => {
    const queue = new TestQueue()
    const running = new Search(queue, 'same')
    new Search(queue, 'another')
    const waiting = new Search(queue, 'third')
    await settled()

    const newer = new Search(queue, 'same')
    expect(await running.outcome).toBe('log_search_cancelled')
    expect(running.signal?.aborted).toBe(true)
    await settled()
    // The search that has waited longest gets the slot of the cancelled one.
    expect([waiting.hasBegun, newer.hasBegun]).toEqual([true, false])

    const newest = new Search(queue, 'same')
    expect(await newer.outcome).toBe('log_search_cancelled')
    expect([newer.hasBegun, newest.hasBegun]).toEqual([false, false])
    waiting.end('found')
    await waiting.outcome
    await settled()
    expect(newest.hasBegun).toBe(true)
  })

  it('are aborted when the caller no longer waits for the result', async () => {
    const queue = new TestQueue()
    const caller = new AbortController()
    const search = new Search(queue, 'filter', { left: caller.signal })
    await settled()
    caller.abort()
    expect(await search.outcome).toBe('log_search_cancelled')
    expect(search.signal?.aborted).toBe(true)
    expect(await new Search(queue, 'filter', { left: caller.signal }).outcome).toBe('log_search_cancelled')
  })

  it('that exceed the time limit, running or waiting, are stopped with an error', async () => {
    const slow = new TestQueue({ waitMs: 60_000, crowdWaitMs: 60_000, runMs: 1 })
    expect(await new Search(slow, 'filter').outcome).toBe('log_search_timeout')
    const crowded = new TestQueue({ waitMs: 1, crowdWaitMs: 60_000, runMs: 60_000 })
    const [first] = [new Search(crowded, 'a'), new Search(crowded, 'b')]
    expect(await new Search(crowded, 'c').outcome).toBe('log_searches_busy')
    expect(first?.hasBegun).toBe(true)
  })
})
