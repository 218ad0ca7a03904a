import pg from 'pg'
import { fillLog } from '../../scripts/bench/fill-log.mjs'
import type { Database } from '../../src/server/base/db/open.ts'

/** Fills the log of a database with so many rows, of the 30 days before now or another end. */
export async function fillWithLog(database: Database, rows: number, endSeconds = Math.floor(Date.now() / 1000)): Promise<void> {
  const given = { dialect: database.dialect, rows, endSeconds, log: () => {} }
  if (database.dialect === 'sqlite') return fillLog({ ...given, run: async (text) => database.raw.exec(text) })
  // A separate connection: those of the server have a short statement timeout.
  const filler = new pg.Client({ connectionString: database.url, statement_timeout: 0 })
  await filler.connect()
  await fillLog({ ...given, run: async (text) => void (await filler.query(text)) })
  await filler.end()
}
