import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { isBusy, lockForServer, openSqlite } from '../../../base/db/sqlite-file.ts'
import { ChargeJournal, type JournalFindings } from './charge-journal.ts'
import type { JournalPosition } from './read-journal.ts'
import { type Applied, prepareApply } from './sqlite-apply.ts'
import type { Batch } from './sqlite-commit.ts'

/**
 * The thread that writes the ledger of a SQLite file, so that waiting for the disk never delays requests. It appends batches to the
 * journal, and applies the journal to the tables; between the statements of the second it does the first, so that an answer to a
 * caller waits for one append at most. At its start it applies what an earlier process has left.
 */
export type Order = { readonly append: string } | 'apply' | 'close'

export type Answer =
  | { readonly started: AppliedUpTo; readonly findings: JournalFindings }
  | { readonly appended: number }
  | { readonly applied: AppliedUpTo }
  | { readonly failed: 'append' | 'apply'; readonly message: string }

export interface AppliedUpTo extends Applied {
  /** The number of the last batch in the tables. */
  readonly number: number
  /** The number of the batch that has the refused charges. */
  readonly keptIn: number
}

export interface ThreadSettings {
  readonly file: string
  /** How long the start waits for the locks of the file and of its journal. */
  readonly startWaitMs: number
  /** The thread replaces one that died: charges have to be durable even if the tables are locked now. */
  readonly isReplacement: boolean
}

/** An attempt to change the tables waits for the write lock of the file for so long, with a pause for appends after each of these. */
const lockWaitMs = 2000
const lockPauseMs = 5

// The thread is started by `sqlite-writer.ts` alone, with this data.
const { file, startWaitMs, isReplacement } = workerData as ThreadSettings
if (!parentPort) throw new Error('The ledger worker runs as a worker thread only')
const port: MessagePort = parentPort

// Two processes with one journal would overwrite each other's charges.
const lock = lockForServer(file, startWaitMs)
const database = openSqlite(file, startWaitMs)
const { journal, findings } = ChargeJournal.open(file, positionIn(database))
let keptIn = 0
let isApplying = true
let isApplyAsked = false
const apply = prepareApply(database, {
  onPause: takeOrders,
  keep(refused) {
    keptIn = journal.append(JSON.stringify(refused))
  },
})

const started = applyFirst()
if (!isReplacement && journal.unapplied().length === 0) beginRun()
journal.repair()
answer({ started, findings })
isApplying = false
database.exec(`pragma busy_timeout = ${lockPauseMs}`)
port.on('message', take)
if (isApplyAsked) applyUntilDone()

function answer(given: Answer): void {
  port.postMessage(given)
}

function take(order: Order): void {
  if (order === 'close') {
    journal.close()
    database.close()
    lock.close()
    port.close()
  } else if (order !== 'apply') append(order.append)
  else if (isApplying) isApplyAsked = true
  else applyUntilDone()
}

/** The orders that have arrived meanwhile. */
function takeOrders(): void {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) take(next.message as Order)
}

function append(text: string): void {
  try {
    answer({ appended: journal.append(text) })
  } catch (error) {
    answer({ failed: 'append', message: String(error) })
  }
}

/** What an earlier process or thread has left. While the tables are locked, a replacement leaves it to a later order. */
function applyFirst(): AppliedUpTo {
  const left = unappliedBatches()
  try {
    return applyBatches(left)
  } catch (error) {
    // Nothing may be written into a damaged file but what waits for the tables.
    if (!isReplacement || !isBusy(error) || journal.isDamaged) throw error
    const refused = left.batches.flatMap(({ charges }) => charges)
    return { ...nothingApplied(), keptIn: left.last, refused }
  }
}

function applyUntilDone(): void {
  isApplying = true
  do {
    isApplyAsked = false
    try {
      answer({ applied: applyPatiently() })
    } catch (error) {
      answer({ failed: 'apply', message: String(error) })
    }
  } while (isApplyAsked)
  isApplying = false
}

/** Waits for the write lock, and appends meanwhile. */
function applyPatiently(): AppliedUpTo {
  const latest = performance.now() + lockWaitMs
  // Those that arrive from now on go to the other file.
  journal.turn()
  const unapplied = unappliedBatches()
  for (;;) {
    try {
      return applyBatches(unapplied)
    } catch (error) {
      if (!isBusy(error) || performance.now() > latest) throw error
      takeOrders()
    }
  }
}

interface Unapplied {
  readonly batches: readonly Batch[]
  /** The number of the last; 0 if there is none. */
  readonly last: number
}

function unappliedBatches(): Unapplied {
  const found = journal.unapplied()
  // Only this program writes the texts.
  return { batches: found.map(({ text }) => JSON.parse(text) as Batch), last: found.at(-1)?.number ?? 0 }
}

function applyBatches({ batches, last }: Unapplied): AppliedUpTo {
  if (batches.length === 0) return nothingApplied()
  const outcome = apply(batches, last)
  journal.applied(last)
  return { ...outcome, number: last, keptIn }
}

function nothingApplied(): AppliedUpTo {
  return { number: positionIn(database).applied, keptIn, exhausted: [], known: [], unlogged: [], refused: [] }
}

/**
 * From now on an older copy of the database is another state of it, whose records are not those of this run. Charges that the tables
 * refuse keep the run in which they were journalled.
 */
function beginRun(): void {
  const run = randomBytes(8).toString('hex')
  database.prepare('update ledger_journal set run = ?').run(run)
  journal.begin(run)
}

function positionIn(database: DatabaseSync): JournalPosition {
  // The migration that creates the table writes its only row.
  return database.prepare('select id, run, applied from ledger_journal').get() as unknown as JournalPosition
}
