import { type RawBuilder, sql } from 'kysely'
import { expect } from 'vitest'
import type { Queries, Within } from '../../src/server/db/open.ts'

/**
 * Begins works while a transaction holds what they will write, and lets them go on once all of them wait for it: each has read by then
 * what it reads before it waits. `meanwhile` is what that transaction does itself. For PostgreSQL, where writers run at the same time.
 */
export async function behindLock<Result>(
  db: Queries,
  { lock, works, meanwhile = async () => {} }: Behind<Result>,
): Promise<PromiseSettledResult<Result>[]> {
  await becomePatient(db, works.length + 2)
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

/** Opens connections of the pool and lifts their limit on waiting for locks, which a busy machine would reach before all works wait. */
async function becomePatient(db: Queries, connections: number): Promise<void> {
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
