import { crc32 } from 'node:zlib'

/** A batch of charges as text, which is durable. Numbers increase by one. */
export interface JournalledBatch {
  readonly number: number
  readonly text: string
}

/**
 * A record is bound to the state of the tables that it was made for: it is applied only to a database with its identity and run, and
 * only if that has everything that the tables had when the record was written.
 */
interface JournalRecord extends JournalledBatch {
  /** The identity of the database: 16 hexadecimal digits. */
  readonly id: string
  /** Chosen at random by each start of a server: 16 hexadecimal digits. */
  readonly run: string
  /** The number of the last batch that was in the tables. A record whose own number this is has no batch. */
  readonly base: number
}

/** Where a record is in its file. */
export interface FoundRecord extends JournalRecord {
  readonly end: number
}

interface ScannedRecords {
  readonly records: readonly FoundRecord[]
  /** Where a record could follow another, or begin the file, and none that is valid does. */
  readonly breaks: readonly number[]
}

/** The run of a database that no server of this version has started on. */
export const noRun = '0'.repeat(16)

/**
 * Little-endian: mark (4 bytes), checksum of all that follows (4), length of the text (4), format (4), identity (8), number (8), run
 * (8), base (8); then the text. Format 1 has neither run nor base.
 */
export const headerBytes = 48
const headerBytesOfFormat1 = 32
const mark = 0x4c44474a
const markBytes = Buffer.from('JGDL')
/** To be increased with every change of `Batch`, whose rows have no names. */
const format = 2
/** Any larger value is no format: a text has no two bytes of zeros. */
const formatMax = 0xffff

export function recordOf({ id, number, text, run, base }: JournalRecord): Buffer {
  const length = Buffer.byteLength(text)
  const record = Buffer.allocUnsafe(headerBytes + length)
  record.writeUInt32LE(mark, 0)
  record.writeUInt32LE(length, 8)
  record.writeUInt32LE(format, 12)
  record.write(id, 16, 'hex')
  record.writeBigUInt64LE(BigInt(number), 24)
  record.write(run, 32, 'hex')
  record.writeBigUInt64LE(BigInt(base), 40)
  record.write(text, headerBytes)
  record.writeUInt32LE(crc32(record.subarray(8)), 4)
  return record
}

/** All valid records, also those behind bytes that are none. Throws when a record has the format of a later version. */
export function scanRecords(path: string, bytes: Buffer): ScannedRecords {
  const records: FoundRecord[] = []
  const breaks: number[] = []
  let expectedAt = 0
  for (let at = 0; at !== -1 && at < bytes.length; ) {
    const found = recordAt(path, bytes, at)
    if (found) {
      records.push(found)
      at = expectedAt = found.end
      continue
    }
    if (at === expectedAt) breaks.push(at)
    at = bytes.indexOf(markBytes, at + 1)
  }
  return { records, breaks }
}

/** Whether a file begins as every file of a journal does, however its first record was written. */
export function beginsWithMark(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32LE(0) === mark
}

/**
 * Whether bytes that are no valid record were one with this number, or began to be: any two of mark, identity and number are enough,
 * or a mark near the end. What an earlier use of the file has left is not, because its numbers are lower.
 */
export function isRestOfRecord(bytes: Buffer, at: number, { id, number }: { id: string; number: number }): boolean {
  const hasMark = bytes.length - at >= 4 && bytes.readUInt32LE(at) === mark
  if (bytes.length - at < headerBytes) return hasMark
  const hasId = bytes.toString('hex', at + 16, at + 24) === id
  const hasNumber = bytes.readBigUInt64LE(at + 24) === BigInt(number)
  return Number(hasMark) + Number(hasId) + Number(hasNumber) >= 2
}

function recordAt(path: string, bytes: Buffer, at: number): FoundRecord | undefined {
  if (at + headerBytesOfFormat1 > bytes.length || bytes.readUInt32LE(at) !== mark) return undefined
  const found = bytes.readUInt32LE(at + 12)
  if (found === 0 || found > formatMax) return undefined
  const textAt = at + (found === 1 ? headerBytesOfFormat1 : headerBytes)
  const end = textAt + bytes.readUInt32LE(at + 8)
  if (end > bytes.length || bytes.readUInt32LE(at + 4) !== crc32(bytes.subarray(at + 8, end))) return undefined
  if (found > format) throw new Error(`${path} was written by another version: start that one once`)
  return {
    id: bytes.toString('hex', at + 16, at + 24),
    number: Number(bytes.readBigUInt64LE(at + 24)),
    run: found === 1 ? noRun : bytes.toString('hex', at + 32, at + 40),
    base: found === 1 ? 0 : Number(bytes.readBigUInt64LE(at + 40)),
    text: bytes.toString('utf8', textAt, end),
    end,
  }
}
