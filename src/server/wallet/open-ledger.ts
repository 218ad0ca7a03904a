import type { Core } from '../options/core.ts'
import { GroupedLedger } from './grouped-ledger.ts'
import type { Ledger } from './ledger.ts'
import { PostgresStore } from './postgres-store.ts'
import { SqliteStore } from './sqlite-store.ts'

/**
 * Opens the money ledger over the core's database. Call `expire` afterwards, and then regularly: it ends what a process that was
 * killed left open. Close it before the database.
 */
export async function openLedger(core: Core): Promise<Ledger> {
  const { database } = core
  const store =
    database.dialect === 'sqlite' ? await SqliteStore.open(core, database.file) : new PostgresStore(core, database.url)
  return new GroupedLedger(core, store)
}
