import { mayManage } from '../../../contract/roles.ts'
import { locked } from '../../base/db/locked.ts'
import type { Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { accountKind } from './users.ts'

/** The row of a user, locked until the end of the transaction. Throws `not_found`, also for deleted users and for organisations. */
export async function lockUser(core: Core, within: Within, id: number): Promise<Row<'users'>> {
  const found = within.selectFrom('users').selectAll().where('id', '=', id).where('kind', '=', accountKind.person)
  return (await locked(core, found.where('deleted_at', 'is', null)).executeTakeFirst()) ?? fail('not_found')
}

/** Like `lockUser`; throws `user_protected` for users of an equal or higher role. */
export async function lockManaged(core: Core, within: Within, caller: Caller, id: number): Promise<Row<'users'>> {
  const user = await lockUser(core, within, id)
  if (!mayManage(caller.role, user.role)) fail('user_protected')
  return user
}
