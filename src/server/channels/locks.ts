import type { Within } from '../db/open.ts'
import type { Row } from '../db/schema.ts'
import { fail } from '../lib/failure.ts'
import type { Core } from '../options/core.ts'

/** Locks rows of channels that are about to change. A change of a key locks its channel first, so that status and keys agree. */

/** Throws `not_found`. */
export async function lockChannel(core: Core, within: Within, id: number): Promise<Row<'channels'>> {
  const row = await within
    .selectFrom('channels')
    .selectAll()
    .where('id', '=', id)
    .$if(core.database.dialect === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst()
  return row ?? fail('not_found')
}

/** On PostgreSQL rows are locked in the order of their ids, as the ledger does: so the two never deadlock. */
export function lockedIds(core: Core, within: Within) {
  return within
    .selectFrom('channels')
    .select('id')
    .$if(core.database.dialect === 'postgres', (query) => query.orderBy('id').forUpdate())
}

export type Locked = ReturnType<typeof lockedIds>
