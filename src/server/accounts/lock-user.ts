import { mayManage } from '../../contract/roles.ts'
import type { Within } from '../db/open.ts'
import type { Row } from '../db/schema.ts'
import { fail } from '../lib/failure.ts'
import type { Caller, Core } from '../options/core.ts'

/**
 * Locks the row of a user until the end of the transaction, so that decisions made from it stay valid. Throws `not_found`, also for
 * deleted users, and `user_protected` for users of an equal or higher role.
 */
export async function lockManaged(core: Core, within: Within, caller: Caller, id: number): Promise<Row<'users'>> {
  const user = await within
    .selectFrom('users')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .$if(core.database.dialect === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst()
  if (!user) return fail('not_found')
  if (!mayManage(caller.role, user.role)) fail('user_protected')
  return user
}
