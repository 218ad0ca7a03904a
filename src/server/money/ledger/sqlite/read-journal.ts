import { bytesOf, pathsOf, type SetAsideReason } from './journal-files.ts'
import { beginsWithMark, type FoundRecord, isRestOfRecord, type JournalledBatch, noRun, scanRecords } from './journal-record.ts'

/** The row of `ledger_journal`. */
export interface JournalPosition {
  /** The identity of the database: 16 hexadecimal digits. */
  readonly id: string
  /** The run of the last start: 16 hexadecimal digits. */
  readonly run: string
  /** The number of the last batch in the tables. */
  readonly applied: number
}

export interface ReadFile {
  readonly path: string
  /** It is a regular file. */
  readonly isRegular: boolean
  /** Its batches that are not in the tables, in order of their numbers. */
  readonly batches: readonly JournalledBatch[]
  /** Where the next record can be written without overwriting one that is not in the tables. */
  readonly end: number
  /** Why it has to be set aside, if it has to. */
  readonly reason: SetAsideReason | undefined
}

interface ReadJournal {
  readonly files: readonly [ReadFile, ReadFile]
  /** Batches that must have been there, because later ones are. */
  readonly missing: number
  /** The journal ends with a record that is incomplete or damaged. */
  readonly isTorn: boolean
}

interface Scanned {
  readonly path: string
  readonly bytes: Buffer | 'none' | undefined
  readonly records: readonly FoundRecord[]
  readonly breaks: readonly number[]
}

/**
 * Reads the files of a journal, and judges by the numbers of the valid records what they are. Changes nothing: a server may be using
 * them. Throws when a file cannot be read, or was written by a later version.
 *
 * - Numbers up to the one in the tables are left over from an earlier use of a file.
 * - Numbers that continue the tables without a gap are all that was acknowledged. An invalid record behind them is one whose writing
 *   was interrupted.
 * - With a gap or a repetition among them the files are damaged; the other batches are still valid.
 * - Records of another run, or that were written when the tables had more, belong to another state of the database, such as a later
 *   one than a restored copy. Nothing of that journal is valid.
 */
export function readJournal(database: string, position: JournalPosition): ReadJournal {
  const paths = pathsOf(database)
  const [one, two] = [scanFile(paths[0]), scanFile(paths[1])]
  const own = [...one.records, ...two.records].filter(({ id }) => id === position.id)
  if (own.some((record) => isOfOtherState(record, position)))
    return { files: [fileOf(one, [], 'foreign'), fileOf(two, [], 'foreign')], missing: 0, isTorn: false }

  const isLeft = ({ id, number }: FoundRecord) => id === position.id && number > position.applied
  const left = own.filter(isLeft)
  const numbers = new Set(left.map(({ number }) => number))
  const last = Math.max(position.applied, ...numbers)
  const missing = last - position.applied - numbers.size
  const irregular = missing > 0 || numbers.size < left.length ? 'damaged' : undefined
  const judged = (file: Scanned) => {
    const batches = file.records.filter(isLeft).sort((before, after) => before.number - after.number)
    return fileOf(file, batches, reasonOf(file, position) ?? irregular)
  }
  const next = { id: position.id, number: last + 1 }
  const isTorn = ({ bytes, breaks }: Scanned) => bytes instanceof Buffer && breaks.some((at) => isRestOfRecord(bytes, at, next))
  return { files: [judged(one), judged(two)], missing, isTorn: isTorn(one) || isTorn(two) }
}

function scanFile(path: string): Scanned {
  const bytes = bytesOf(path)
  return { path, bytes, ...(bytes instanceof Buffer ? scanRecords(path, bytes) : { records: [], breaks: [] }) }
}

function isOfOtherState({ number, base, run }: FoundRecord, position: JournalPosition): boolean {
  return base > position.applied || (number > position.applied && run !== position.run)
}

function fileOf({ path, bytes }: Scanned, batches: readonly FoundRecord[], reason: SetAsideReason | undefined): ReadFile {
  const isRegular = bytes instanceof Buffer
  // Everything in a file that is to be set aside is kept.
  const end = reason && isRegular ? bytes.length : (batches.at(-1)?.end ?? 0)
  const texts = batches.map(({ number, text }) => ({ number, text }))
  return { path, isRegular, batches: texts, end, reason: bytes === undefined ? undefined : reason }
}

/** What is wrong with a file by itself. */
function reasonOf({ bytes, records }: Scanned, { id, run }: JournalPosition): SetAsideReason | undefined {
  if (bytes === undefined) return undefined
  const others = records.filter((record) => record.id !== id)
  if (others.length > 0) return others.length === records.length ? 'foreign' : 'damaged'
  // Files begin with a record from their creation on; those of older versions were empty first.
  const isBegun = bytes instanceof Buffer && (beginsWithMark(bytes) || (run === noRun && bytes.length === 0))
  return isBegun ? undefined : 'damaged'
}
