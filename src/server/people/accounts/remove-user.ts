import { isRoot } from '../../../contract/roles.ts'
import type { Within } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { deleteCodes } from './mailed-codes.ts'
import { requireRecentLogin } from './reauthenticate.ts'
import { deleteSessions } from './sessions.ts'
import type { Accounts } from './sign-in.ts'

/**
 * Deletes a user permanently, with their stored conversations; recordings of their calls follow by a job. The row stays, with its charges, and so do its name, address and
 * external identities, so that no other user can take them over. Publish topic `user` after the commit. Throws `not_found` when the
 * user is already deleted, `organisation_owner_needed` when an organisation would lose its only owner.
 */
export async function removeUser(core: Pick<Core, 'now'>, within: Within, userId: number): Promise<void> {
  const { numUpdatedRows } = await within
    .updateTable('users')
    .set({ deleted_at: seconds(core.now()), access_token_hash: null })
    .where('id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) fail('not_found')
  await deleteSessions(within, userId)
  await deleteCodes(within, userId)
  await leaveOrganisations(core, within, userId)
  for (const table of ['saved_views', 'own_responses', 'own_response_events'] as const)
    await within.deleteFrom(table).where('user_id', '=', userId).execute()
}

/** Ends the memberships of a user, with the tokens that organisations pay for. Throws `organisation_owner_needed`. */
async function leaveOrganisations(core: Pick<Core, 'now'>, within: Within, userId: number): Promise<void> {
  const left_at = seconds(core.now())
  const ended = await within
    .updateTable('organisation_members')
    .set({ left_at })
    .where('user_id', '=', userId)
    .where('left_at', 'is', null)
    .returning(['id', 'organisation_id'])
    .execute()
  if (ended.length === 0) return
  const members = ended.map(({ id }) => id)
  await within.deleteFrom('organisation_team_members').where('member_id', 'in', members).execute()
  const tokens = within.updateTable('tokens').set({ deleted_at: left_at }).where('member_id', 'in', members)
  await tokens.where('deleted_at', 'is', null).execute()
  for (const { organisation_id } of ended) {
    const owner = within.selectFrom('organisation_members').select('id').where('organisation_id', '=', organisation_id)
    if (!(await owner.where('role', '=', 'owner').where('left_at', 'is', null).executeTakeFirst()))
      fail('organisation_owner_needed')
  }
}

/** Deletes the caller's own account. Its name and address stay taken. Throws `fresh_login_required`, `root_protected`, `not_found`. */
export async function deleteAccount(accounts: Accounts, caller: Caller, sessionToken: string | undefined): Promise<void> {
  await requireRecentLogin(accounts, sessionToken)
  if (isRoot(caller.role)) fail('root_protected')
  await change(accounts, caller, async (within, audit) => {
    await removeUser(accounts, within, caller.id)
    audit({ action: 'user.delete-self', target: `user:${caller.id}`, topic: 'user', id: caller.id })
  })
}
