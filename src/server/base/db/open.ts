import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely, Transaction } from 'kysely'
import type pg from 'pg'
import { makePrivateFile } from '../lib/process/private-files.ts'
import { RetryingQueries } from './contention.ts'
import { requireOwn } from './foreign-database.ts'
import type { PostgresAddress, PostgresWait } from './postgres.ts'
import type { Tables } from './schema.ts'
import { sqliteDialect } from './sqlite.ts'
import { openSqlite, openSqliteReading } from './sqlite-file.ts'

/**
 * Opens the database that the environment names and hands out one query interface for both kinds. Only the files that own a table
 * write it. Only `wallet/` (grouped commits) and `bus/` (LISTEN) use the raw handles.
 */
export type Queries = Kysely<Tables>
export type Within = Transaction<Tables>

/** Rows that are durable, but not in the tables yet. */
export interface Backlog {
  /** Writes the rows that a statement could read into the tables. Undefined when there are none; never rejects. */
  flush(sql: string): Promise<void> | undefined
}

export type Database =
  | {
      readonly dialect: 'sqlite'
      readonly db: Queries
      readonly file: string
      readonly raw: DatabaseSync
      /** From now on, queries outside of transactions, and the beginnings of transactions, wait for this backlog first. */
      setBacklog(backlog: Backlog | undefined): void
      /** Waits for the backlog, for a statement on another connection. */
      flush(sql: string): Promise<void> | undefined
      close(): Promise<void>
    }
  | {
      readonly dialect: 'postgres'
      readonly db: Queries
      readonly url: string
      readonly isPooled: boolean
      /** Past a pooler: for what needs a connection of its own, or a long time. The same address if no other is configured. */
      readonly direct: PostgresAddress
      readonly pool: pg.Pool
      close(): Promise<void>
    }

/** The PostgreSQL client is only loaded where it is used. */
export async function openDatabase(
  env: { readonly DATABASE_URL: string; readonly DATABASE_DIRECT_URL?: string; readonly DATA_DIR: string },
  { onPoolError = () => {}, ...wait }: PostgresWait & { readonly onPoolError?: (error: Error) => void } = {},
): Promise<Database> {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl = '' } = env
  if (url !== '') {
    const { isPooler, openPostgres, postgresDialect } = await import('./postgres.ts')
    const isPooled = await isPooler(url, wait)
    const pool = openPostgres({ url, isPooled })
    pool.on('error', onPoolError)
    const db = new RetryingQueries({ dialect: postgresDialect(pool, isPooled) })
    const direct = directUrl === '' ? { url, isPooled } : { url: directUrl, isPooled: false }
    return { dialect: 'postgres', db, url, isPooled, direct, pool, close: () => db.destroy() }
  }

  mkdirSync(env.DATA_DIR, { recursive: true, mode: 0o700 })
  const file = join(env.DATA_DIR, databaseFile)
  if (existsSync(file)) requireOwnFile(file)
  return openSqliteDatabase(file)
}

/** Checks a file without changing it: opening it normally would change its journal mode. */
function requireOwnFile(file: string): void {
  const database = openSqliteReading(file)
  try {
    const columns = database
      .prepare(
        `select m.name as of_table, c.name as named from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table' and m.name in ('users', 'tokens', 'channels', 'options', 'key_ring')`,
      )
      .all()
    const tables = new Map<string, string[]>()
    for (const { of_table, named } of columns)
      tables.set(String(of_table), [...(tables.get(String(of_table)) ?? []), String(named)])
    requireOwn(tables, file)
  } finally {
    database.close()
  }
}

/** Writes the present state of a database file into a new file, while servers continue to write to the first. */
export function copyDatabaseFile(file: string, copy: string): void {
  requireOwnFile(file)
  makePrivateFile(copy)
  const database = openSqliteReading(file)
  try {
    database.prepare('vacuum into ?').run(copy)
  } finally {
    database.close()
  }
}

/** The embedded database, in `DATA_DIR`. */
export const databaseFile = 'app.db'

/** Opens a database file, which is created if absent. */
export function openSqliteDatabase(file: string): Extract<Database, { dialect: 'sqlite' }> {
  // This thread serves requests: it retries a lock later, and never blocks on it.
  const raw = openSqlite(file, 0)
  let backlog: Backlog | undefined
  const flush = (sql: string) => backlog?.flush(sql)
  const db = new RetryingQueries({ dialect: sqliteDialect(raw, flush) })
  const close = async () => {
    moveIntoFile(raw)
    await db.destroy()
  }
  const setBacklog = (next: Backlog | undefined) => {
    backlog = next
  }
  return { dialect: 'sqlite', db, file, raw, setBacklog, flush, close }
}

/**
 * Checkpoints the write-ahead log into the database file, which is then complete without it. Called when the last connection is
 * closed. Pages that cannot be moved stay in the log, from which the next start reads them.
 */
function moveIntoFile(raw: DatabaseSync): void {
  try {
    raw.exec(`pragma busy_timeout = ${checkpointMs}; pragma wal_checkpoint(truncate)`)
  } catch {
    // The disk is full, or the file was removed: nothing is lost by ignoring it.
  }
}

const checkpointMs = 2000
