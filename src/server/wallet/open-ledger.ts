import type { Core } from '../options/core.ts'
import { GroupedLedger } from './grouped-ledger.ts'
import type { Ledger } from './ledger.ts'
import { LinkedLedger, serveLedger } from './linked-ledger.ts'
import { SqliteStore } from './sqlite-store.ts'

const defaultCommitWaitMs = 5000

/**
 * Opens the money ledger over the core's database. Call `expire` afterwards, and then regularly: it ends open holds of killed
 * processes. Close it before the database. `commitWaitMs`: how long a reply waits for its commit at most, and one attempt to
 * commit for the lock of a SQLite file.
 */
export async function openLedger(core: Core, commitWaitMs = defaultCommitWaitMs): Promise<Ledger> {
  const { database, siblings } = core
  if (database.dialect === 'sqlite') {
    if (siblings?.isOwner === false) return new LinkedLedger(siblings)
    const ledger = new GroupedLedger(core, await SqliteStore.open(core, { file: database.file, commitWaitMs }), commitWaitMs)
    if (siblings) serveLedger(siblings, ledger, core.logger)
    return ledger
  }
  const { PostgresStore } = await import('./postgres-store.ts')
  return new GroupedLedger(core, new PostgresStore(core, database.url), commitWaitMs)
}
