import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'

/** A batch of charges as text, which is durable. Numbers increase by one. */
export interface JournalledBatch {
  readonly number: number
  readonly text: string
}

/** The row of `ledger_journal`. */
export interface JournalPosition {
  /** The identity of the database: 16 hexadecimal digits. */
  readonly id: string
  /** The number of the last batch in the tables. */
  readonly applied: number
}

interface JournalFile {
  readonly path: string
  descriptor: number
  /** Identifies the file that is open, which may no longer be the one with this path. */
  inode: number
  /** The end of the last valid record; the next one is written there. */
  end: number
  /** The batches that are not in the tables. */
  batches: JournalledBatch[]
}

/**
 * Little-endian: mark (4 bytes), checksum of all that follows (4), length of the text (4), format of the text (4), identity (8),
 * number (8); then the text.
 */
const headerBytes = 32
const mark = 0x4c44474a
/** To be increased with every change of `Batch`, whose rows have no names. */
const format = 1
/** A file longer than this is truncated before it is used again. */
const bytesMax = 8 * 1024 * 1024

/**
 * The journal of a SQLite database: batches of charges that are durable, but not in the tables yet. Appending a batch is one write
 * with a sync, which costs less than half of a transaction that changes the tables; many batches are then applied to these together.
 *
 * Two files beside the database are used in turn: while the batches of one are applied, new ones go to the other. A file is used
 * again from its start, when all of its batches are in the tables; behind the last valid record follow those of its earlier use,
 * which have lower numbers.
 */
export class ChargeJournal {
  readonly #id: string
  #current: JournalFile
  #other: JournalFile
  #last: number
  /** The last append failed, and may have left a record that the next one has to overwrite. */
  #isTorn = false

  /**
   * Opens the files of a database, and creates them if absent. `foreign` are the new names of files that belong to another database
   * or to another state of it, such as an older copy: they were renamed, and nothing in them is applied.
   */
  static open(database: string, position: JournalPosition): { journal: ChargeJournal; foreign: readonly string[] } {
    const paths = pathsOf(database)
    const foreign = isForeign(paths, position) ? paths.filter((path) => existsSync(path)).map(setAside) : []
    const [one, two] = paths.map((path) => openFile(path, position)) as [JournalFile, JournalFile]
    syncFolder(dirname(database))
    return { journal: new ChargeJournal(one, two, position), foreign }
  }

  private constructor(one: JournalFile, two: JournalFile, { id, applied }: JournalPosition) {
    this.#id = id
    const [lastOfOne = applied, lastOfTwo = applied] = [one, two].map(({ batches }) => batches.at(-1)?.number)
    this.#current = lastOfTwo > lastOfOne ? two : one
    this.#other = lastOfTwo > lastOfOne ? one : two
    this.#last = Math.max(lastOfOne, lastOfTwo)
  }

  /** The batches that are not in the tables, in order. */
  unapplied(): readonly JournalledBatch[] {
    return [...this.#other.batches, ...this.#current.batches]
  }

  /** Returns the number of the batch once it is durable. Throws when it was not written, or when that is unknown. */
  append(text: string): number {
    for (const file of [this.#other, this.#current]) if (isReplaced(file)) this.#recreate(file)
    const batch = { number: this.#last + 1, text }
    const record = recordOf(this.#id, batch)
    this.#isTorn = true
    writeDurably(this.#current.descriptor, record, this.#current.end)
    this.#isTorn = false
    this.#current.end += record.length
    this.#current.batches.push(batch)
    this.#last = batch.number
    return batch.number
  }

  /** Directs new batches to the other file, if all batches of that one are in the tables. */
  turn(): void {
    if (this.#other.batches.length > 0 || this.#isTorn) return
    const next = this.#other
    const isLarge = next.end > bytesMax
    next.end = 0
    this.#other = this.#current
    this.#current = next
    if (isLarge) attempt(() => ftruncateSync(next.descriptor, 0))
  }

  /** All batches up to this number are in the tables, durably. */
  applied(number: number): void {
    for (const file of [this.#current, this.#other]) file.batches = file.batches.filter((batch) => batch.number > number)
  }

  /** Removes the files if all batches are in the tables, so that the database file alone is complete. */
  close(): void {
    const isEmpty = this.unapplied().length === 0
    for (const { path, descriptor } of [this.#current, this.#other]) {
      attempt(() => closeSync(descriptor))
      if (isEmpty) attempt(() => rmSync(path, { force: true }))
    }
  }

  /** Writes the batches of a deleted or moved file into a new one, because no start would find them. */
  #recreate(file: JournalFile): void {
    const descriptor = openSync(file.path, flags, 0o600)
    try {
      const records = Buffer.concat(file.batches.map((batch) => recordOf(this.#id, batch)))
      ftruncateSync(descriptor, 0)
      writeDurably(descriptor, records, 0)
      syncFolder(dirname(file.path))
      const { descriptor: deleted } = file
      file.descriptor = descriptor
      file.inode = fstatSync(descriptor).ino
      file.end = records.length
      attempt(() => closeSync(deleted))
    } catch (error) {
      attempt(() => closeSync(descriptor))
      throw error
    }
  }
}

/** The number of the last batch that the files of a database have for it. Changes nothing: a server may be using them. */
export function lastJournalled(database: string, { id, applied }: JournalPosition): number {
  const records = pathsOf(database).flatMap((path) => readRecords(path).records)
  return Math.max(applied, ...records.filter((record) => record.id === id).map(({ number }) => number))
}

function pathsOf(database: string): string[] {
  return [`${database}-charges-1`, `${database}-charges-2`]
}

const flags = constants.O_RDWR | constants.O_CREAT

function isReplaced({ path, inode }: JournalFile): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino !== inode
}

/** For what only tidies up. */
function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // The files stay as they are, which is valid.
  }
}

function openFile(path: string, { id, applied }: JournalPosition): JournalFile {
  const descriptor = openSync(path, flags, 0o600)
  const { records, end } = readRecords(path)
  const own = records.filter((record) => record.id === id && record.number > applied)
  const batches = own.map(({ number, text }) => ({ number, text }))
  // Numbers of a file are contiguous, so that a record cannot follow one that is in the tables and older.
  return { path, descriptor, inode: fstatSync(descriptor).ino, end: batches.length > 0 ? end : 0, batches }
}

/** Whether the files hold records of another database, or batches that do not continue its tables. */
function isForeign(paths: readonly string[], { id, applied }: JournalPosition): boolean {
  const records = paths.flatMap((path) => readRecords(path).records)
  const numbers = records.map(({ number }) => number).filter((number) => number > applied)
  const isGapless = numbers.sort((one, other) => one - other).every((number, index) => number === applied + 1 + index)
  return !isGapless || records.some((record) => record.id !== id)
}

function setAside(path: string): string {
  const aside = `${path}-foreign-${Date.now()}`
  renameSync(path, aside)
  return aside
}

interface JournalRecord extends JournalledBatch {
  readonly id: string
}

function recordOf(id: string, { number, text }: JournalledBatch): Buffer {
  const length = Buffer.byteLength(text)
  const record = Buffer.allocUnsafe(headerBytes + length)
  record.writeUInt32LE(mark, 0)
  record.writeUInt32LE(length, 8)
  record.writeUInt32LE(format, 12)
  record.write(id, 16, 'hex')
  record.writeBigUInt64LE(BigInt(number), 24)
  record.write(text, headerBytes)
  record.writeUInt32LE(crc32(record.subarray(8)), 4)
  return record
}

/**
 * The valid records with contiguous numbers from the start of the file, and where they end; none if it is absent. Throws when they
 * have another format.
 */
function readRecords(path: string): { records: readonly JournalRecord[]; end: number } {
  const bytes = bytesOf(path)
  const records: JournalRecord[] = []
  let end = 0
  while (end + headerBytes <= bytes.length && bytes.readUInt32LE(end) === mark) {
    const next = end + headerBytes + bytes.readUInt32LE(end + 8)
    if (next > bytes.length || bytes.readUInt32LE(end + 4) !== crc32(bytes.subarray(end + 8, next))) break
    if (bytes.readUInt32LE(end + 12) !== format) throw new Error(`${path} was written by another version: start that one once`)
    const number = Number(bytes.readBigUInt64LE(end + 24))
    const before = records.at(-1)
    if (before && number !== before.number + 1) break
    const text = bytes.toString('utf8', end + headerBytes, next)
    records.push({ id: bytes.toString('hex', end + 16, end + 24), number, text })
    end = next
  }
  return { records, end }
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

function writeDurably(descriptor: number, bytes: Buffer, at: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written, at + written)
  fdatasyncSync(descriptor)
}

/** Makes the names of new files in it durable; Windows has no such call. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(path, constants.O_RDONLY)
  fsyncSync(descriptor)
  closeSync(descriptor)
}
