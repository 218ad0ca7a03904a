import { locked } from '../../../base/db/locked.ts'
import type { Queries, Within } from '../../../base/db/open.ts'
import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { Core } from '../../../base/options/core.ts'

/**
 * The rows of channels: read, or locked because they are about to change. A change of a key locks its channel first, so that status and
 * keys agree. This folder is what a row says: columns, keys, and what calls have taught about its upstream. Not here: channels as the
 * relay uses them (`index`).
 */

/** Throws `not_found`. */
export async function findRow(db: Queries, id: number): Promise<Row<'channels'>> {
  const row = await db.selectFrom('channels').selectAll().where('id', '=', id).executeTakeFirst()
  return row ?? fail('not_found')
}

/** Throws `not_found`. */
export async function lockChannel(core: Core, within: Within, id: number): Promise<Row<'channels'>> {
  const row = await locked(core, within.selectFrom('channels').selectAll().where('id', '=', id)).executeTakeFirst()
  return row ?? fail('not_found')
}

export function lockedIds(core: Core, within: Within) {
  return locked(core, within.selectFrom('channels').select('id').orderBy('id'))
}

export type Locked = ReturnType<typeof lockedIds>
