import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqlite } from '../src/server/base/db/sqlite-file.ts'
import { serverOfTest, type TestServer } from './helpers/app.ts'
import { freshDatabase } from './helpers/databases.ts'
import { type FaultProxy, faultProxy } from './helpers/fault-proxy.ts'
import { scaledByLoad } from './helpers/scaled-by-load.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from './helpers/seed.ts'
import { type FakeUpstream, upstreamOfTest } from './helpers/upstream.ts'
import { ask, chat, eventually, model, settledCharges } from './relay/stage.ts'

// Failures of stores, part L of docs/reference/trust-cases.md, and T213.

interface Stage {
  readonly server: TestServer
  readonly upstream: FakeUpstream
  readonly known: string
  readonly unknown: string
  readonly proxy: FaultProxy
  /** A direct connection without the proxy, as an operator or another program has. */
  readonly beside: pg.Client
  readonly name: string
}

/** A server that reaches its PostgreSQL through a proxy that can fail; one cached token, and one that it has to look up. */
async function postgresStage(): Promise<Stage> {
  const database = await freshDatabase('postgres', 'started')
  onTestFinished(() => database.drop())
  const url = new URL(database.env.DATABASE_URL)
  const name = url.pathname.slice(1)
  const beside = new pg.Client({ connectionString: url.href })
  await beside.connect()
  beside.on('error', () => {})
  onTestFinished(() => beside.end())
  const proxy = await faultProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  const server = await serverOfTest('postgres', { database, env: { DATABASE_URL: url.href } })
  const upstream = await upstreamOfTest()
  await addChannel(server, { url: upstream.url, models: model })
  const [known, unknown] = [(await addToken(server)).key, (await addToken(server)).key]
  expect((await ask(server, known, chat())).status).toBe(200)
  return { server, upstream, known, unknown, proxy, beside, name }
}

async function timed<Result>(act: Promise<Result>): Promise<{ result: Result; ms: number }> {
  const startedAt = performance.now()
  return { result: await act, ms: performance.now() - startedAt }
}

const patienceMs = 2500

/** Expects that all calls are refused quickly, that none is served without a charge, and calls without the database continue. */
async function expectOutage({ server, upstream, known, unknown }: Stage): Promise<void> {
  const before = upstream.journal.length
  const calls = await Promise.all([
    timed(ask(server, known, chat())),
    timed(ask(server, known, chat({ stream: true }))),
    timed(ask(server, unknown, chat())),
    timed(server.raw('GET /api/user/self')),
    timed(server.raw('GET /api/token/')),
  ])
  expect(calls.map(({ result }) => result.status)).toEqual([503, 503, 503, 503, 503])
  for (const { ms } of calls) expect(ms).toBeLessThan(scaledByLoad(patienceMs))
  expect(upstream.journal).toHaveLength(before)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
}

async function expectRecovery({ server, known, unknown }: Stage): Promise<void> {
  const { ms } = await timed(
    eventually('everything is served again', async () => {
      const answers = [
        await ask(server, known, chat()),
        await ask(server, unknown, chat()),
        await server.raw('GET /api/user/self'),
      ]
      return answers.every(({ status }) => status === 200)
    }),
  )
  expect(ms).toBeLessThan(scaledByLoad(5000))
  await settledCharges(server)
  await requireBalancedBooks(server)
}

describe('a PostgreSQL with faults', () => {
  it('[T216] that drops every packet is detected in time: no request goes upstream without a hold, and running ones are charged once when it works again', async () => {
    const stage = await postgresStage()
    const { server, upstream, known, proxy } = stage
    upstream.program(model, { words: 30, pauseMs: 10 })
    const streams = Array.from({ length: 5 }, () => ask(server, known, chat({ stream: true })))
    await eventually('the streams run', () => upstream.journal.length === 6)
    proxy.silence()
    await Promise.all(streams)
    upstream.program(model, {})
    await expectOutage(stage)
    proxy.heal()
    await expectRecovery(stage)
    const ids = (await settledCharges(server)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const stream of await Promise.all(streams)) expect(ids).toContain(stream.headers.get('x-request-id'))
  })

  it('[T215] [T027] that drops every connection does not make users count as unknown or callers as anonymous', async () => {
    const stage = await postgresStage()
    stage.proxy.cut()
    await expectOutage(stage)
    for (const key of ['sk-nobody', 'rubbish', '']) expect([401, 503]).toContain((await ask(stage.server, key, chat())).status)
    const strange = await fetch(`${stage.server.url}/api/user/self`, {
      headers: { cookie: 'session=guess', 'new-api-user': '1' },
    })
    expect(strange.status).toBe(503)
    stage.proxy.heal()
    await expectRecovery(stage)
  })

  it('[T213] with every connection in use refuses within two seconds, bounds its queue, and continues when one is free', async () => {
    const stage = await postgresStage()
    const { server, known } = stage
    const { database } = server.app
    if (database.dialect !== 'postgres') return
    const taken = await Promise.all(Array.from({ length: 10 }, () => database.pool.connect()))
    const calls = Array.from({ length: 3000 }, () => database.db.selectFrom('users').select('id').executeTakeFirst())
    const waiting = timed(Promise.allSettled(calls))
    await pause(10)
    expect(database.pool.waitingCount).toBeLessThanOrEqual(2000)
    const answers = await Promise.all([timed(server.raw('GET /api/user/self')), timed(server.raw('GET /api/token/'))])
    for (const { result, ms } of answers) {
      expect(result.status).toBe(503)
      expect(ms).toBeLessThan(scaledByLoad(patienceMs))
    }
    expect((await waiting).ms).toBeLessThan(scaledByLoad(patienceMs))
    expect(new Set((await waiting).result.map(({ status }) => status))).toEqual(new Set(['rejected']))
    // Charges and holds use separate connections.
    expect((await ask(server, known, chat())).status).toBe(200)
    for (const client of taken) client.release()
    await expectRecovery(stage)
  })

  it('[T218] that has become read-only refuses charged calls, serves reads, and recovers automatically', async () => {
    const stage = await postgresStage()
    const { server, upstream, known, unknown, beside, name } = stage
    const cutAll = () =>
      beside.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()', [
        name,
      ])
    await beside.query(`alter database "${name}" set default_transaction_read_only = on`)
    await cutAll()
    await eventually('connections are new', async () => (await server.raw('GET /api/token/')).status === 200)
    const before = upstream.journal.length
    for (const key of [known, unknown]) expect((await ask(server, key, chat())).status).toBe(503)
    expect(upstream.journal).toHaveLength(before)
    for (const path of ['/api/user/self', '/api/token/', '/api/log/', '/api/status'])
      expect((await server.raw(`GET ${path}`)).status).toBe(200)
    expect((await server.raw('POST /api/token/', { name: 'x', unlimited_quota: true })).status).toBe(503)
    await beside.query(`alter database "${name}" reset default_transaction_read_only`)
    await cutAll()
    await expectRecovery(stage)
  })

  it('[T219] that aborts a transaction causes at most three retries', async () => {
    const stage = await postgresStage()
    const { server, beside } = stage
    const save = (value: string) => server.raw('PUT /api/option/', { key: 'SystemName', value })
    for (const state of ['40001', '40P01', '55P03']) {
      const failing = await failFirst(beside, { table: 'options', times: 3, state })
      expect((await save(`after ${state}`)).status).toBe(200)
      expect(await failing.attempts()).toBe(4)
      await failing.end()
    }
    const failing = await failFirst(beside, { table: 'options', times: 1000, state: '40001' })
    const { result, ms } = await timed(save('never'))
    expect([result.status, await failing.attempts()]).toEqual([503, 4])
    expect(ms).toBeLessThan(scaledByLoad(patienceMs))
    await failing.end()
    expect((await save('Sluice')).status).toBe(200)
  })

  it('[T219] conflicts of charges and holds end in one charge each, or in a refusal without one', async () => {
    const stage = await postgresStage()
    const { server, upstream, known, beside } = stage
    const charging = await failFirst(beside, { table: 'ledger', times: 3, state: '40001' })
    expect((await ask(server, known, chat())).status).toBe(200)
    expect(await charging.attempts()).toBe(4)
    await charging.end()
    const before = upstream.journal.length
    const holding = await failFirst(beside, { table: 'holds', times: 1000, state: '40P01' })
    const { result, ms } = await timed(ask(server, known, chat()))
    expect(result.status).toBe(503)
    expect(ms).toBeLessThan(scaledByLoad(patienceMs))
    expect(upstream.journal).toHaveLength(before)
    await holding.end()
    await expectRecovery(stage)
  })

  it('[T219] with a lock that is never released delays only the calls that need it, by some seconds', async () => {
    const stage = await postgresStage()
    const { server, known, beside } = stage
    await beside.query('begin; lock table options in exclusive mode')
    const [refused, read] = await Promise.all([
      timed(server.raw('PUT /api/option/', { key: 'SystemName', value: 'locked out' })),
      timed(server.raw('GET /api/token/')),
    ])
    expect([refused.result.status, read.result.status]).toEqual([503, 200])
    expect(refused.ms).toBeLessThan(scaledByLoad(12_000))
    expect(read.ms).toBeLessThan(scaledByLoad(2500))
    expect((await ask(server, known, chat())).status).toBe(200)
    await beside.query('rollback')
    await setOptions(server, { SystemName: 'Free again' })
  })
})

/** Makes the first `times` writes to a table fail as in a conflict. A sequence counts them, because it is not rolled back. */
async function failFirst(client: pg.Client, { table, times, state }: { table: string; times: number; state: string }) {
  await client.query(`
    create sequence attempts;
    create function refuse() returns trigger language plpgsql as $$ begin
      if nextval('attempts') <= ${times} then raise exception 'given up' using errcode = '${state}'; end if;
      return null;
    end $$;
    create trigger refuse before insert on ${table} for each statement execute function refuse()`)
  return {
    attempts: async () => Number((await client.query('select last_value from attempts')).rows[0].last_value),
    end: () => client.query(`drop trigger refuse on ${table}; drop function refuse; drop sequence attempts`),
  }
}

describe('a SQLite file that another program has locked', () => {
  it('[T222] refuses writes and new calls within seconds, charges those before, delays no other work, and continues', async () => {
    const server = await serverOfTest('sqlite')
    const { database } = server.app
    if (database.dialect !== 'sqlite') return
    const upstream = await upstreamOfTest()
    await addChannel(server, { url: upstream.url, models: model })
    const { key } = await addToken(server)
    expect((await ask(server, key, chat())).status).toBe(200)

    const other = openSqlite(database.file)
    other.exec('begin immediate')
    const lag = longestPause()
    const writes = Array.from({ length: 3 }, (_, index) =>
      timed(server.raw('PUT /api/option/', { key: 'SystemName', value: `locked ${index}` })),
    )
    await pause(100)
    expect((await timed(fetch(`${server.url}/healthz`))).ms).toBeLessThan(scaledByLoad(2500))
    // Its charge is durable in the journal.
    expect((await ask(server, key, chat())).status).toBe(200)
    await eventually('calls are refused', async () => (await ask(server, key, chat())).text.includes('database_unavailable'))
    const asked = await timed(ask(server, key, chat()))
    expect(asked.result.status).toBe(503)
    expect(asked.ms).toBeLessThan(scaledByLoad(2500))
    const refused = await Promise.all(writes)
    expect(refused.map(({ result }) => result.status)).toEqual([503, 503, 503])
    expect(lag.ms()).toBeLessThan(scaledByLoad(2500))

    other.exec('rollback')
    other.close()
    await eventually('everything is served again', async () => (await ask(server, key, chat())).status === 200)
    await setOptions(server, { SystemName: 'Free again' })
    const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(database.db)
    expect(rows).toEqual([{ integrity_check: 'ok' }])
    await settledCharges(server)
    await requireBalancedBooks(server)
  })

  it('waits for a lock that is released in time', async () => {
    const server = await serverOfTest('sqlite')
    const { database } = server.app
    if (database.dialect !== 'sqlite') return
    const other = openSqlite(database.file)
    other.exec('begin immediate')
    const saved = server.raw('PUT /api/option/', { key: 'SystemName', value: 'patient' })
    await pause(300)
    other.exec('rollback')
    other.close()
    expect((await saved).status).toBe(200)
  })
})

/** The longest time for which this process did nothing else. */
function longestPause(): { ms(): number } {
  let last = performance.now()
  let longest = 0
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 10)
  onTestFinished(() => clearInterval(timer))
  return { ms: () => longest }
}
