import type { OrganisationMember } from '../../../contract/entities/organisation.ts'
import type { OrganisationRole } from '../../../contract/organisation-roles.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { containsText, type PageOf, readPage } from '../../base/db/page.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change, type Report } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { highestRole, lockOrganisation, type Membership, managesAll } from './membership.ts'

/** Who belongs to an organisation, and as what. Whoever leaves loses the tokens in the same transaction. */

type MemberRow = Row<'organisation_members'>

/** The members, or those of a team (0 for any), oldest first. */
export async function listMembers(
  db: Queries,
  { payer }: Membership,
  { keyword, team, page }: { keyword: string; team: number; page: PageOf },
): Promise<{ items: OrganisationMember[]; total: number }> {
  const found = db
    .selectFrom('organisation_members')
    .innerJoin('users', 'users.id', 'organisation_members.user_id')
    .leftJoin('users as inviter', 'inviter.id', 'organisation_members.invited_by')
    .select(['organisation_members.id', 'organisation_members.user_id', 'organisation_members.role'])
    .select(['organisation_members.created_at', 'users.username', 'users.display_name', 'inviter.username as inviter'])
    .select((row) =>
      row
        .selectFrom('tokens')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('tokens.member_id', '=', 'organisation_members.id')
        .where('tokens.deleted_at', 'is', null)
        .as('tokens'),
    )
    .where('organisation_members.organisation_id', '=', payer.id)
    .where('organisation_members.left_at', 'is', null)
    .$if(team !== 0, (query) =>
      query.where('organisation_members.id', 'in', (row) =>
        row.selectFrom('organisation_team_members').select('member_id').where('team_id', '=', team),
      ),
    )
    .$if(keyword !== '', (query) =>
      query.where((row) => row.or([containsText('users.username', keyword), containsText('users.display_name', keyword)])),
    )
  const { rows, total } = await readPage(found.orderBy('organisation_members.id'), page)
  const teams = await teamsOf(
    db,
    rows.map(({ id }) => id),
  )
  const items = rows.map(({ inviter, role, tokens, ...row }) => ({
    ...row,
    // Only this folder writes roles.
    role: role as OrganisationRole,
    invited_by: inviter ?? '',
    tokens: Number(tokens ?? 0),
    teams: teams.get(row.id) ?? [],
  }))
  return { items, total }
}

async function teamsOf(db: Queries, members: readonly number[]): Promise<Map<number, OrganisationMember['teams']>> {
  const teams = new Map<number, OrganisationMember['teams']>()
  if (members.length === 0) return teams
  const rows = await db
    .selectFrom('organisation_team_members')
    .innerJoin('organisation_teams', 'organisation_teams.id', 'organisation_team_members.team_id')
    .select(['member_id', 'organisation_teams.id', 'organisation_teams.name', 'is_manager'])
    .where('member_id', 'in', members)
    .where('organisation_teams.closed_at', 'is', null)
    .orderBy('organisation_teams.name')
    .execute()
  for (const { member_id, id, name, is_manager } of rows)
    teams.set(member_id, [...(teams.get(member_id) ?? []), { id, name, is_manager: is_manager === 1 }])
  return teams
}

/**
 * Changes the role of a member. Only owners make and change owners, and one always remains. Throws `not_found`,
 * `organisation_role`, `organisation_owner_needed`, `organisation_by_directory`.
 */
export async function changeRole(
  core: Core,
  caller: Caller,
  { membership, id, role }: { membership: Membership; id: number; role: OrganisationRole },
): Promise<void> {
  const { payer } = membership
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    const before = await requireMember(within, payer.id, id)
    if (before.role === role) return
    requireOwnerFor(membership, before.role, role)
    // A higher role is that of a group of the directory, and ends there.
    if (highestRole([role, before.directory_role]) !== role) fail('organisation_by_directory')
    const hand_role = before.directory_role === '' ? '' : role
    await within.updateTable('organisation_members').set({ role, hand_role }).where('id', '=', id).execute()
    await requireOwner(within, payer.id)
    const told = (each: string) => ({ member: before.user_id, role: each })
    reportMember(audit, 'role', payer.id, { before: told(before.role), after: told(role) })
  })
}

/**
 * Ends a membership, by an owner or admin, or by the member. The member's tokens are deleted, so that no key outlives it. Throws
 * `not_found`, `organisation_role`, `organisation_owner_needed`.
 */
export async function removeMember(
  core: Core,
  caller: Caller,
  { membership, id }: { membership: Membership; id: number },
): Promise<void> {
  const { payer, memberId } = membership
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    const before = await requireMember(within, payer.id, id)
    if (id !== memberId && !managesAll(membership)) fail('organisation_role')
    if (id !== memberId) requireOwnerFor(membership, before.role)
    await endMembership(core, within, id)
    await requireOwner(within, payer.id)
    reportMember(audit, 'remove', payer.id, { before: { member: before.user_id, role: before.role } })
    audit({ topic: 'user', id: before.user_id })
  })
}

/** Ends a membership for good: its tokens are deleted, so that no key outlives it. */
export async function endMembership(core: Core, within: Within, id: number): Promise<void> {
  const at = seconds(core.now())
  await within.updateTable('organisation_members').set({ left_at: at }).where('id', '=', id).execute()
  await within.deleteFrom('organisation_team_members').where('member_id', '=', id).execute()
  await within.updateTable('tokens').set({ deleted_at: at }).where('member_id', '=', id).where('deleted_at', 'is', null).execute()
}

/** Reports a change of who belongs to an organisation: its tokens are loaded again. */
function reportMember(audit: Report, action: string, id: number, told: { before?: object; after?: object }): void {
  audit({ action: `organisation.member-${action}`, target: `organisation:${id}`, ...told, topic: 'user', id })
}

/** Throws `not_found`, also for a former member. */
export async function requireMember(within: Queries, organisationId: number, id: number): Promise<MemberRow> {
  const found = within.selectFrom('organisation_members').selectAll().where('id', '=', id).where('left_at', 'is', null)
  return (await found.where('organisation_id', '=', organisationId).executeTakeFirst()) ?? fail('not_found')
}

function requireOwnerFor({ role }: Membership, ...roles: readonly string[]): void {
  if (roles.includes('owner') && role !== 'owner' && role !== 'operator') fail('organisation_role')
}

/** Throws `organisation_owner_needed` when the change leaves nobody who owns the organisation. */
async function requireOwner(within: Within, organisationId: number): Promise<void> {
  const owner = await within
    .selectFrom('organisation_members')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('role', '=', 'owner')
    .where('left_at', 'is', null)
    .executeTakeFirst()
  if (!owner) fail('organisation_owner_needed')
}

/**
 * Offers the organisation to one of its members, who becomes an owner by accepting; 0 withdraws the offer. Throws `not_found`,
 * `nothing_changed`.
 */
export async function offerTransfer(
  core: Core,
  caller: Caller,
  { membership, id }: { membership: Membership; id: number },
): Promise<void> {
  const { payer } = membership
  await change(core, caller, async (within, audit) => {
    const { transfer_to } = await lockOrganisation(core, within, payer.id)
    const member = id === 0 ? undefined : await requireMember(within, payer.id, id)
    if (member?.role === 'owner' || (member?.user_id ?? 0) === transfer_to) fail('nothing_changed')
    const offer = { transfer_to: member?.user_id ?? 0, transfer_by: member ? membership.memberId : 0 }
    await within.updateTable('organisations').set(offer).where('id', '=', payer.id).execute()
    const told = { before: { transfer_to }, after: { transfer_to: offer.transfer_to } }
    audit({ action: 'organisation.offer', target: `organisation:${payer.id}`, ...told })
  })
}

/** The caller becomes an owner, and the owner who offered it an admin. Throws `not_found` when nothing is offered to the caller. */
export async function acceptTransfer(core: Core, caller: Caller, { payer, memberId }: Membership): Promise<void> {
  await change(core, caller, async (within, audit) => {
    const { transfer_to, transfer_by } = await lockOrganisation(core, within, payer.id)
    if (transfer_to !== caller.id || memberId === 0) fail('not_found')
    await within
      .updateTable('organisation_members')
      .set({ role: 'owner', hand_role: 'owner' })
      .where('id', '=', memberId)
      .execute()
    // An operator, who offers it when an owner is lost, has no row; a group of the directory may keep somebody an owner.
    await within
      .updateTable('organisation_members')
      .set({ role: 'admin', hand_role: 'admin' })
      .where('id', '=', transfer_by)
      .where('role', '=', 'owner')
      .where('directory_role', '<>', 'owner')
      .where('left_at', 'is', null)
      .execute()
    await within.updateTable('organisations').set({ transfer_to: 0, transfer_by: 0 }).where('id', '=', payer.id).execute()
    reportMember(audit, 'role', payer.id, { after: { member: caller.id, role: 'owner' } })
  })
}
