import type { OrganisationBudgetScope } from '../../../contract/entities/budget.ts'
import { userStatus } from '../../../contract/entities/user.ts'
import type { Queries } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import { decidesBelow } from './allowances.ts'
import { findMembership, type Membership, managesAll, reachOf, teamsAbove } from './membership.ts'

/** The places of an organisation whose calls a budget counts, and who decides about their budgets. */
interface BudgetSubject {
  readonly organisationId: number
  readonly name: string
}

/** Undefined for a place that does not exist, or no longer. */
export async function findBudgetSubject(
  db: Queries,
  scope: OrganisationBudgetScope,
  id: number,
): Promise<BudgetSubject | undefined> {
  if (scope === 'organisation') {
    const found = db.selectFrom('organisations').innerJoin('users', 'users.id', 'organisations.id').select('users.display_name')
    const row = await found.where('users.id', '=', id).where('users.deleted_at', 'is', null).executeTakeFirst()
    return row && { organisationId: id, name: row.display_name }
  }
  if (scope === 'team') {
    const found = db.selectFrom('organisation_teams').select(['organisation_id', 'name']).where('closed_at', 'is', null)
    const row = await found.where('id', '=', id).executeTakeFirst()
    return row && { organisationId: row.organisation_id, name: row.name }
  }
  const row = await db
    .selectFrom('organisation_members')
    .innerJoin('users', 'users.id', 'organisation_members.user_id')
    .select(['organisation_members.organisation_id', 'users.username'])
    .where('organisation_members.id', '=', id)
    .where('left_at', 'is', null)
    .executeTakeFirst()
  return row && { organisationId: row.organisation_id, name: row.username }
}

/**
 * The organisation of a token whose budgets the caller decides about: an owner or admin, or a manager of its team, though not of a
 * token of the manager's own. Undefined for any other.
 */
export async function decidesAboutToken(
  db: Queries,
  account: { readonly id: number; readonly role: number },
  tokenId: number,
): Promise<boolean> {
  const token = await db
    .selectFrom('tokens')
    .select(['user_id', 'member_id', 'team_id'])
    .where('id', '=', tokenId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  const membership = token && (await findMembership(db, account, token.user_id))
  if (!membership || membership.role === 'billing') return false
  if (managesAll(membership)) return true
  const { teamIds, memberId } = await reachOf(db, membership)
  return token.member_id !== memberId && teamIds.includes(token.team_id)
}

/** Whether the caller decides about the budgets of a place. Throws `not_found` where it does not exist for the caller. */
export async function decidesAboutPlace(
  db: Queries,
  account: { readonly id: number; readonly role: number },
  { scope, id }: { scope: OrganisationBudgetScope; id: number },
): Promise<boolean> {
  const subject = await findBudgetSubject(db, scope, id)
  const membership = subject && (await findMembership(db, account, subject.organisationId))
  if (!membership) return fail('not_found')
  return decidesBelow(db, membership, { scope, id })
}

/** The places whose budgets a member sees: those that count the member's own calls, and those that the member manages. */
interface SeenPlaces {
  readonly isAll: boolean
  readonly teamIds: readonly number[]
  /** Those of them that the caller manages. */
  readonly managedTeamIds: readonly number[]
  readonly memberId: number
}

export async function placesSeenBy(db: Queries, membership: Membership): Promise<SeenPlaces> {
  const { memberId } = membership
  if (managesAll(membership) || membership.role === 'billing') return { isAll: true, teamIds: [], managedTeamIds: [], memberId }
  const { teamIds } = await reachOf(db, membership)
  const own = await db.selectFrom('organisation_team_members').select('team_id').where('member_id', '=', memberId).execute()
  const above = await Promise.all(own.map(({ team_id }) => teamsAbove(db, team_id)))
  return {
    isAll: false,
    teamIds: [...new Set([...teamIds, ...above.flat().map(({ id }) => id)])],
    managedTeamIds: teamIds,
    memberId,
  }
}

/** Who decides about a budget of an organisation, for notices: owners, admins, and managers of whom `decides` says so. */
export async function peopleDeciding(
  db: Queries,
  organisationId: number,
  decides: (account: { id: number; role: number }) => Promise<boolean>,
) {
  const rows = await db
    .selectFrom('organisation_members')
    .innerJoin('users', 'users.id', 'organisation_members.user_id')
    .select(['users.id', 'users.username', 'users.email', 'users.setting', 'users.role'])
    .where('organisation_members.organisation_id', '=', organisationId)
    .where('organisation_members.left_at', 'is', null)
    .where((row) =>
      row.or([
        row('organisation_members.role', 'in', ['owner', 'admin']),
        row(
          'organisation_members.id',
          'in',
          row.selectFrom('organisation_team_members').select('member_id').where('is_manager', '=', 1),
        ),
      ]),
    )
    .where('users.status', '=', userStatus.active)
    .where('users.deleted_at', 'is', null)
    .execute()
  const asked = await Promise.all(rows.map(async (row) => ((await decides(row)) ? [row] : [])))
  return asked.flat()
}
