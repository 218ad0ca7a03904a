import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../../base/db/open.ts'
import type { JournalFindings } from './charge-journal.ts'
import { type JournalPosition, readJournal } from './read-journal.ts'
import { SqliteWriter } from './sqlite-writer.ts'

const pollMs = 50
const polls = 140

/**
 * Waits until all charges that are durable now are in the tables, for a process beside a server. A running server writes them, and
 * gets seven seconds; what a server that died has left is written by this process, which also sets damaged files aside. Throws when
 * they are not all written. `warn` is called with what an operator has to know.
 */
export async function drainJournal(database: Database, warn: (text: string) => void): Promise<void> {
  if (database.dialect === 'postgres') return
  const { file, db } = database
  const position = (): Promise<JournalPosition> => db.selectFrom('ledger_journal').selectAll().executeTakeFirstOrThrow()
  const before = await position()
  const { files } = readJournal(file, before)
  const last = Math.max(before.applied, ...files.flatMap(({ batches }) => batches.map(({ number }) => number)))
  const isDrained = async () => (await position()).applied >= last

  if (files.every(({ reason }) => reason === undefined) && (await isDrained())) return
  // It starts unless a server has the journal.
  const isWritten = await writeLeft(file, warn).catch(() => false)
  for (let tries = 0; !isWritten; tries++) {
    if (await isDrained()) return
    if (tries === polls)
      throw new Error('The newest charges are in the journal, and not in the tables: start the server, or try again')
    await pause(pollMs)
  }
}

async function writeLeft(file: string, warn: (text: string) => void): Promise<true> {
  const writer = new SqliteWriter({
    file,
    startWaitMs: 0,
    onStarted({ refused, unlogged }, findings) {
      for (const text of textsOf(findings)) warn(text)
      if (refused.length > 0) warn(`The database does not accept ${refused.length} charges, which stay in the journal`)
      if (unlogged.length > 0)
        warn(`The database does not accept the log rows of ${unlogged.length} charges, which are written without them`)
    },
  })
  try {
    await writer.start()
    return true
  } finally {
    await writer.close()
  }
}

function textsOf({ foreign, damaged, missing, isTorn }: JournalFindings): string[] {
  return [
    ...(foreign.length > 0
      ? [`These files belong to another database or another state of it, and were set aside: ${foreign.join(', ')}`]
      : []),
    ...(damaged.length > 0
      ? [
          `The journal is damaged, and charges may be missing (${missing} batches for certain). What is valid is in the ledger; the files were set aside: ${damaged.join(', ')}`,
        ]
      : []),
    ...(isTorn ? ['The journal ends with an incomplete record, as after a power failure; it is ignored'] : []),
  ]
}
