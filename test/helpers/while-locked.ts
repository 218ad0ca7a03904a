import { type RawBuilder, sql } from 'kysely'
import { expect } from 'vitest'
import type { Queries, Within } from '../../src/server/base/db/open.ts'

/**
 * Starts several operations while a transaction holds the rows that they will write, and releases them once all of them wait: at
 * that point each has finished the reads before its wait. `meanwhile` runs inside that transaction. For PostgreSQL, where writers
 * run concurrently.
 */
export async function whileLocked<Result>(
  db: Queries,
  { lock, works, meanwhile = async () => {} }: Behind<Result>,
): Promise<PromiseSettledResult<Result>[]> {
  await extendLockTimeout(db, works.length + 2)
  const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  const { begun } = await db.transaction().execute(async (within) => {
    for (const each of lock) await each.execute(within)
    const begun = Promise.allSettled(works.map((work) => work()))
    await expect.poll(async () => (await waiting.execute(db)).rows.length, { timeout: 10_000 }).toBe(works.length)
    await meanwhile(within)
    return { begun }
  })
  return begun
}

/** Opens connections of the pool and raises their lock timeout, which a busy machine would reach before all operations wait. */
async function extendLockTimeout(db: Queries, connections: number): Promise<void> {
  let open = 0
  await Promise.all(
    Array.from({ length: connections }, () =>
      db.connection().execute(async (connection) => {
        await sql`set lock_timeout = 0`.execute(connection)
        open++
        await expect.poll(() => open).toBe(connections)
      }),
    ),
  )
}

interface Behind<Result> {
  readonly lock: readonly RawBuilder<unknown>[]
  readonly works: readonly (() => Promise<Result>)[]
  readonly meanwhile?: (within: Within) => Promise<unknown>
}
