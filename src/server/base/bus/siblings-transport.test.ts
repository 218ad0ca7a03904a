import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { anyDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { testLogger } from '../../../../test/helpers/logger.ts'
import { Bus } from './bus.ts'
import { connectBus } from './connect.ts'
import { OwnerSiblings, type Siblings, WorkerSiblings } from './siblings.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** One process of a start, whose listener of the channels takes until the test says so. */
async function process(test: TestDatabase, name: string, siblings: Siblings) {
  const database = await test.open()
  const bus = new Bus(testLogger('error', () => {}))
  const connection = await connectBus({
    siblings,
    env: { REDIS_URL: '' },
    bus,
    database,
    logger: testLogger('error', () => {}),
    node: name,
  })
  const heard: number[] = []
  let apply = () => {}
  bus.on('channels', (id) => {
    heard.push(id)
    return new Promise<void>((resolve) => {
      apply = resolve
    })
  })
  cleanups.push(async () => {
    await connection.close()
    bus.close()
    await siblings.close()
    await database.close()
  })
  return { bus, heard, apply: () => apply() }
}

anyDatabase('the processes of one start', (fresh) => {
  async function start() {
    const test = await fresh()
    cleanups.push(() => test.drop())
    const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
    cleanups.push(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'owner')
    const owner = await process(test, 'owner', await OwnerSiblings.open(path))
    const worker = await process(test, 'worker', await WorkerSiblings.open(path))
    const other = await process(test, 'other', await WorkerSiblings.open(path))
    return { owner, worker, other }
  }

  it.each(['owner', 'worker'] as const)(
    'have a change of the %s in force when it says so, and not before each has applied it',
    async (from) => {
      const all = await start()
      const processes = Object.values(all)
      const { bus } = all[from]
      bus.publish('channels', 5)
      let isInForce = false
      const inForce = bus.inForce().then(() => {
        isInForce = true
      })
      await vi.waitUntil(() => processes.every(({ heard }) => heard.length > 0))
      for (const { apply } of processes) {
        expect(isInForce).toBe(false)
        apply()
      }
      await inForce
      expect(processes.map(({ heard }) => heard)).toEqual([[5], [5], [5]])
    },
  )

  it('wait for a change that one of them never applies for two seconds and no longer', async () => {
    const { owner, worker, other } = await start()
    worker.bus.publish('channels', 5)
    await vi.waitUntil(() => owner.heard.length + worker.heard.length + other.heard.length === 3)
    for (const { apply } of [owner, worker]) apply()
    await worker.bus.inForce()
    expect(other.heard).toEqual([5])
  })
})
