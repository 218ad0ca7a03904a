import type { Core } from '../options/core.ts'
import { GroupedLedger } from './grouped-ledger.ts'
import type { Ledger } from './ledger.ts'
import { LinkedLedger, serveLedger } from './linked-ledger.ts'
import { SqliteStore } from './sqlite-store.ts'

/**
 * Opens the money ledger over the core's database. Call `expire` afterwards, and then regularly: it ends open holds of killed
 * processes. Close it before the database. `commitWaitMs`: how long a reply waits for its commit at most, five seconds by default.
 */
export async function openLedger(core: Core, commitWaitMs?: number): Promise<Ledger> {
  const { database, siblings } = core
  if (database.dialect === 'sqlite') {
    if (siblings?.isOwner === false) return new LinkedLedger(siblings)
    const ledger = new GroupedLedger(core, await SqliteStore.open(core, database.file), commitWaitMs)
    if (siblings) serveLedger(siblings, ledger, core.logger)
    return ledger
  }
  const { PostgresStore } = await import('./postgres-store.ts')
  return new GroupedLedger(core, new PostgresStore(core, database.url), commitWaitMs)
}
