import { setTimeout as pause } from 'node:timers/promises'
import { type DatabaseConnection, Kysely, SqliteDriver, type TransactionBuilder } from 'kysely'
import { awakeMs } from '../lib/awake.ts'
import { AppError } from '../lib/failure.ts'
import type { Tables } from './schema.ts'

/** What happens when others want the same rows, tables or file at the same time. */

const retriesMax = 3
const firstPauseMs = 20
const lockPauseMs = 10
/** How long a statement waits for the write lock of a SQLite file that somebody else holds. */
const writeLockMs = 2000

/** Whether PostgreSQL gave a statement up for the sake of another: a failed serialization, a deadlock, a lock that nobody freed in time. */
export function isContention(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^40(001|P01)$|^55P03$/.test(String(error.code))
}

/**
 * Queries whose transactions are done again when the database gave them up for the sake of others: a deadlock, a row or a table that
 * stayed locked. What a transaction does outside of the database is therefore done behind it, never inside.
 */
export class PatientQueries extends Kysely<Tables> {
  override transaction(): TransactionBuilder<Tables> {
    const builder = super.transaction()
    const once = builder.execute.bind(builder)
    builder.execute = (work) => again(() => once(work))
    return builder
  }
}

async function again<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isContention(error)) throw error
      if (retries === retriesMax) throw new AppError('database_unavailable', {}, { cause: error })
      await pause(firstPauseMs * 2 ** retries * (0.5 + Math.random()))
    }
  }
}

/**
 * Waits for the write lock of the file without holding up the process: each attempt ends soon, and between two of them others run.
 * Only the beginning of a transaction and statements outside of one ever meet that lock.
 */
export class PatientSqliteDriver extends SqliteDriver {
  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    return {
      executeQuery: (query) => untilUnlocked(() => connection.executeQuery(query)),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
  }
}

async function untilUnlocked<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const latest = awakeMs() + writeLockMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isLocked(error) || awakeMs() > latest) throw error
      await pause(lockPauseMs * (0.5 + Math.random()))
    }
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes('database is locked')
}
