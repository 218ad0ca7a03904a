import { execFileSync } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { expect, it, onTestFinished, vi } from 'vitest'
import { eachDatabase, freshDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { faultProxy } from '../../../../test/helpers/fault-proxy.ts'
import { openReader } from './reader.ts'

/** A query that runs for minutes unless it is cancelled. */
const endless = sql<{ n: number }>`
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 1000000000) select max(n) as n from numbers`

async function open(database: TestDatabase) {
  const opened = await database.open()
  const reader = await openReader(opened)
  onTestFinished(async () => {
    await reader.close()
    await opened.close()
    await database.drop()
  })
  return { database: opened, reader }
}

eachDatabase('long reads', (fresh, kind) => {
  it('see committed rows, with values of both kinds', async () => {
    const { database, reader } = await open(await fresh())
    const log = { type: 3, created_at: 2 ** 40, user_id: 1, username: 'x', content: 'a "text" 水' }
    await database.db.insertInto('logs').values(log).execute()
    expect(await reader.queries().selectFrom('logs').selectAll().where('content', 'like', 'a%').execute()).toMatchObject([log])
    const sum = reader
      .queries()
      .selectFrom('logs')
      .select((eb) => eb.fn.sum<number>('created_at').as('sum'))
    expect(await sum.executeTakeFirst()).toEqual({ sum: 2 ** 40 })
  })

  it('cannot write', async () => {
    const { reader } = await open(await fresh())
    const write = reader.queries().insertInto('logs').values({ type: 3, created_at: 1, user_id: 1, username: '', content: '' })
    await expect(write.execute()).rejects.toThrow(/read-?only/)
    await expect(
      reader
        .queries()
        .selectFrom('no_such_table' as 'logs')
        .selectAll()
        .execute(),
    ).rejects.toThrow(/no_such_table/)
  })

  it('that are cancelled stop immediately, and others continue', async () => {
    const { database, reader } = await open(await fresh())
    const controller = new AbortController()
    const queries = reader.queries(controller.signal)
    const run = (query: RawBuilder<unknown>) => query.execute(queries)
    const stopped = run(endless).catch((error: unknown) => error)
    const busy =
      kind === 'postgres' &&
      sql`select 1 from pg_stat_activity where query like '%numbers%' and state = 'active' and pid <> pg_backend_pid()`
    if (busy) await expect.poll(async () => (await busy.execute(database.db)).rows.length).toBe(1)
    const reason = new Error('enough')
    controller.abort(reason)

    expect(await stopped).toBe(reason)
    await expect(run(sql`select 1`)).rejects.toBe(reason)
    const { rows } = await sql<{ one: number }>`select 1 as one`.execute(reader.queries())
    expect(rows).toEqual([{ one: 1 }])
    if (busy) await expect.poll(async () => (await busy.execute(database.db)).rows.length).toBe(0)
  })

  it('are refused after the reader is closed', async () => {
    const { reader } = await open(await fresh())
    expect((await sql`select 1`.execute(reader.queries())).rows).toHaveLength(1)
    await reader.close()
    await expect(sql`select 1`.execute(reader.queries())).rejects.toThrow()
  })
})

it('a process in which nothing else runs stays alive until its reader is closed', async () => {
  const database = await freshDatabase('sqlite')
  onTestFinished(() => database.drop())
  const built = new URL('../../../../dist/server/base/db/', import.meta.url).href
  const script = `
    import { sql } from 'kysely'
    const { openDatabase } = await import('${built}open.js')
    const { openReader } = await import('${built}reader.js')
    const database = await openDatabase(process.env)
    const reader = await openReader(database)
    await sql\`select 1\`.execute(reader.queries())
    await reader.close()
    await database.close()
    console.log('closed')`
  const env = { ...process.env, ...database.env }
  expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' })).toBe('closed\n')
})

it('a cancellation that overtakes its statement on the way to PostgreSQL is repeated until the statement has ended', async () => {
  const database = await freshDatabase('postgres')
  const opened = await database.open()
  if (opened.dialect !== 'postgres') throw new Error('This database is not PostgreSQL')
  const url = new URL(opened.url)
  const proxy = await faultProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  // Only the cancellation may end the statement.
  url.searchParams.set('statement_timeout', '0')
  const reader = await openReader({ ...opened, url: url.href })
  onTestFinished(async () => {
    await reader.close()
    await opened.close()
    await database.drop()
  })
  const connected = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(reader.queries())

  proxy.silence()
  const controller = new AbortController()
  const stopped = endless.execute(reader.queries(controller.signal)).catch((error: unknown) => error)
  const cancel = vi.spyOn(opened.pool, 'query')
  // It has been sent, and waits in the proxy.
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  const reason = new Error('enough')
  controller.abort(reason)
  expect(await stopped).toBe(reason)
  // The first cancellation, on its own connection, has ended before the statement begins.
  await expect.poll(() => cancel.mock.settledResults.map(({ type }) => type)).toContain('fulfilled')
  proxy.heal()

  const of = sql`select 1 from pg_stat_activity where pid = ${connected.rows[0]?.pid} and query like '%numbers%'`
  await expect.poll(async () => (await of.execute(opened.db)).rows).toEqual([])
  expect((await sql`select 1 as one`.execute(reader.queries())).rows).toEqual([{ one: 1 }])
})
