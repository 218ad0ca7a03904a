import type { Core } from '../options/core.ts'

/**
 * The ids of `tokens` rows for an `in (…)` of an UPDATE. On PostgreSQL the rows are locked in the order of their ids, as the
 * ledger's commits do, so that the two never deadlock; `skipLocked` leaves out rows that someone else is changing.
 */
export function rowsInOrder(core: Core, ids: readonly number[], { skipLocked = false } = {}) {
  return core.db
    .selectFrom('tokens')
    .select('id')
    .where('id', 'in', ids)
    .$if(core.database.dialect === 'postgres', (query) => query.orderBy('id').forUpdate())
    .$if(core.database.dialect === 'postgres' && skipLocked, (query) => query.skipLocked())
}
