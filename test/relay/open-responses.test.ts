import { sql } from 'kysely'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { settlePendingResponses } from '../../src/server/gateway/relay/stored-responses/settle-pending.ts'
import { serverOfTest, startServer, type TestServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { interruptDatabase } from '../helpers/outage.ts'
import { startProcess } from '../helpers/process.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { vendor } from './responses-vendor.ts'
import { ask, eventually, model, post, settledCharges, stage } from './stage.ts'

const path = '/v1/responses'
const body = { model, input: 'Hi', background: true }

const openRows = async ({ app }: TestServer) => (await app.db.selectFrom('open_responses').selectAll().execute()).length
const settleNow = async (server: TestServer) => {
  await server.app.db.updateTable('open_responses').set({ ask_at: 0 }).execute()
  return settlePendingResponses(server.app, new AbortController().signal)
}

eachDatabase('responses in the background, when a process dies', (fresh, kind) => {
  it('kill -9: the next process charges each once, those of streams too, and nothing stays held', async () => {
    let state = 'in_progress'
    const provider = await vendor({ next: () => state })
    const database = await fresh()
    const first = await startProcess(database)
    await first.call('POST /api/channel/', { name: 'test', type: 1, key: 'k'.repeat(20), base_url: provider.url, models: model })
    const token = await first.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })
    const send = (more: object) => post(first, `sk-${token.key}`, { ...body, ...more }, path)
    for (let round = 0; round < 3; round++) expect((await (await send({})).json()).status).toBe('queued')
    const streamed = await send({ stream: true })
    await streamed.body?.getReader().read()
    await first.kill('SIGKILL')

    const server = await serverOfTest(kind, { database })
    // On PostgreSQL a dead node is detected when its lease expires.
    await server.app.db.updateTable('open_responses').set({ lease_until: 1 }).execute()
    await server.app.db.updateTable('holds').set({ lease_until: 1 }).execute()
    await server.app.ledger.expire()
    expect(await openRows(server)).toBe(4)
    expect((await books(server)).logs).toEqual([])
    await settleNow(server)
    expect(server.app.ledger.openHolds).toBe(4)
    state = 'completed'
    expect(await settleNow(server)).toBe(4)
    expect(await settleNow(server)).toBe(0)
    expect(await settledCharges(server)).toHaveLength(4)
    expect(await openRows(server)).toBe(0)
    await requireBalancedBooks(server)
  })
})

eachDatabase('responses in the background, while the database accepts no writes', (_fresh, kind) => {
  it.skipIf(kind === 'postgres')(
    'report their end only after their charge is durable, and are charged once',
    async () => {
      let state = 'in_progress'
      const provider = await vendor({ next: () => state })
      const { server, ask, token } = await stage(kind, provider.url)
      const made = JSON.parse((await ask(body, path)).text)
      state = 'completed'
      const giveBack = await interruptDatabase(server.app.database)
      const read = () => fetch(`${server.url}${path}/${made.id}`, { headers: { authorization: `Bearer ${token.key}` } })
      expect((await read()).status).toBe(503)
      await giveBack()
      await eventually('it is told', async () => (await read()).status === 200)
      expect(await settledCharges(server)).toHaveLength(1)
      await settleNow(server)
      await requireBalancedBooks(server)
    },
    30_000,
  )
})

it('a background stream sends nothing before its hold is stored, and nothing at all when that fails', async () => {
  const provider = await vendor()
  const { server, token } = await stage('postgres', provider.url)
  const other = new pg.Client({ connectionString: server.database.env.DATABASE_URL })
  await other.connect()
  onTestFinished(() => other.end())
  const send = () => post(server, token.key, { ...body, stream: true }, path)
  await other.query('begin')
  await other.query('lock table open_responses in exclusive mode')
  let isTold = false
  const asked = send().then((response) => {
    isTold = true
    return response
  })
  const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into "open_responses"%'`
  await eventually('it is being written down', async () => (await waiting.execute(server.app.db)).rows.length === 1)
  expect(isTold).toBe(false)
  await other.query('rollback')
  const told = (await asked).body?.getReader()
  expect(Buffer.from((await told?.read())?.value ?? []).toString()).toContain('response.created')
  expect(await openRows(server)).toBe(1)
  await told?.cancel()

  await other.query('drop table kept_responses')
  await other.query(`
    select pg_advisory_lock(1);
    create function wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(1); return new; end $$;
    create trigger wait before insert on open_responses for each row execute function wait()`)
  const refusing = send()
  // One of the two writes fails while the other waits.
  await eventually('it is being written down', async () => (await waiting.execute(server.app.db)).rows.length === 1)
  await other.query('select pg_advisory_unlock(1)')
  const refused = await refusing
  expect([refused.status, await refused.text()]).toEqual([503, expect.not.stringContaining('resp_2')])
  await eventually('the upstream is told to stop', () => provider.kept.get('resp_2')?.status === 'cancelled')
  await eventually('it is nobody’s', async () => (await openRows(server)) === 1)
  expect(server.app.ledger.openHolds).toBe(1)
})

it('on several nodes is charged once by the first node that sees its end, and its hold is released', async () => {
  let state = 'in_progress'
  const provider = await vendor({ next: () => state })
  const a = await serverOfTest('postgres')
  await addChannel(a, { url: provider.url, models: model })
  const token = await addToken(a)
  const b = await startServer('postgres', { database: a.database })
  onTestFinished(() => b.stop())
  const ids = await Promise.all(Array.from({ length: 4 }, async () => JSON.parse((await ask(a, token.key, body, path)).text).id))
  expect(a.app.ledger.openHolds).toBe(4)
  const read = (server: TestServer, id: string) =>
    fetch(`${server.url}${path}/${id}`, { headers: { authorization: `Bearer ${token.key}` } })
  state = 'completed'
  const [first, ...rest] = ids
  expect((await (await read(b, first)).json()).status).toBe('completed')
  await Promise.all([settleNow(a), settleNow(b), ...rest.map((id) => read(a, id)), ...rest.map((id) => read(b, id))])
  await settleNow(a)
  expect(await settledCharges(a)).toHaveLength(4)
  expect([a.app.ledger.openHolds, b.app.ledger.openHolds, await openRows(a)]).toEqual([0, 0, 0])
  await requireBalancedBooks(a)
})
