import { setTimeout as pause } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  type SqliteDialectConfig,
  SqliteDriver,
  type TransactionBuilder,
} from 'kysely'
import { AppError } from '../lib/failure.ts'
import { activeMs } from '../lib/time/active-time.ts'
import type { Tables } from './schema.ts'
import { isBusy } from './sqlite-file.ts'

/** Lock contention: retries of transactions, and waiting for the write lock of SQLite. */

/**
 * How long a change of the schema of PostgreSQL waits for a lock that requests need: one that is waited for keeps the requests of all nodes
 * waiting behind it, so that it is waited for briefly, and asked for again.
 */
export const schemaLockTimeout = '200ms'
/**
 * How long it waits before that for the lock that keeps autovacuum out, which gives way to those who have waited for a second. No request
 * waits behind this lock.
 */
export const reserveTimeout = '5s'

const retriesMax = 3
const firstPauseMs = 20
const lockPauseMs = 10
/** The time for which a statement waits for the write lock of the SQLite file. */
const writeLockMs = 2000

/** Whether PostgreSQL aborted a statement because of concurrency: serialization failure, deadlock or lock timeout. */
export function isContention(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^40(001|P01)$|^55P03$/.test(String(error.code))
}

/**
 * Queries whose transactions are retried with backoff after a deadlock, a serialization failure or a lock timeout. A transaction
 * must therefore have no side effect outside of the database: run such effects after the commit.
 */
export class RetryingQueries extends Kysely<Tables> {
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
 * Waits for the write lock of the file without blocking the event loop: each attempt fails fast and is repeated after a pause. Only
 * the beginning of a transaction and statements outside of one can find it locked.
 */
export class BusyWaitingSqliteDriver extends SqliteDriver {
  readonly #flush: Flush

  constructor(config: SqliteDialectConfig, flush: Flush) {
    super(config)
    this.#flush = flush
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    let isInTransaction = false
    return {
      executeQuery: async <Row>(query: CompiledQuery) => {
        // A transaction has the write lock, which the flush needs.
        if (!isInTransaction) await this.#flush(query.sql)
        const result = await untilUnlocked(() => connection.executeQuery<Row>(query))
        if (/^begin\b/.test(query.sql)) isInTransaction = true
        else if (/^(commit|rollback)$/.test(query.sql)) isInTransaction = false
        return result
      },
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
  }
}

/** Called with the text of a statement that may have to wait. */
export type Flush = (sql: string) => Promise<void> | undefined

async function untilUnlocked<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const latest = activeMs() + writeLockMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isBusy(error) || activeMs() > latest) throw error
      await pause(lockPauseMs * (0.5 + Math.random()))
    }
  }
}
