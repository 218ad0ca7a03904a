import { closeSync, fstatSync, ftruncateSync, lstatSync, rmSync, writeSync } from 'node:fs'
import { createFile, keepAside, openFile, type SetAsideReason, setAside, writeDurably } from './journal-files.ts'
import { headerBytes, type JournalledBatch, recordOf } from './journal-record.ts'
import { type JournalPosition, type ReadFile, readJournal } from './read-journal.ts'

/** What was wrong with the files of a journal when it was opened. */
export interface JournalFindings {
  /** New names of files of another database or another state of it, such as an older copy: nothing in them is applied. */
  readonly foreign: readonly string[]
  /** New names of damaged files: every valid batch in them is applied. */
  readonly damaged: readonly string[]
  /** Acknowledged batches that are not readable, as far as later ones tell. */
  readonly missing: number
  /** The journal ends with a record that is incomplete, so that it was not acknowledged, or damaged. */
  readonly isTorn: boolean
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
  /** It is also one that was set aside: a new file replaces it when its batches are in the tables. */
  isDamaged: boolean
}

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
  #run: string
  #current: JournalFile
  #other: JournalFile
  /** Numbers of the last batch in the journal, and in the tables. */
  #last: number
  #applied: number
  /** The last append failed, and may have left a record that the next one has to overwrite. */
  #isTorn = false

  /**
   * Opens the files of a database, and creates them if absent. Files that do not belong to this state of the database are renamed.
   * Damaged ones get a second name, until `repair`.
   */
  static open(database: string, position: JournalPosition): { journal: ChargeJournal; findings: JournalFindings } {
    const { files, missing, isTorn } = readJournal(database, position)
    const named = (reason: SetAsideReason, rename: (file: ReadFile) => string) =>
      files.filter((file) => file.reason === reason).map(rename)
    const foreign = named('foreign', ({ path }) => setAside(path, 'foreign'))
    const damaged = named('damaged', ({ path, isRegular }) => {
      return isRegular ? keepAside(database, path, 'damaged') : setAside(path, 'damaged')
    })
    const findings = { foreign, damaged, missing, isTorn }
    return { journal: new ChargeJournal(files, position), findings }
  }

  private constructor(files: readonly [ReadFile, ReadFile], { id, run, applied }: JournalPosition) {
    this.#id = id
    this.#run = run
    this.#applied = applied
    const [one, two] = files.map((file) => this.#open(file)) as [JournalFile, JournalFile]
    const [lastOfOne = applied, lastOfTwo = applied] = [one, two].map(({ batches }) => batches.at(-1)?.number)
    this.#current = lastOfTwo > lastOfOne ? two : one
    this.#other = lastOfTwo > lastOfOne ? one : two
    this.#last = Math.max(lastOfOne, lastOfTwo)
  }

  /** A file was damaged, and is still in use. */
  get isDamaged(): boolean {
    return this.#current.isDamaged || this.#other.isDamaged
  }

  /** The batches that are not in the tables, in order. */
  unapplied(): readonly JournalledBatch[] {
    return [...this.#other.batches, ...this.#current.batches].sort((one, other) => one.number - other.number)
  }

  /** Returns the number of the batch once it is durable. Throws when it was not written, or when that is unknown. */
  append(text: string): number {
    for (const file of [this.#other, this.#current]) if (isReplaced(file)) this.#recreate(file)
    const batch = { number: this.#last + 1, text }
    const record = this.#recordOf(batch)
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
    // A file always begins with a mark.
    if (isLarge) attempt(() => ftruncateSync(next.descriptor, headerBytes))
  }

  /** All batches up to this number are in the tables, durably. */
  applied(number: number): void {
    for (const file of [this.#current, this.#other]) file.batches = file.batches.filter((batch) => batch.number > number)
    this.#applied = number
    // Shows that these files are not for an older copy of the tables. The next batch, which shows it too, overwrites it.
    const { descriptor, end } = this.#current
    attempt(() => writeSync(descriptor, this.#markOfApplied(), 0, headerBytes, end))
  }

  /** The database has this run now. Call it only when all batches are in the tables. */
  begin(run: string): void {
    this.#run = run
  }

  /** Replaces the files that were damaged by new ones, with the batches that are not in the tables. */
  repair(): void {
    for (const file of [this.#current, this.#other]) if (file.isDamaged) this.#recreate(file)
  }

  /** Removes the files if all batches are in the tables, so that the database file alone is complete. */
  close(): void {
    const isEmpty = this.unapplied().length === 0
    for (const { path, descriptor } of [this.#current, this.#other]) {
      attempt(() => closeSync(descriptor))
      if (isEmpty) attempt(() => rmSync(path, { force: true }))
    }
  }

  #open({ path, batches, end, isRegular, reason }: ReadFile): JournalFile {
    const isInPlace = isRegular && reason !== 'foreign'
    const descriptor = isInPlace ? openFile(path) : createFile(path, this.#markOfApplied())
    const { ino } = fstatSync(descriptor)
    return {
      path,
      descriptor,
      inode: ino,
      end: isInPlace ? end : 0,
      batches: [...batches],
      isDamaged: isInPlace && reason === 'damaged',
    }
  }

  /** Writes the batches of a file into a new one, because no start would find them in one that was deleted or moved. */
  #recreate(file: JournalFile): void {
    if (isReplaced(file)) giveWay(file.path)
    const records = Buffer.concat(file.batches.map((batch) => this.#recordOf(batch)))
    const descriptor = createFile(file.path, records.length > 0 ? records : this.#markOfApplied())
    const { descriptor: before } = file
    file.descriptor = descriptor
    file.inode = fstatSync(descriptor).ino
    file.end = records.length
    file.isDamaged = false
    attempt(() => closeSync(before))
  }

  #recordOf(batch: JournalledBatch): Buffer {
    return recordOf({ ...batch, id: this.#id, run: this.#run, base: this.#applied })
  }

  /** A record without a batch. */
  #markOfApplied(): Buffer {
    return this.#recordOf({ number: this.#applied, text: '' })
  }
}

function isReplaced({ path, inode }: JournalFile): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.ino !== inode
}

/** A file that somebody put in place of an open one may have charges of another process. Throws if it is no regular file. */
function giveWay(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat && !stat.isFile()) throw new Error(`${path} is not a regular file`)
  if (stat) setAside(path, 'damaged')
}

/** For what only tidies up. */
function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // The files stay as they are, which is valid.
  }
}
