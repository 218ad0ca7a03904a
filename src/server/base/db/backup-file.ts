import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { lockEnd, primaryCode } from './sqlite-file.ts'

/**
 * The file of a backup: a SQLite file, followed by its checksum. SQLite ignores what follows the last page, so that its own tools read a
 * backup too. A field of the file's header says that a checksum follows: damage to either is not taken for a backup without one.
 */
const checksumMark = 'sluice-sha256:'
const trailerBytes = checksumMark.length + 64 + 1
/** The `application_id` of a SQLite file that a checksum follows: `Slb1`. Backups without a checksum, of earlier versions, have 0. */
export const backupId = 0x536c6231

const chunkBytes = 1 << 20
const advice = 'Nothing was restored. Take another copy of this backup, or an earlier one'

/** Adds the checksum to a finished SQLite file, and waits until the file is on the disk. Memory use does not grow with the file. */
export function sealBackup(file: string): void {
  const descriptor = openSync(file, 'a+')
  try {
    writeFileSync(descriptor, `${checksumMark}${hashOf(descriptor, Number.POSITIVE_INFINITY).hash}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Copies the SQLite file of a backup, and compares it with the checksum on the way: what was compared is what is restored. Returns
 * whether the backup has a checksum. Throws when it is damaged, cut off or extended.
 */
export function copyBackup(file: string, copy: string): boolean {
  const [from, to] = [openSync(file, 'r'), openSync(copy, 'wx', 0o600)]
  try {
    const { bytes, id } = readHeader(from, file)
    if (id === 0) {
      hashOf(from, Number.POSITIVE_INFINITY, to)
      return false
    }
    const found = hashOf(from, bytes, to)
    const trailer = Buffer.alloc(trailerBytes + 1)
    const trailing = readSync(from, trailer, 0, trailer.length, bytes)
    if (id !== backupId) throw new Error(`${file} is damaged, or of a newer version: its header has an unknown value. ${advice}`)
    if (found.bytes < bytes || trailing < trailerBytes)
      throw new Error(`${file} is cut off: it has ${found.bytes + trailing} of ${bytes + trailerBytes} bytes. ${advice}`)
    if (trailing > trailerBytes)
      throw new Error(`${file} is damaged: it is longer than the ${bytes + trailerBytes} bytes that were written. ${advice}`)
    if (trailer.toString('latin1', 0, trailerBytes) !== `${checksumMark}${found.hash}\n`)
      throw new Error(`${file} is damaged: its content does not have the checksum that was written with it. ${advice}`)
    return true
  } finally {
    closeSync(from)
    closeSync(to)
  }
}

/** What to say when SQLite cannot read the copy of a backup; undefined for any other failure. */
export function damageOf(error: unknown, file: string): Error | undefined {
  const isDamage = [corrupt, notADatabase].includes(primaryCode(error) ?? 0)
  return isDamage ? new Error(`${file} is damaged: ${String(error)}. ${advice}`, { cause: error }) : undefined
}

const corrupt = 11
const notADatabase = 26

/** Removes a database file and what SQLite and a server keep beside it. */
export function removeDatabaseFile(file: string): void {
  for (const end of ['', '-wal', '-shm', '-journal', lockEnd]) rmSync(file + end, { force: true })
}

/** From the header of a SQLite file: its length by the number of its pages, and its `application_id`. Throws when it is another file. */
function readHeader(descriptor: number, file: string): { readonly bytes: number; readonly id: number } {
  const header = Buffer.alloc(100)
  const length = readSync(descriptor, header, 0, header.length, 0)
  if (length < header.length || header.toString('latin1', 0, 16) !== 'SQLite format 3\0')
    throw new Error(`${file} does not begin like a backup: it is another file, or it is damaged. ${advice}`)
  const size = header.readUInt16BE(16)
  const pageBytes = size === 1 ? 65_536 : size
  return { bytes: pageBytes * header.readUInt32BE(28), id: header.readUInt32BE(68) }
}

/** The SHA-256 of the first bytes of a file, which are also written to `copy`, if one is given. */
function hashOf(descriptor: number, bytesMax: number, copy?: number): { readonly hash: string; readonly bytes: number } {
  const sum = createHash('sha256')
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let bytes = 0
  while (bytes < bytesMax) {
    const length = readSync(descriptor, chunk, 0, Math.min(chunkBytes, bytesMax - bytes), bytes)
    if (length === 0) break
    const read = chunk.subarray(0, length)
    sum.update(read)
    if (copy !== undefined) for (let at = 0; at < length; ) at += writeSync(copy, read, at, length - at)
    bytes += length
  }
  return { hash: sum.digest('hex'), bytes }
}
