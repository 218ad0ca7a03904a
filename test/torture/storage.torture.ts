import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startPostgres } from '../../scripts/postgres-server.mjs'
import { openDatabase } from '../../src/server/base/db/open.ts'
import { openSqlite } from '../../src/server/base/db/sqlite-file.ts'
import { serverOfTest } from '../helpers/app.ts'
import type { TestDatabase } from '../helpers/databases.ts'
import { faultProxy } from '../helpers/fault-proxy.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { canMount, mountSmallVolume } from '../helpers/small-volume.ts'
import { newFolder } from '../helpers/templates.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, eventually, model, settledCharges } from '../relay/stage.ts'

/**
 * Databases that stop, die, hang and run full while 16 callers send requests without a pause: T215, T216, T218 and T222.
 * STALL_SECONDS (30): for how long a PostgreSQL is stopped; packets are swallowed for twice as long.
 */
const stallMs = Number(process.env.STALL_SECONDS ?? 30) * 1000
const callers = 16
const backMs = 5_000

type Postgres = Awaited<ReturnType<typeof startPostgres>>

async function ownPostgres(settings: Parameters<typeof startPostgres>[0] = {}): Promise<Postgres> {
  const postgres = await startPostgres(settings)
  onTestFinished(() => postgres.stop())
  await eventually('it takes connections', () =>
    pidsOf(`${postgres.url}/postgres`, 'true').then(
      () => true,
      () => false,
    ),
  )
  return postgres
}

function databaseAt(url: string): TestDatabase {
  const env = { DATABASE_URL: url, DATA_DIR: newFolder() }
  return { kind: 'postgres', env, open: () => openDatabase(env), drop: async () => {} }
}

/** A server under load, and the results of its callers. */
async function stage(kind: 'sqlite' | 'postgres', database: TestDatabase) {
  const server = await serverOfTest(kind, { database })
  const upstream = await upstreamOfTest({ programs: { [model]: { words: 10, pauseMs: 5 } } })
  await addChannel(server, { url: upstream.url, models: model })
  await setOptions(server, { ModelRatio: { [model]: 1 } })
  const { key } = await addToken(server)
  expect((await ask(server, key, chat())).status).toBe(200)

  const told: Record<number, number> = {}
  const whole = new Set<string>()
  let isOver = false
  const running = Array.from({ length: callers }, async (_, index) => {
    while (!isOver) {
      const { status, headers, text } = await ask(server, key, chat({ stream: index % 2 === 0 }))
      told[status] = (told[status] ?? 0) + 1
      const isWhole =
        status === 200 && (index % 2 === 0 ? text.endsWith('data: [DONE]\n\n') : text.includes('"finish_reason":"stop"'))
      // A repeated request gets the reply that an earlier one could not deliver, and is charged as that one.
      if (isWhole) whole.add(headers.get('x-sluice-original-request-id') ?? headers.get('x-request-id') ?? '')
      await pause(status === 200 ? 5 : 50)
    }
  })

  return {
    server,
    /** No request is served or sent upstream, and callers get a refusal in time. */
    async expectOutage(lastsMs = 0) {
      await eventually('it is noticed', async () => (await ask(server, key, chat())).status === 503)
      // Requests admitted before may still be running.
      await eventually('what ran has ended', async () =>
        (await server.app.metrics.relayOpen.get()).values.every(({ value }) => value <= callers + 1),
      )
      await pause(500)
      const before = upstream.journal.length
      const end = performance.now() + lastsMs
      do {
        const startedAt = performance.now()
        expect((await ask(server, key, chat())).status).toBe(503)
        expect(performance.now() - startedAt).toBeLessThan(4_000)
        expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
      } while (performance.now() < end)
      expect(upstream.journal.length).toBe(before)
    },
    async expectRecovery(what: string) {
      const startedAt = performance.now()
      await eventually('it is served again', async () => (await ask(server, key, chat())).status === 200)
      const ms = performance.now() - startedAt
      console.log(`${what}: served again after ${Math.round(ms)} ms`)
      expect(ms).toBeLessThan(backMs)
    },
    ask: () => ask(server, key, chat()),
    /** Every complete answer was charged once, no request twice, and the books balance. */
    async expectBooks() {
      // A reply whose charge was not durable in time keeps its hold until its request is repeated.
      await eventually('every reply is delivered', async () => {
        await ask(server, key, chat())
        return server.app.undelivered.size === 0
      })
      isOver = true
      await Promise.all(running)
      const charged = (await settledCharges(server)).map(({ id }) => id)
      expect(new Set(charged).size).toBe(charged.length)
      const known = new Set(charged)
      expect([...whole].filter((id) => !known.has(id))).toEqual([])
      expect(whole.size).toBeGreaterThan(0)
      expect(Object.keys(told).filter((status) => status !== '200' && status !== '503')).toEqual([])
      await requireBalancedBooks(server)
      console.log(`told ${JSON.stringify(told)}, ${whole.size} whole answers, each charged once`)
    },
  }
}

async function pidsOf(url: string, where: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where pid <> pg_backend_pid() and ${where}`,
  )
  await client.end()
  return rows.map(({ pid }) => pid)
}

/** After a kill the memory that its processes share is free only when the last of them has ended. */
async function startAgain(postgres: Postgres): Promise<void> {
  await eventually('it starts', () =>
    postgres.start().then(
      () => true,
      () => false,
    ),
  )
}

describe('a PostgreSQL under load', () => {
  it('[T215] that is stopped, killed, or loses a backend interrupts service only as long as it is away', async () => {
    const postgres = await ownPostgres()
    const url = `${postgres.url}/postgres`
    const load = await stage('postgres', databaseAt(url))
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      await postgres.kill(signal)
      await load.expectOutage()
      await startAgain(postgres)
      await load.expectRecovery(`PostgreSQL ended by ${signal}`)
    }
    const [backend] = await pidsOf(url, `application_name = 'sluice'`)
    if (!backend) throw new Error('The server has no connection')
    process.kill(backend, 'SIGKILL')
    await load.expectRecovery('A backend ended by SIGKILL')
    await load.expectBooks()
  }, 300_000)

  it(
    `[T216] that stalls for ${stallMs / 1000} s, and a network that drops everything for ${(2 * stallMs) / 1000} s, delay no one else`,
    async () => {
      const postgres = await ownPostgres()
      const { hostname, port } = new URL(postgres.url)
      const proxy = await faultProxy({ host: hostname, port: Number(port) })
      const load = await stage('postgres', databaseAt(`postgres://sluice@127.0.0.1:${proxy.port}/postgres`))
      const all = [postgres.pid, ...(await pidsOf(`${postgres.url}/postgres`, 'true'))]
      const signal = (name: NodeJS.Signals) => {
        for (const pid of all) {
          try {
            process.kill(pid, name)
          } catch {
            // The process has ended already.
          }
        }
      }
      signal('SIGSTOP')
      await load.expectOutage(stallMs).finally(() => signal('SIGCONT'))
      await load.expectRecovery('PostgreSQL went on')
      proxy.silence()
      await load.expectOutage(2 * stallMs)
      proxy.heal()
      await load.expectRecovery('the network went on')
      await load.expectBooks()
    },
    stallMs * 3 + 120_000,
  )

  it('[T218] without a free connection causes refusals in time, and service once one is free', async () => {
    const postgres = await ownPostgres({ more: { max_connections: 60 } })
    const url = `${postgres.url}/postgres`
    const load = await stage('postgres', databaseAt(url))
    const taken: pg.Client[] = []
    const takeAll = async () => {
      for (;;) {
        const client = new pg.Client({ connectionString: url })
        client.on('error', () => {})
        try {
          await client.connect()
        } catch {
          return
        }
        taken.push(client)
        await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice'`)
      }
    }
    await takeAll()
    await load.expectOutage()
    for (const client of taken) await client.end()
    await load.expectRecovery('connections were free')
    await load.expectBooks()
  }, 120_000)

  it.skipIf(!canMount)(
    '[T218] whose volume is full refuses paid calls, serves reads, and recovers when there is room',
    async () => {
      const volume = mountSmallVolume(500)
      onTestFinished(() => volume.remove())
      const postgres = await ownPostgres({ folder: volume.path, more: { min_wal_size: '32MB', max_wal_size: '64MB' } })
      const load = await stage('postgres', databaseAt(`${postgres.url}/postgres`))
      await load.expectRecovery('before')
      volume.fill()
      await eventually('paid calls are refused', async () => (await load.ask()).status === 503)
      expect((await load.server.raw('GET /api/token/')).status).toBe(200)
      volume.free()
      // Without disk space for its log, PostgreSQL stops.
      await postgres.start().catch(() => {})
      await load.expectRecovery('there was room')
      await load.expectBooks()
    },
    300_000,
  )
})

describe.skipIf(!canMount)('a SQLite file on a full volume', () => {
  const main = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url))
  const start = (folder: string) =>
    spawnSync(process.execPath, [main], {
      env: { PATH: process.env.PATH ?? '', PORT: '0', DATA_DIR: folder },
      encoding: 'utf8',
      timeout: 30_000,
    })

  it('[T222] makes a start fail soon with an error, and leaves the data intact', async () => {
    const volume = mountSmallVolume(8)
    onTestFinished(() => volume.remove())
    const [empty, old] = [join(volume.path, 'empty'), join(volume.path, 'old')]
    for (const folder of [empty, old]) mkdirSync(folder)
    const before = openSqlite(join(old, 'app.db'))
    before.exec('create table kept (value text); insert into kept values (1)')
    before.close()
    const bytes = readFileSync(join(old, 'app.db'))
    volume.fill()
    for (const folder of [empty, old]) {
      const { status, stderr } = start(folder)
      expect([status, stderr]).toEqual([1, expect.stringMatching(/^Sluice cannot start: \S.+\n$/)])
    }
    expect(readFileSync(join(old, 'app.db')).equals(bytes)).toBe(true)
  })

  it('[T222] while it runs refuses paid calls, serves reads, and recovers when there is room', async () => {
    const volume = mountSmallVolume(16)
    onTestFinished(() => volume.remove())
    const env = { DATABASE_URL: '', DATA_DIR: volume.path }
    const database: TestDatabase = { kind: 'sqlite', env, open: () => openDatabase(env), drop: async () => {} }
    const load = await stage('sqlite', database)
    await load.expectRecovery('before')
    volume.fill()
    await eventually('paid calls are refused', async () => (await load.ask()).status === 503)
    expect((await load.server.raw('GET /api/token/')).status).toBe(200)
    volume.free()
    await load.expectRecovery('there was room')
    await load.expectBooks()
    const file = openSqlite(join(volume.path, 'app.db'))
    expect(file.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    file.close()
  }, 120_000)
})
