import { isAdmin } from '../../../contract/roles.ts'
import type { Queries } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'

/**
 * Whether a user may log in this way: by the directory of an organisation only as a member of it, and never as an admin of the site; in
 * any other way unless the organisation whose directory created the account requires its own login. Throws `sign_on_admin`,
 * `sign_on_inactive`, `personal_login_off`.
 */
export async function requireWayIn(
  within: Queries,
  { id, role }: Pick<Row<'users'>, 'id' | 'role'>,
  organisationId: number | undefined,
): Promise<void> {
  if (isAdmin(role)) return organisationId === undefined ? undefined : fail('sign_on_admin')
  const only = await findOnlyWay(within, id)
  if (only && only.id !== organisationId) fail('personal_login_off', { organisation: only.display_name })
  if (organisationId === undefined) return
  const membership = await within
    .selectFrom('organisation_members')
    .innerJoin('users', 'users.id', 'organisation_members.organisation_id')
    .select('organisation_members.id')
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', id)
    .where('left_at', 'is', null)
    .where('users.deleted_at', 'is', null)
    .executeTakeFirst()
  if (!membership) fail('sign_on_inactive')
}

/** The organisation whose login is the only one of this user. */
async function findOnlyWay(
  within: Queries,
  userId: number,
): Promise<{ readonly id: number; readonly display_name: string } | undefined> {
  return within
    .selectFrom('directory_people')
    .innerJoin('organisation_sign_on as sign_on', 'sign_on.organisation_id', 'directory_people.organisation_id')
    .innerJoin('users', 'users.id', 'directory_people.organisation_id')
    .select(['users.id', 'users.display_name'])
    .where('directory_people.user_id', '=', userId)
    .where('came_by_it', '=', 1)
    .where('sign_on.is_enabled', '=', 1)
    .where('sign_on.is_only_way', '=', 1)
    .where('users.deleted_at', 'is', null)
    .executeTakeFirst()
}
