import type { DirectoryRule } from '../../../../contract/entities/sign-on.ts'
import { organisationRoles } from '../../../../contract/organisation-roles.ts'
import type { Within } from '../../../base/db/open.ts'
import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import { change, type Report } from '../../../base/options/change.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { highestRole, lockOrganisation, type Membership } from '../membership.ts'

/**
 * What the groups of a directory give. Only what the table has given goes with a group; what a person has set stays. Groups that SCIM has
 * sent win over those of the login.
 */

interface Scope {
  readonly organisationId: number
  /** Absent: all people of the directory. */
  readonly people?: readonly number[]
}

type Rule = Pick<Row<'directory_rules'>, 'directory_group' | 'role' | 'team_id' | 'is_manager'>

/** Sets the table and applies it to everybody. Throws `not_found` for a team that does not exist. */
export async function setRules(
  core: Core,
  caller: Caller,
  { payer }: Membership,
  rules: readonly DirectoryRule[],
): Promise<void> {
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    await requireTeams(within, payer.id, new Set(rules.map(({ team_id }) => team_id)))
    await within.deleteFrom('directory_rules').where('organisation_id', '=', payer.id).execute()
    const rows = rules.map((rule) => ({ ...rule, organisation_id: payer.id, is_manager: Number(rule.is_manager) }))
    if (rows.length > 0) await within.insertInto('directory_rules').values(rows).execute()
    audit({ action: 'organisation.rules', target: `organisation:${payer.id}`, after: { rules } })
    await applyRules(within, audit, { organisationId: payer.id })
  })
}

async function requireTeams(within: Within, organisationId: number, ids: ReadonlySet<number>): Promise<void> {
  const open = within.selectFrom('organisation_teams').select('id').where('organisation_id', '=', organisationId)
  const known = new Set((await open.where('closed_at', 'is', null).execute()).map(({ id }) => id))
  for (const id of ids) if (id !== 0 && !known.has(id)) fail('not_found')
}

/**
 * Gives the members among these people the roles and teams of their groups, and takes back what the table has given before. The last owner
 * keeps the role. The organisation is locked.
 */
export async function applyRules(within: Within, report: Report, scope: Scope): Promise<void> {
  const { organisationId } = scope
  const rules = await readRules(within, organisationId)
  const members = await readMembers(within, scope)
  if (members.length === 0) return
  const groupsOf = await readGroups(within, scope)
  const teamsOf = await readTeams(within, organisationId)
  let owners = await countOwners(within, organisationId)

  const wanted = members.map((member) => {
    const groups = groupsOf(member)
    const given = rules.filter(({ directory_group }) => groups.has(directory_group))
    return { member, given, role: highestRole(given.map(({ role }) => role)) }
  })
  // Those who become owners first, so that another may stop being one.
  for (const { member, given, role } of wanted.toSorted((one, other) => rankOf(one.role) - rankOf(other.role))) {
    const after = await giveRole(within, member, { role, owners })
    if (member.role === 'owner' && after !== 'owner') owners--
    if (member.role !== 'owner' && after === 'owner') owners++
    const movesTeams = await giveTeams(within, member.id, { given, before: teamsOf.get(member.id) ?? [] })
    if (after === member.role && !movesTeams) continue
    const told = { user: member.user_id, role: after, groups: [...groupsOf(member)] }
    report({ action: 'organisation.directory', target: `organisation:${organisationId}`, after: told })
  }
}

const ranks: readonly string[] = organisationRoles

function rankOf(role: string): number {
  const rank = ranks.indexOf(role)
  return rank < 0 ? ranks.length : rank
}

/** Rules of teams that were closed give nothing. */
async function readRules(within: Within, organisationId: number): Promise<Rule[]> {
  const rules = await within
    .selectFrom('directory_rules')
    .leftJoin('organisation_teams', (join) =>
      join.onRef('organisation_teams.id', '=', 'directory_rules.team_id').on('closed_at', 'is', null),
    )
    .select(['directory_group', 'role', 'team_id', 'is_manager', 'organisation_teams.id as open_team'])
    .where('directory_rules.organisation_id', '=', organisationId)
    .execute()
  return rules.map(({ open_team, team_id, ...rule }) => ({ ...rule, team_id: open_team === null ? 0 : team_id }))
}

function readMembers(within: Within, { organisationId, people }: Scope) {
  return within
    .selectFrom('directory_people')
    .innerJoin('organisation_members', (join) =>
      join
        .onRef('organisation_members.organisation_id', '=', 'directory_people.organisation_id')
        .onRef('organisation_members.user_id', '=', 'directory_people.user_id')
        .on('left_at', 'is', null),
    )
    .select(['directory_people.id as person_id', 'claimed_groups', 'organisation_members.id', 'organisation_members.user_id'])
    .select(['role', 'directory_role', 'hand_role'])
    .where('directory_people.organisation_id', '=', organisationId)
    .$if(people !== undefined, (query) => query.where('directory_people.id', 'in', people ?? []))
    .execute()
}

type DirectoryMember = Awaited<ReturnType<typeof readMembers>>[number]

/** The names and ids of the groups of a person. */
async function readGroups(within: Within, { organisationId, people }: Scope) {
  const sent = await within
    .selectFrom('directory_groups')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .limit(1)
    .executeTakeFirst()
  if (!sent) return ({ claimed_groups }: DirectoryMember) => new Set(readList(claimed_groups))

  const rows = await within
    .selectFrom('directory_group_people')
    .innerJoin('directory_groups', 'directory_groups.id', 'directory_group_people.group_id')
    .select(['person_id', 'name', 'external_id'])
    .where('organisation_id', '=', organisationId)
    .$if(people !== undefined, (query) => query.where('person_id', 'in', people ?? []))
    .execute()
  const groups = new Map<number, Set<string>>()
  for (const { person_id, name, external_id } of rows)
    groups.set(person_id, new Set([...(groups.get(person_id) ?? []), name, external_id]))
  return ({ person_id }: DirectoryMember) => groups.get(person_id) ?? new Set<string>()
}

function readList(text: string): string[] {
  // Only the login writes it, as a list of strings.
  return text === '' ? [] : (JSON.parse(text) as string[])
}

async function readTeams(within: Within, organisationId: number) {
  const rows = await within
    .selectFrom('organisation_team_members')
    .innerJoin('organisation_teams', 'organisation_teams.id', 'organisation_team_members.team_id')
    .selectAll('organisation_team_members')
    .where('organisation_id', '=', organisationId)
    .execute()
  const teams = new Map<number, TeamRow[]>()
  for (const row of rows) teams.set(row.member_id, [...(teams.get(row.member_id) ?? []), row])
  return teams
}

async function countOwners(within: Within, organisationId: number): Promise<number> {
  const { count } = await within
    .selectFrom('organisation_members')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organisation_id', '=', organisationId)
    .where('role', '=', 'owner')
    .where('left_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Returns the role that the member has then. */
async function giveRole(
  within: Within,
  { id, role, directory_role, hand_role }: DirectoryMember,
  { role: wanted, owners }: { role: string; owners: number },
): Promise<string> {
  if (wanted === directory_role) return role
  const own = directory_role === '' ? role : hand_role
  const after = highestRole([own, wanted])
  if (role === 'owner' && after !== 'owner' && owners <= 1) return role
  const values = { role: after, directory_role: wanted, hand_role: wanted === '' ? '' : own }
  await within.updateTable('organisation_members').set(values).where('id', '=', id).execute()
  return after
}

type TeamRow = Row<'organisation_team_members'>

/** Returns whether anything has changed. */
async function giveTeams(
  within: Within,
  member_id: number,
  { given, before }: { given: readonly Rule[]; before: readonly TeamRow[] },
): Promise<boolean> {
  const wanted = new Map<number, number>()
  for (const { team_id, is_manager } of given)
    if (team_id !== 0) wanted.set(team_id, Math.max(is_manager, wanted.get(team_id) ?? 0))
  const fixed = new Set(before.filter(({ by_directory }) => by_directory === 0).map(({ team_id }) => team_id))
  const gone = before.filter(({ team_id, by_directory }) => by_directory === 1 && !wanted.has(team_id))
  const fresh = [...wanted].filter(
    ([team, manages]) =>
      !fixed.has(team) && !before.some(({ team_id, is_manager }) => team_id === team && is_manager === manages),
  )
  for (const { team_id } of gone)
    await within
      .deleteFrom('organisation_team_members')
      .where('team_id', '=', team_id)
      .where('member_id', '=', member_id)
      .execute()
  for (const [team_id, is_manager] of fresh)
    await within
      .insertInto('organisation_team_members')
      .values({ team_id, member_id, is_manager, by_directory: 1 })
      .onConflict((conflict) => conflict.columns(['team_id', 'member_id']).doUpdateSet({ is_manager }))
      .execute()
  return gone.length + fresh.length > 0
}
