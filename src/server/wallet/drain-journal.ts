import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../db/open.ts'
import { type JournalPosition, lastJournalled } from './charge-journal.ts'
import { SqliteWriter } from './sqlite-writer.ts'

const pollMs = 50
const polls = 140

/**
 * Waits until all charges that are durable now are in the tables, for a process beside a server. A running server writes them, and
 * gets seven seconds; what a server that died has left is written by this process. Throws when they are not all written. `warn` is
 * called with what an operator has to know.
 */
export async function drainJournal(database: Database, warn: (text: string) => void): Promise<void> {
  if (database.dialect === 'postgres') return
  const { file, db } = database
  const position = (): Promise<JournalPosition> => db.selectFrom('ledger_journal').selectAll().executeTakeFirstOrThrow()
  const last = lastJournalled(file, await position())
  const isDrained = async () => (await position()).applied >= last

  if (await isDrained()) return
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
    onStarted({ refused, unlogged }, foreign) {
      if (foreign.length > 0) warn(`These files belong to another database, and were set aside: ${foreign.join(', ')}`)
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
