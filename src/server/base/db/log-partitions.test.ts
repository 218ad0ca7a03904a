import { sql } from 'kysely'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { freshDatabase } from '../../../../test/helpers/databases.ts'
import { otherNodes } from '../../../../test/helpers/other-nodes.ts'
import { isTorture } from '../../../../test/helpers/torture.ts'
import { dropMonths, type PartitionSettings, partitionLog } from './log-partitions.ts'
import { buildIndexes, indexesToBuild } from './online-indexes.ts'
import type { Postgres } from './online-schema.ts'
import { isPartitioned, partitionsOf } from './partitions.ts'

const rows = isTorture ? 2_000_000 : 200_000
const now = () => Date.UTC(2026, 10, 28)
const at = (year: number, month: number, day = 1) => Date.UTC(year, month - 1, day) / 1000
const settings: PartitionSettings = { now, signal: new AbortController().signal, tell: () => {} }

it(`a log of ${rows} rows is partitioned while others write and read it: none of them waits, no row and no id is lost`, async () => {
  const database = await withLog(rows)
  const others = otherNodes(database.url, {
    write: `insert into logs (user_id, created_at, type, username) values (1, ${at(2026, 11, 28)}, 2, 'x')`,
    read: 'select * from logs where created_at > 0 order by created_at desc, id desc limit 20',
  })
  expect(await partitionLog(database, settings)).toEqual({ hasChanged: true, detail: 'partitioned' })
  const { written, failures } = await others.end()
  expect(failures).toEqual([])
  expect(written).toBeGreaterThan(0)

  expect(await partitionsOf(database.db, 'logs')).toEqual([
    { name: 'logs_until_2027_01', end: at(2027, 1) },
    { name: 'logs_2027_01', end: at(2027, 2) },
    { name: 'logs_other', end: undefined },
  ])
  expect(await idsIn(database)).toEqual({ count: rows + written, distinct: rows + written, greatest: rows + written })
  expect((await indexesToBuild(database)).missing).toEqual([])
  expect(await partitionLog(database, settings)).toEqual({ hasChanged: false, detail: 'complete' })
})

it('a row goes to the partition of its month, and one from a wrong clock to that of the others', async () => {
  const database = await withLog(10)
  await partitionLog(database, settings)
  await addRow(database, at(2026, 11, 30))
  await addRow(database, at(2027, 1, 31))
  await addRow(database, at(2031, 5))
  expect(await rowsByPartition(database)).toEqual({ logs_until_2027_01: 11, logs_2027_01: 1, logs_other: 1 })

  // Months that were missed, because no server ran, take the rows that came meanwhile.
  const later = { ...settings, now: () => Date.UTC(2031, 4, 2) }
  expect(await partitionLog(database, later)).toEqual({
    hasChanged: true,
    detail: 'made logs_2031_05, logs_2031_06, logs_2031_07',
  })
  expect(await rowsByPartition(database)).toEqual({ logs_until_2027_01: 11, logs_2027_01: 1, logs_2031_05: 1 })
})

it('dropping months deletes their charges, gives the space back and keeps every other row', async () => {
  const database = await withLog(20_000)
  await partitionLog(database, settings)
  await partitionLog(database, { ...settings, now: () => Date.UTC(2027, 1, 1) })
  for (const month of [1, 2]) await addRow(database, at(2027, month, 9))
  await addRow(database, at(2027, 1, 10), 1)
  await addRow(database, at(2026, 11, 5), 3)
  const sizeBefore = await sizeOf(database)

  const { signal } = settings
  expect(await dropMonths(database, at(2026, 12, 31), signal)).toBe(0)
  expect(await dropMonths(database, at(2027, 1), signal)).toBe(20_000)
  expect(await rowsByPartition(database)).toEqual({ logs_kept_2027_01: 1, logs_2027_01: 2, logs_2027_02: 1 })
  expect(await sizeOf(database)).toBeLessThan(sizeBefore / 10)
  expect(await dropMonths(database, at(2027, 1), signal)).toBe(0)
  expect(await dropMonths(database, at(2027, 2, 3), signal)).toBe(1)
  expect(await rowsByPartition(database)).toEqual({ logs_kept_2027_02: 2, logs_2027_02: 1 })
  expect((await indexesToBuild(database)).missing).toEqual([])
})

it('an interrupted run leaves one table, and the next one continues', async () => {
  const database = await withLog(20_000)
  const reader = new pg.Client(database.url)
  await reader.connect()
  await reader.query('begin; select 1 from logs limit 1')
  const ending = new AbortController()
  const running = partitionLog(database, {
    ...settings,
    signal: ending.signal,
    tell: (detail) => detail.includes('waiting for a lock') && ending.abort(new Error('The server stops')),
  })
  await expect(running).rejects.toThrow()
  expect(await isPartitioned(database.db, 'logs')).toBe(false)
  await addRow(database, at(2026, 11, 28))

  await reader.query('commit')
  await reader.end()
  expect(await partitionLog(database, settings)).toMatchObject({ hasChanged: true })
  expect(await idsIn(database)).toEqual({ count: 20_001, distinct: 20_001, greatest: 20_001 })
})

it('a log that a view of the operator reads stays one table; grants to their roles go on', async () => {
  const database = await withLog(10)
  const role = `reader_${process.pid}`
  await sql`create view spending as select sum(quota) from logs`.execute(database.db)
  await sql`create role ${sql.id(role)}`.execute(database.db)
  onTestFinished(async () => {
    await sql`drop owned by ${sql.id(role)}`.execute(database.db)
    await sql`drop role ${sql.id(role)}`.execute(database.db)
  })
  await sql`grant select on logs to ${sql.id(role)}`.execute(database.db)
  expect(await partitionLog(database, settings)).toEqual({
    hasChanged: false,
    detail: 'the log stays one table, because the view spending depends on it',
  })
  await sql`drop view spending`.execute(database.db)
  expect(await partitionLog(database, settings)).toMatchObject({ hasChanged: true })
  const { rows: allowed } = await sql`select has_table_privilege(${role}, 'logs', 'select') as allowed`.execute(database.db)
  expect(allowed).toEqual([{ allowed: true }])
})

it('an index that a partitioned log lacks is built partition by partition', async () => {
  const database = await withLog(20_000)
  await partitionLog(database, settings)
  await sql`drop index logs_other_types`.execute(database.db)
  expect((await indexesToBuild(database)).missing.map(({ name }) => name)).toEqual(['logs_other_types'])
  expect(await buildIndexes(database, settings.signal, () => {})).toBe(1)
  expect((await indexesToBuild(database)).missing).toEqual([])
})

/** A database with so many charges, of the seconds before and after the begin of September 2026. */
async function withLog(count: number): Promise<Postgres> {
  const test = await freshDatabase('postgres')
  const database = await test.open()
  onTestFinished(async () => {
    await database.close()
    await test.drop()
  })
  if (database.dialect !== 'postgres') throw new Error('PostgreSQL is needed')
  await sql`insert into logs (user_id, created_at, type, username, token_name, model_name, request_id)
    select n % 50, ${sql.lit(at(2026, 9) - 100_000)} + n, 2, 'user', 'token', 'model', 'request-' || n
    from generate_series(1, ${sql.lit(count)}) as s (n)`.execute(database.db)
  await sql`analyze logs`.execute(database.db)
  return database
}

async function addRow({ db }: Postgres, created_at: number, type = 2): Promise<void> {
  await db.insertInto('logs').values({ user_id: 1, username: 'x', created_at, type }).execute()
}

async function rowsByPartition({ db }: Postgres): Promise<Record<string, number>> {
  const { rows: counted } = await sql<{ name: string; count: number }>`
    select tableoid::regclass::text as name, count(*) as count from logs group by 1`.execute(db)
  return Object.fromEntries(counted.map(({ name, count }) => [name, count]))
}

async function idsIn({ db }: Postgres) {
  const { rows: found } = await sql`
    select count(*) as count, count(distinct id) as distinct, max(id) as greatest from logs`.execute(db)
  return found[0]
}

async function sizeOf({ db }: Postgres): Promise<number> {
  const { rows: found } = await sql<{ bytes: number }>`
    select sum(pg_total_relation_size(relid)) as bytes from pg_partition_tree('logs')`.execute(db)
  return found[0]?.bytes ?? 0
}
