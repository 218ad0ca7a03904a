import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pollTasks } from '../../src/server/gateway/tasks/poll.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { newClock } from '../helpers/clock.ts'
import { type DatabaseKind, freshDatabase, type TestDatabase } from '../helpers/databases.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { setOptions } from '../helpers/seed.ts'
import { startTaskPeer, type TaskPeer } from '../helpers/task-peer.ts'
import { spentBy } from '../tasks/stage.ts'

/** Processes that are killed, and thousands of reports at a time. Built files are needed: `npm run build`. */

const reports = 1000
const kills = 6

describe.each(['sqlite', 'postgres'] as const)('drawings over processes (%s)', (kind) => {
  let peer: TaskPeer
  let database: TestDatabase
  let token = ''

  beforeAll(async () => {
    peer = await startTaskPeer()
    database = await freshDatabase(kind)
    const first = await startProcess(database)
    const channel = { name: 'peer', type: 2, key: 'k', base_url: peer.url, models: 'mj_imagine' }
    await first.call('POST /api/channel/', channel)
    token = `sk-${(await first.call<{ key: string }>('POST /api/token/', { name: 't', unlimited_quota: true })).key}`
    await setOptions(first, { MjNotifyEnabled: true, ServerAddress: 'http://site.example' })
    await first.kill('SIGTERM')
  })
  afterAll(async () => {
    await database.drop()
    await peer.stop()
  })

  const draw = async (server: ServerProcess) => {
    const response = await fetch(`${server.url}/mj/submit/imagine`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"prompt":"x"}',
    })
    return ((await response.json()) as { result: string }).result
  }

  it(`[T122] ${reports} reports of a failure at a time, over as many processes as the database allows, refund once`, async () => {
    const nodes = await Promise.all(Array.from({ length: kind === 'postgres' ? 2 : 1 }, () => startProcess(database)))
    const [node] = nodes
    if (!node) throw new Error('No process was started')
    const id = await draw(node)
    const hook = String(peer.asked.at(-1)?.body.notifyHook).replace('http://site.example', '')
    peer.tell(id, { status: 'FAILURE', failReason: 'no' })
    const report = (index: number) =>
      fetch((nodes[index % nodes.length] ?? node).url + hook, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id, status: 'FAILURE', failReason: 'no' }),
      }).then((response) => response.status)
    const statuses = await Promise.all(Array.from({ length: reports }, (_, index) => report(index)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    for (const each of nodes) await each.kill('SIGTERM')
    await withServer(kind, database, async (server) => {
      expect(await spentBy(server)).toMatchObject({ spent: 0, charges: 1, refunds: 1, held: 0 })
    })
  })

  it('a process that is killed while it accepts orders loses and duplicates nothing', async () => {
    const told = new Set<string>()
    for (let round = 0; round < kills; round++) {
      const server = await startProcess(database)
      let isOver = false
      const orders = Array.from({ length: 20 }, async () => {
        while (!isOver) {
          const id = await draw(server).catch(() => undefined)
          if (id) told.add(id)
        }
      })
      const enough = told.size + 30 + round * 17
      while (told.size < enough) await new Promise((resolve) => setImmediate(resolve))
      await server.kill('SIGKILL')
      isOver = true
      await Promise.all(orders)
    }
    expect(told.size).toBeGreaterThan(200)

    await withServer(kind, database, async (server, passSeconds) => {
      const { db, ledger } = server.app
      await db.updateTable('holds').set({ lease_until: 1 }).execute()
      await ledger.expire()
      for (const id of peer.tasks.keys()) peer.tell(id, { status: 'SUCCESS', imageUrl: 'https://cdn.example/a.png' })
      for (let turn = 0; turn < 10; turn++) {
        passSeconds(300)
        await pollTasks(server.app, new AbortController().signal)
      }
      const rows = await db.selectFrom('midjourneys').selectAll().execute()
      const charges = await db.selectFrom('ledger').select('reference').where('kind', '=', 'charge').execute()
      const refunds = await db.selectFrom('ledger').select('reference').where('kind', '=', 'refund').execute()
      const charged = new Set(charges.map(({ reference }) => reference.slice('charge:'.length)))
      const refunded = new Set(refunds.map(({ reference }) => reference.slice('refund:'.length)))
      const byId = new Map(rows.map((row) => [row.mj_id, row]))
      // Every order with a task id was charged once, and has the drawing.
      for (const id of told) {
        const row = byId.get(id)
        expect(row?.status, id).toBe('SUCCESS')
        expect([charged.has(row?.request_id ?? ''), refunded.has(row?.request_id ?? '')], id).toEqual([true, false])
      }
      // Failed tasks are not charged, and no task is left open.
      for (const row of rows) {
        expect(['SUCCESS', 'FAILURE']).toContain(row.status)
        if (row.status === 'FAILURE') expect(charged.has(row.request_id)).toBe(refunded.has(row.request_id))
        else expect([charged.has(row.request_id), refunded.has(row.request_id)]).toEqual([true, false])
      }
      expect(charges.length).toBe(charged.size)
      expect((await spentBy(server)).held).toBe(0)
      console.log(`${kind}: ${told.size} orders told, ${charges.length} charges, ${refunds.length} refunds after ${kills} kills`)
    })
  })
})

async function withServer(
  kind: DatabaseKind,
  database: TestDatabase,
  work: (server: TestServer, passSeconds: (seconds: number) => void) => Promise<void>,
): Promise<void> {
  const clock = newClock(Date.now())
  const server = await startServer(kind, { database, now: () => clock.now() })
  try {
    await work(server, (seconds) => clock.passSeconds(seconds))
  } finally {
    await server.stop()
  }
}
