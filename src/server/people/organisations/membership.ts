import { type SqlBool, sql } from 'kysely'
import type { ShownOrganisations } from '../../../contract/entities/user.ts'
import { type OrganisationCaller, type OrganisationRole, organisationRoles } from '../../../contract/organisation-roles.ts'
import { isAdmin } from '../../../contract/roles.ts'
import { locked } from '../../base/db/locked.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'
import { accountKind } from '../accounts/users.ts'

/**
 * Organisations: accounts that pay for their members. This folder owns the tables `organisations`, `organisation_*` and
 * `token_places`; balances are the ledger's, keys those of `people/tokens`. Whoever changes what a token of an organisation may do
 * reports the topic `user` with the id of the organisation, so that no node keeps using what it has in memory.
 */

/** The account that pays. */
export type Payer = Pick<Row<'users'>, 'id' | 'username' | 'group' | 'status'>

/** Who calls for an organisation, and as what. */
export interface Membership {
  readonly payer: Payer
  readonly role: OrganisationCaller
  /** The row of `organisation_members`; 0 for an operator, who has none. */
  readonly memberId: number
}

/** Undefined for strangers, former members and an organisation that does not exist. Admins of the site are operators of all. */
export async function findMembership(
  db: Queries,
  account: { readonly id: number; readonly role: number },
  organisationId: number,
): Promise<Membership | undefined> {
  const row = await db
    .selectFrom('users')
    .leftJoin('organisation_members', (join) =>
      join
        .onRef('organisation_members.organisation_id', '=', 'users.id')
        .on('organisation_members.user_id', '=', account.id)
        .on('organisation_members.left_at', 'is', null),
    )
    .select(['users.id', 'users.username', 'users.group', 'users.status'])
    .select(['organisation_members.id as member_id', 'organisation_members.role as member_role'])
    .where('users.id', '=', organisationId)
    .where('users.kind', '=', accountKind.organisation)
    .where('users.deleted_at', 'is', null)
    .executeTakeFirst()
  if (!row) return undefined
  const { member_id, member_role, ...payer } = row
  // Only this folder writes roles.
  if (member_id !== null) return { payer, role: member_role as OrganisationRole, memberId: member_id }
  return isAdmin(account.role) ? { payer, role: 'operator', memberId: 0 } : undefined
}

/** What the console shows an account of organisations. */
export async function organisationsShown(
  db: Queries,
  account: { readonly id: number; readonly role: number },
): Promise<ShownOrganisations> {
  const open = db
    .selectFrom('organisation_members')
    .innerJoin('users', 'users.id', 'organisation_members.organisation_id')
    .select('users.id')
    .where('organisation_members.left_at', 'is', null)
    .where('users.deleted_at', 'is', null)
  if (await open.where('organisation_members.user_id', '=', account.id).limit(1).executeTakeFirst()) return 'own'
  return isAdmin(account.role) && (await open.limit(1).executeTakeFirst()) ? 'site' : undefined
}

/** Whether the role decides about everything below the organisation: its members, teams, tokens and budgets. */
export function managesAll({ role }: Pick<Membership, 'role'>): boolean {
  return role === 'owner' || role === 'admin' || role === 'operator'
}

/** The highest of some roles; '' is none. */
export function highestRole(roles: readonly string[]): string {
  return organisationRoles.find((role) => roles.includes(role)) ?? ''
}

/** Changes of one organisation wait for each other, so that what they check stays true. Throws `not_found`. */
export async function lockOrganisation(core: Core, within: Within, id: number): Promise<Row<'organisations'>> {
  const found = within.selectFrom('organisations').selectAll().where('id', '=', id)
  return (await locked(core, found).executeTakeFirst()) ?? fail('not_found')
}

/** Which tokens a caller may see and change. */
export interface Reach {
  readonly memberId: number
  readonly isAll: boolean
  /** The teams that the caller manages, and those below them. */
  readonly teamIds: readonly number[]
}

export async function reachOf(db: Queries, membership: Membership): Promise<Reach> {
  const { memberId } = membership
  if (managesAll(membership)) return { memberId, isAll: true, teamIds: [] }
  const managed = await db
    .selectFrom('organisation_team_members')
    .select('team_id')
    .where('member_id', '=', memberId)
    .where('is_manager', '=', 1)
    .execute()
  const ids = managed.map(({ team_id }) => team_id)
  return { memberId, isAll: false, teamIds: ids.length === 0 ? [] : await teamsBelow(db, ids) }
}

/** These teams and all below them. */
export async function teamsBelow(db: Queries, ids: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    with recursive below (id) as (
      select id from organisation_teams where id in (${sql.join(ids)}) and closed_at is null
      union
      select t.id from organisation_teams t join below on t.parent_id = below.id where t.closed_at is null
    )
    select id from below order by id`.execute(db)
  return rows.map(({ id }) => id)
}

interface NamedTeam {
  readonly id: number
  readonly name: string
}

/** A team and those above it, the lowest first; none for 0. */
export async function teamsAbove(db: Queries, id: number): Promise<NamedTeam[]> {
  if (id === 0) return []
  const { rows } = await sql<NamedTeam>`
    with recursive above (id, name, parent_id, height) as (
      select id, name, parent_id, 0 from organisation_teams where id = ${id}
      union all
      select t.id, t.name, t.parent_id, above.height + 1 from organisation_teams t join above on t.id = above.parent_id
      where above.height < ${sql.lit(teamHeightMax)}
    )
    select id, name from above order by height`.execute(db)
  return rows.map((row) => ({ id: row.id, name: row.name }))
}

/** More than teams nest: a damaged tree must end. */
const teamHeightMax = 20

/** The rows of `tokens` within reach, for the `where` of a query. */
export function tokensWithin({ memberId, isAll, teamIds }: Reach) {
  if (isAll) return sql<SqlBool>`1 = 1`
  const own = sql<SqlBool>`tokens.member_id = ${memberId}`
  return teamIds.length === 0 ? own : sql<SqlBool>`(${own} or tokens.team_id in (${sql.join(teamIds)}))`
}
