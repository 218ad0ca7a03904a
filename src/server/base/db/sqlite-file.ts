import { DatabaseSync } from 'node:sqlite'
import { makePrivateFile } from '../lib/process/private-files.ts'

/**
 * Opens a connection to a SQLite file, which is made private: SQLite gives its mode to the write-ahead log and the files beside it.
 * Imports little, so that a worker thread stays small.
 * `lockWaitMs` is how long a statement may hold up its thread for the write lock; opening the file itself waits up to 5 seconds.
 */
export function openSqlite(file: string, lockWaitMs = 5000): DatabaseSync {
  makePrivateFile(file)
  const database = new DatabaseSync(file)
  database.exec(
    'pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -16000',
  )
  database.exec(`pragma busy_timeout = ${lockWaitMs}`)
  return database
}

/** Opens a file of another program: nothing is written to it. */
export function openSqliteReading(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true })
  database.exec('pragma busy_timeout = 5000; pragma cache_size = -16000')
  return database
}

/** How the name of the file with the lock of a server ends. */
export const lockEnd = '-charges-lock'

/**
 * Takes the lock of the one server that uses a database file, in a file of its own beside it. It ends with the connection, and with
 * the process however that ends. Throws when another server still has it after `waitMs`, for which it holds up its thread.
 */
export function lockForServer(file: string, waitMs: number): DatabaseSync {
  makePrivateFile(file + lockEnd)
  const database = new DatabaseSync(file + lockEnd)
  try {
    database.exec(`pragma busy_timeout = ${waitMs}; pragma journal_mode = memory; begin exclusive`)
    return database
  } catch (cause) {
    database.close()
    if (!isBusy(cause)) throw cause
    throw new Error(`Another server uses ${file}: stop it first, or set another DATA_DIR`, { cause })
  }
}

/** Whether another connection had the lock. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === 5
}

/** SQLite's code of a failure, without its details. */
export function primaryCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
}
