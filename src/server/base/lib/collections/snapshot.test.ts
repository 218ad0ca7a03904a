import { describe, expect, it } from 'vitest'
import { Snapshot } from './snapshot.ts'

describe('a snapshot', () => {
  it('throws before it was loaded', () => {
    expect(() => new Snapshot(async () => 1).current).toThrow()
  })

  it('is loaded again only once for all refreshes that are requested while it loads', async () => {
    let loads = 0
    const snapshot = new Snapshot(async () => ++loads)
    const all = await Promise.all([snapshot.refresh(), snapshot.refresh(), snapshot.refresh()])
    expect(all).toEqual([2, 2, 2])
    expect(snapshot.current).toBe(2)
  })

  it('never misses a change, in whichever microtask it is announced', async () => {
    for (let delay = 0; delay < 12; delay++) {
      let truth = 'old'
      const snapshot = new Snapshot(async () => truth)
      const first = snapshot.refresh()
      for (let step = 0; step < delay; step++) await undefined
      truth = 'new'
      await snapshot.refresh()
      expect([delay, snapshot.current]).toEqual([delay, 'new'])
      await first
    }
  })

  it('keeps the old value when a load fails, and loads again for the next refresh', async () => {
    let fails = false
    const snapshot = new Snapshot(async () => {
      if (fails) throw new Error('no database')
      return 'value'
    })
    await snapshot.refresh()
    fails = true
    await expect(snapshot.refresh()).rejects.toThrow('no database')
    expect(snapshot.current).toBe('value')
    fails = false
    await expect(snapshot.refresh()).resolves.toBe('value')
  })

  it('retries after a change until a load succeeds, after any number of failures, and stops when it is closed', async () => {
    const reads: string[] = []
    let truth = 'old'
    let failures = 0
    const snapshot = new Snapshot(
      async () => {
        if (failures-- > 0) throw new Error('no database')
        reads.push(truth)
        return truth
      },
      { retryMs: 1 },
    )
    await snapshot.refresh()
    truth = 'new'
    failures = 3
    const told: unknown[] = []
    for (let news = 0; news < 2; news++) snapshot.follow((error) => told.push(error))
    await expect.poll(() => snapshot.current).toBe('new')
    expect([told.length, reads]).toEqual([expect.any(Number), ['old', 'new']])
    expect(told.length).toBeGreaterThan(0)

    failures = Number.POSITIVE_INFINITY
    snapshot.close()
    const before = told.length
    snapshot.follow((error) => told.push(error))
    await expect.poll(() => told.length).toBe(before + 1)
    failures = 0
    expect(reads).toEqual(['old', 'new'])
  })
})
