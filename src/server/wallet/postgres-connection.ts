import type pg from 'pg'
import { isDatabaseFailure } from '../db/open.ts'

/** PostgreSQL could not be reached, or did not answer in time. */
export class Unreachable extends Error {}

/** Runs one statement on a connection of the pool, for at most `limitMs`. A connection that failed is thrown away with what it was doing. */
export async function onConnection<T>(pool: pg.Pool, limitMs: number, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((cause: unknown) => {
    throw new Unreachable('PostgreSQL cannot be reached', { cause })
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unreachable(`PostgreSQL did not answer within ${limitMs} ms`)), limitMs)
  })
  try {
    const result = await Promise.race([work(client), late])
    client.release()
    return result
  } catch (error) {
    client.release(isAway(error))
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Whether a failure is that of the database as a whole. Every other one is laid on the rows, or on a row that another has locked. */
export function isAway(error: unknown): boolean {
  return error instanceof Unreachable || isDatabaseFailure(error)
}

/** Whether a statement was given up for the sake of another, and may simply be sent again. */
export function isConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^40/.test(String(error.code))
}
