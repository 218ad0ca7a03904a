import type { Core } from '../../base/options/core.ts'
import { GroupedLedger } from './grouped-ledger.ts'
import type { Ledger } from './ledger.ts'
import { LinkedLedger, serveLedger } from './linked-ledger.ts'
import { SqliteStore } from './sqlite/sqlite-store.ts'
import { UnloggedCharges } from './unlogged-charges.ts'

const defaultCommitWaitMs = 5000

/**
 * Opens the money ledger over the core's database. Call `expire` afterwards, and then regularly: it ends open holds of killed
 * processes. Close it before the database. `commitWaitMs`: how long a reply waits for its commit at most, and the start for the lock
 * of a SQLite file.
 */
export async function openLedger(core: Core, commitWaitMs = defaultCommitWaitMs): Promise<Ledger> {
  const { database, siblings } = core
  if (database.dialect === 'sqlite') {
    if (siblings?.isOwner === false) return new LinkedLedger(siblings, database)
    const unlogged = new UnloggedCharges(core)
    const store = await SqliteStore.open(core, { database, unlogged, commitWaitMs })
    const ledger = new GroupedLedger(core, { store, unlogged, commitWaitMs })
    if (siblings) serveLedger(siblings, { ledger, backlog: store, logger: core.logger })
    return ledger
  }
  const { PostgresStore } = await import('./postgres/postgres-store.ts')
  const store = new PostgresStore(core, database)
  return new GroupedLedger(core, { store, unlogged: new UnloggedCharges(core), commitWaitMs })
}
