import { sql } from 'kysely'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { freshDatabase } from '../../../../test/helpers/databases.ts'
import { migrateBefore } from '../../../../test/helpers/older-schema.ts'
import { otherNodes } from '../../../../test/helpers/other-nodes.ts'
import { isTorture } from '../../../../test/helpers/torture.ts'
import { migrate } from './migrate.ts'
import { planMigrations } from './migration-plan.ts'
import { buildIndexes, indexesToBuild } from './online-indexes.ts'
import { type Database, openDatabase } from './open.ts'

const rows = isTorture ? 2_000_000 : 200_000
/** PostgreSQL estimates the rows of a table that is too long to be counted. */
const about = expect.toSatisfy((found: number) => Math.abs(found - rows) < rows / 10)
const before = '0016-statistics'

it(`a database with ${rows} log rows is migrated while others write and read: none of them waits, and the indexes follow`, async () => {
  const database = await olderDatabase()
  const planned = await planMigrations(database)
  expect(planned.find(({ name }) => name === '0030-failed-calls')?.steps).toEqual([
    { what: 'column logs.error_status', lock: 'moment', isOnline: false, rows: 0 },
    { what: 'column logs.error_code', lock: 'moment', isOnline: false, rows: 0 },
    { what: 'index logs_failed on logs', lock: 'none', isOnline: true, rows: about },
    { what: 'index logs_failed_request on logs', lock: 'none', isOnline: true, rows: about },
  ])
  const others = otherNodes(database.url, {
    write: logRow,
    read: 'select count(*) from logs where created_at > 1760000000',
  })
  await migrate(database)
  const { missing, unused } = await indexesToBuild(database)
  expect(missing.map(({ name }) => name)).toEqual([
    'logs_user_id_created_at_id_token_name',
    'logs_other_types',
    'logs_failed',
    'logs_failed_request',
  ])
  expect(unused).toEqual(['logs_user_id_created_at_id'])

  const told: string[] = []
  expect(await buildIndexes(database, new AbortController().signal, (detail) => told.push(detail))).toBe(4)
  const { written, failures } = await others.end()
  expect(failures).toEqual([])
  expect(written).toBeGreaterThan(0)
  expect(told.every((detail) => detail.startsWith('logs_'))).toBe(true)
  expect(await indexesIn(database)).toEqual(await indexesOfNewDatabase())
  expect(await buildIndexes(database, new AbortController().signal, () => {})).toBe(0)
})

it('a build that is interrupted, or has left an invalid index, begins again', async () => {
  const database = await olderDatabase()
  await migrate(database)
  // A transaction that has written keeps builds waiting, so that the interruption comes within one.
  const writer = new pg.Client(database.url)
  await writer.connect()
  await writer.query('begin')
  await writer.query(logRow)
  const ending = new AbortController()
  const building = buildIndexes(database, ending.signal, () => {})
  await expect.poll(() => invalidIn(database)).toEqual(['logs_user_id_created_at_id_token_name'])
  ending.abort(new Error('The server stops'))
  await expect(building).rejects.toThrow('cancel')
  expect(await invalidIn(database)).toEqual(['logs_user_id_created_at_id_token_name'])

  await writer.query('commit')
  await writer.end()
  await buildIndexes(database, new AbortController().signal, () => {})
  expect(await invalidIn(database)).toEqual([])
  expect(await indexesIn(database)).toEqual(await indexesOfNewDatabase())
})

const logRow = `insert into logs (user_id, created_at, type, username, token_name, model_name, request_id)
  values (1, 1760000000, 2, 'x', 'x', 'x', 'written beside')`

/** As of the version before the first migration of a large table's indexes, with a long log. */
async function olderDatabase(): Promise<Extract<Database, { dialect: 'postgres' }>> {
  const test = await freshDatabase('postgres', 'empty')
  const database = await openDatabase(test.env)
  onTestFinished(async () => {
    await database.close()
    await test.drop()
  })
  if (database.dialect !== 'postgres') throw new Error('PostgreSQL is needed')
  await migrateBefore(database, before)
  await sql`insert into logs (user_id, created_at, type, username, token_name, model_name, request_id)
    select n % 50, 1760000000 + n, 2, 'user', 'token', 'model', 'request-' || n from generate_series(1, ${sql.lit(rows)}) as s (n)`.execute(
    database.db,
  )
  await sql`analyze logs`.execute(database.db)
  return database
}

async function indexesIn({ db }: Database): Promise<unknown[]> {
  const { rows } =
    await sql`select indexname, indexdef from pg_indexes where schemaname = 'public' and tablename not like 'kysely%' order by indexname`.execute(
      db,
    )
  return rows
}

async function indexesOfNewDatabase(): Promise<unknown[]> {
  const test = await freshDatabase('postgres', 'migrated')
  const database = await openDatabase(test.env)
  try {
    return await indexesIn(database)
  } finally {
    await database.close()
    await test.drop()
  }
}

async function invalidIn({ db }: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid where not i.indisvalid order by 1`.execute(
    db,
  )
  return rows.map(({ name }) => name)
}
