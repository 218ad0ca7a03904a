import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from './open.ts'
import { lockForServer } from './sqlite-file.ts'
import { storageOf } from './storage.ts'

/** What a file of SQLite needs to be written anew without the space of its deleted rows, in bytes and seconds. */
export interface CompactPlan {
  readonly bytes: number
  readonly unusedBytes: number
  readonly neededBytes: number
  readonly freeBytes: number
  readonly seconds: number
}

type Sqlite = Extract<Database, { dialect: 'sqlite' }>

/** About what an ordinary disk takes. */
const bytesPerSecond = 50e6

export async function planCompact(database: Sqlite): Promise<CompactPlan> {
  const { bytes, unusedBytes } = await storageOf(database)
  const used = bytes - unusedBytes
  const { bavail, bsize } = statfsSync(dirname(database.file))
  // The rows once more in a temporary file, and once in the write-ahead log.
  return { bytes, unusedBytes, neededBytes: 2 * used, freeBytes: bavail * bsize, seconds: Math.ceil(used / bytesPerSecond) }
}

/**
 * Writes the file anew without the space of deleted rows; returns its size. One commit of SQLite: a process that ends within it leaves the
 * file as it was. Throws while a server uses the file, and when the disk has too little space.
 */
export async function compact(database: Sqlite): Promise<number> {
  const { neededBytes, freeBytes } = await planCompact(database)
  if (freeBytes < neededBytes)
    throw new Error(
      `The disk of ${database.file} has ${mb(freeBytes)} MB free, and ${mb(neededBytes)} MB are needed: make room first`,
    )
  const lock = lockForServer(database.file, 0)
  const { SQLITE_TMPDIR: folder } = process.env
  try {
    // Beside the file, where the space was measured.
    process.env.SQLITE_TMPDIR = dirname(database.file)
    database.raw.exec('pragma temp_store = file; vacuum; pragma wal_checkpoint(truncate); pragma temp_store = memory')
  } finally {
    if (folder === undefined) delete process.env.SQLITE_TMPDIR
    else process.env.SQLITE_TMPDIR = folder
    lock.close()
  }
  return (await storageOf(database)).bytes
}

export function mb(bytes: number): number {
  return Math.ceil(bytes / 1e6)
}
