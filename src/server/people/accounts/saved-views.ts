import {
  type SavedView,
  type SavedViewChange,
  type SavedViewInput,
  savedView,
  savedViewLimits,
} from '../../../contract/entities/saved-view.ts'
import { isUniqueViolation } from '../../base/db/failures.ts'
import { locked } from '../../base/db/locked.ts'
import type { Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'

/** Named views of lists. Each belongs to one user, and no other user reads or changes it. */

/** All views of a user, by name. */
export async function listSavedViews({ db }: Core, userId: number): Promise<SavedView[]> {
  const rows = await db
    .selectFrom('saved_views')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('name')
    .orderBy('id')
    .execute()
  return rows.map(present)
}

/** Stores a view. Throws `view_name_taken`, `views_too_many`. */
export function createSavedView(core: Core, userId: number, input: SavedViewInput): Promise<SavedView> {
  const { list, name, is_default: isDefault, ...shows } = input
  return core.db.transaction().execute(async (within) => {
    await lockOwner(core, within, userId)
    const { kept } = await within
      .selectFrom('saved_views')
      .select((row) => row.fn.countAll<number>().as('kept'))
      .where('user_id', '=', userId)
      .where('list', '=', list)
      .executeTakeFirstOrThrow()
    if (Number(kept) >= savedViewLimits.perListMax) fail('views_too_many', { max: savedViewLimits.perListMax })
    if (isDefault) await dropDefault(within, userId, list)
    const view = { user_id: userId, list, name, shows: JSON.stringify(shows), is_default: Number(isDefault) }
    return present(
      await within.insertInto('saved_views').values(view).returningAll().executeTakeFirstOrThrow().catch(refuseTaken),
    )
  })
}

/** Changes a view of the user; absent members stay unchanged. Throws `not_found`, `view_name_taken`. */
export function changeSavedView(
  core: Core,
  userId: number,
  { id, change }: { id: number; change: SavedViewChange },
): Promise<SavedView> {
  return core.db.transaction().execute(async (within) => {
    await lockOwner(core, within, userId)
    const before = present(await findOwn(within, userId, id))
    const { name, search, hidden, is_default: isDefault } = { ...before, ...change }
    if (isDefault) await dropDefault(within, userId, before.list)
    const values = { name, shows: JSON.stringify({ search, hidden }), is_default: Number(isDefault) }
    await within.updateTable('saved_views').set(values).where('id', '=', id).execute().catch(refuseTaken)
    return present(await findOwn(within, userId, id))
  })
}

/** Throws `not_found`. */
export async function deleteSavedView({ db }: Core, userId: number, id: number): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('saved_views')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) fail('not_found')
}

/** Serializes changes of one user's views, so that a list has one default and the limit of views holds. */
async function lockOwner(core: Core, within: Within, userId: number): Promise<void> {
  await locked(core, within.selectFrom('users').select('id').where('id', '=', userId)).execute()
}

async function findOwn(within: Within, userId: number, id: number): Promise<Row<'saved_views'>> {
  const row = await within
    .selectFrom('saved_views')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row ?? fail('not_found')
}

async function dropDefault(within: Within, userId: number, list: string): Promise<void> {
  await within.updateTable('saved_views').set({ is_default: 0 }).where('user_id', '=', userId).where('list', '=', list).execute()
}

function refuseTaken(error: unknown): never {
  if (isUniqueViolation(error)) fail('view_name_taken', {}, { cause: error })
  throw error
}

function present({ user_id: _owner, shows, is_default, ...row }: Row<'saved_views'>): SavedView {
  return savedView.parse({ ...row, ...JSON.parse(shows), is_default: is_default === 1 })
}
