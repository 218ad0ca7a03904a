import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { testLogger } from '../../../../test/helpers/logger.ts'
import { releaseLease, takeLease, withLease } from './lease.ts'

eachDatabase('leases', (fresh) => {
  const cleanups: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  /** Nodes over one database. */
  async function nodes(count: number) {
    const test = await fresh()
    cleanups.push(() => test.drop())
    const all = []
    for (let index = 0; index < count; index++) {
      const database = await test.open()
      cleanups.push(() => database.close())
      all.push({ database, now: Date.now, logger: testLogger(), node: `node-${index}` })
    }
    return all
  }

  it('are acquired by only one of many concurrent nodes', async () => {
    const all = await nodes(4)
    const tries = Array.from({ length: 40 }, (_, index) => {
      const parts = all[index % all.length]
      if (!parts) throw new Error('unreachable')
      return takeLease(parts, { name: 'sweep', holder: `holder-${index}`, ms: 60_000 })
    })
    expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1)
  })

  it('are renewed by their holder, refused to others, and free when released or expired', async () => {
    const [parts] = await nodes(1)
    if (!parts) throw new Error('unreachable')
    const take = (holder: string, ms = 60_000) => takeLease(parts, { name: 'sweep', holder, ms })
    expect([await take('a'), await take('a'), await take('b')]).toEqual([true, true, false])
    await releaseLease(parts, { name: 'sweep', holder: 'b' })
    expect(await take('b')).toBe(false)
    await releaseLease(parts, { name: 'sweep', holder: 'a' })
    expect([await take('b', -1), await take('c'), await take('b')]).toEqual([true, true, false])
    expect(await takeLease(parts, { name: 'other', holder: 'b', ms: 1000 })).toBe(true)
  })

  it('run work on one node at a time and are released, also when the work fails', async () => {
    const [a, b] = await nodes(2)
    if (!a || !b) throw new Error('unreachable')
    const inner = withLease(a, { name: 'sweep', ms: 60_000 }, async () => {
      expect(await withLease(b, { name: 'sweep', ms: 60_000 }, async () => 'b')).toBeUndefined()
      expect(await withLease(a, { name: 'sweep', ms: 60_000 }, async () => 'a again')).toBeUndefined()
      throw new Error('work failed')
    })
    await expect(inner).rejects.toThrow('work failed')
    expect(await withLease(b, { name: 'sweep', ms: 60_000 }, async () => 'b')).toBe('b')
  })

  it('last as long as the work', async () => {
    const [a, b] = await nodes(2)
    if (!a || !b) throw new Error('unreachable')
    const ms = 60_000
    const endMs = async () => (await a.database.db.selectFrom('leases').select('until_ms').executeTakeFirstOrThrow()).until_ms
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const result = await withLease(a, { name: 'sweep', ms }, async (signal) => {
      for (let times = 0; times < 4; times++) {
        const before = await endMs()
        await expect.poll(Date.now).toBeGreaterThan(before - ms)
        // Each time a third of the lease has passed.
        vi.advanceTimersByTime(ms / 3)
        await expect.poll(endMs).toBeGreaterThan(before)
      }
      return [signal.aborted, await takeLease(b, { name: 'sweep', holder: 'b', ms: 1000 })]
    })
    expect(result).toEqual([false, false])
  })

  it('abort their work when they are lost', async () => {
    const [a] = await nodes(1)
    if (!a) throw new Error('unreachable')
    const reason = await withLease(a, { name: 'sweep', ms: 150 }, async (signal) => {
      await a.database.db
        .updateTable('leases')
        .set({ holder: 'thief', until_ms: Date.now() + 60_000 })
        .execute()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return String(signal.reason)
    })
    expect(reason).toContain('sweep was lost')
  })
})
