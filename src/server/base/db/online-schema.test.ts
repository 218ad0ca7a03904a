import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { startPostgres } from '../../../../scripts/postgres-server.mjs'
import { migrateBefore } from '../../../../test/helpers/older-schema.ts'
import { partitionLog } from './log-partitions.ts'
import { migrate } from './migrate.ts'
import { openDatabase } from './open.ts'

it('autovacuum, which keeps a large table for hours, gives way to a migration and to the partitioning of the log', async () => {
  // Vacuum of the table below takes one page in a second, and begins within a second.
  const server = await startPostgres({
    more: { autovacuum_naptime: 1, autovacuum_vacuum_cost_limit: 1, autovacuum_vacuum_cost_delay: 100 },
  })
  onTestFinished(() => server.stop())
  const database = await openDatabase({ DATABASE_URL: `${server.url}/postgres`, DATA_DIR: '' })
  onTestFinished(() => database.close())
  if (database.dialect !== 'postgres') throw new Error('PostgreSQL is needed')
  const { db } = database
  await migrateBefore(database, '0030-failed-calls')
  await sql`alter table logs set (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0)`.execute(db)
  await sql`insert into logs (user_id, created_at, type, username, other)
    select 1, 1760000000 + n, 2, 'user', repeat('x', 500) from generate_series(1, 20000) as s (n)`.execute(db)
  await sql`delete from logs where id % 2 = 0`.execute(db)

  const isVacuumed = async () => {
    const { rows } = await sql`select 1 from pg_stat_progress_vacuum where relid = 'logs'::regclass`.execute(db)
    return rows.length > 0
  }
  await expect.poll(isVacuumed).toBe(true)
  await migrate(database)
  await expect.poll(isVacuumed).toBe(true)
  const settings = { now: () => Date.UTC(2026, 10, 28), signal: new AbortController().signal, tell: () => {} }
  expect(await partitionLog(database, settings)).toMatchObject({ hasChanged: true })
})
