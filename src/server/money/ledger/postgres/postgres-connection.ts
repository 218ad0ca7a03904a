import type pg from 'pg'
import { isDatabaseFailure } from '../../../base/db/failures.ts'
import { suspendedMs, withActiveTimeout } from '../../../base/lib/time/active-time.ts'
import { lockBudgets } from './postgres-statements.ts'

/** PostgreSQL could not be reached, or did not answer in time. */
class Unreachable extends Error {}

/** Runs one statement on a connection of the pool, for at most `limitMs`. A failed connection is closed with its statement. */
export async function onConnection<T>(pool: pg.Pool, limitMs: number, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await connect(pool)
  try {
    const result = await withActiveTimeout(limitMs, work(client), () => {
      throw new Unreachable(`PostgreSQL did not answer within ${limitMs} ms`)
    })
    client.release()
    return result
  } catch (error) {
    client.release(isDatabaseDown(error))
    throw error
  }
}

/**
 * Locks budgets, and runs a statement in the same transaction. A statement of its own sees everything that any node committed before
 * the locks were acquired.
 */
export function withLockedBudgets<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  limitMs: number,
  budgetIds: readonly number[],
  query: pg.QueryConfig,
): Promise<Row[]> {
  return onConnection(pool, limitMs, async (client) => {
    try {
      await client.query(lockBudgets([...new Set(budgetIds)]))
      const { rows } = await client.query<Row>(query)
      await client.query('commit')
      return rows
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  })
}

/** The pool has its own time limit, which also counts the time for which this process was suspended: then one more attempt is made. */
async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  const stillBefore = suspendedMs()
  const unreachable = (cause: unknown) => {
    throw new Unreachable('PostgreSQL cannot be reached', { cause })
  }
  return pool
    .connect()
    .catch((cause: unknown) => (suspendedMs() > stillBefore ? pool.connect().catch(unreachable) : unreachable(cause)))
}

/**
 * Whether the whole database failed. Every other failure is attributed to the rows of the batch, or to a row that another
 * transaction has locked.
 */
export function isDatabaseDown(error: unknown): boolean {
  return error instanceof Unreachable || isDatabaseFailure(error)
}

/** Whether a statement was aborted in favor of another, and may simply be sent again. */
export function isConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^40/.test(String(error.code))
}
