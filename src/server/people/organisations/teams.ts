import { organisationLimits, type Team } from '../../../contract/entities/organisation.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { requireMember } from './members.ts'
import { lockOrganisation, type Membership, managesAll, reachOf, teamsAbove, teamsBelow } from './membership.ts'

/** Teams of an organisation, nested to five levels. A manager of a team manages those below it too. */

/** All teams, each after the one that it is a part of. */
export async function listTeams(db: Queries, membership: Membership): Promise<Team[]> {
  const rows = await db
    .selectFrom('organisation_teams')
    .select(['id', 'parent_id', 'name'])
    .select((row) => [
      row
        .selectFrom('organisation_team_members as m')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('m.team_id', '=', 'organisation_teams.id')
        .as('members'),
      row
        .selectFrom('tokens')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('tokens.team_id', '=', 'organisation_teams.id')
        .where('tokens.user_id', '=', membership.payer.id)
        .where('tokens.deleted_at', 'is', null)
        .as('tokens'),
    ])
    .where('organisation_id', '=', membership.payer.id)
    .where('closed_at', 'is', null)
    .orderBy('name')
    .orderBy('id')
    .execute()
  const { isAll, teamIds } = await reachOf(db, membership)
  const items = rows.map(({ members, tokens, ...row }) => {
    return { ...row, members: Number(members ?? 0), tokens: Number(tokens ?? 0), may_manage: isAll || teamIds.includes(row.id) }
  })
  return below(items, 0)
}

function below(teams: readonly Team[], parent: number): Team[] {
  return teams.filter(({ parent_id }) => parent_id === parent).flatMap((team) => [team, ...below(teams, team.id)])
}

/** Throws `not_found`, `organisation_role`, `teams_too_deep`, `teams_too_many`. */
export async function createTeam(
  core: Core,
  caller: Caller,
  { membership, name, parent }: { membership: Membership; name: string; parent: number },
): Promise<number> {
  const organisation_id = membership.payer.id
  return change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, organisation_id)
    if (parent === 0 && !managesAll(membership)) fail('organisation_role')
    if (parent !== 0) await requireTeam(within, membership, parent)
    await requireDepth(within, parent, 1)
    await requireFewTeams(within, organisation_id)
    const values = { organisation_id, parent_id: parent, name, created_at: seconds(core.now()) }
    const { id } = await within.insertInto('organisation_teams').values(values).returning('id').executeTakeFirstOrThrow()
    audit({ action: 'organisation.team-create', target: `organisation:${organisation_id}`, after: { team: id, name, parent } })
    return id
  })
}

/**
 * Renames a team, or moves it below another one: what was charged stays where it was. Throws `not_found`, `organisation_role`,
 * `teams_too_deep`.
 */
export async function editTeam(
  core: Core,
  caller: Caller,
  {
    membership,
    id,
    name,
    parent,
  }: { membership: Membership; id: number; name?: string | undefined; parent?: number | undefined },
): Promise<void> {
  const { payer } = membership
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    const before = await requireTeam(within, membership, id)
    if (parent !== undefined && parent !== before.parent_id) await requireMovable(within, membership, { id, parent })
    const values = { ...(name === undefined ? {} : { name }), ...(parent === undefined ? {} : { parent_id: parent }) }
    if (Object.keys(values).length === 0) return
    await within.updateTable('organisation_teams').set(values).where('id', '=', id).execute()
    const told = { before: { team: id, name: before.name, parent: before.parent_id }, after: { team: id, ...values } }
    audit({ action: 'organisation.team-edit', target: `organisation:${payer.id}`, ...told, topic: 'user', id: payer.id })
    if (name !== undefined) audit({ topic: 'budgets' })
  })
}

/** Closes a team; its tokens and the teams below move to the one above it. Throws `not_found`, `organisation_role`. */
export async function closeTeam(
  core: Core,
  caller: Caller,
  { membership, id }: { membership: Membership; id: number },
): Promise<void> {
  const { payer } = membership
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    const { parent_id, name } = await requireTeam(within, membership, id)
    const at = seconds(core.now())
    await within.updateTable('organisation_teams').set({ parent_id }).where('parent_id', '=', id).execute()
    const moved = await within
      .updateTable('tokens')
      .set({ team_id: parent_id })
      .where('team_id', '=', id)
      .where('user_id', '=', payer.id)
      .returning(['id', 'member_id'])
      .execute()
    for (const token of moved) await notePlace(within, { ...token, team_id: parent_id, at })
    await within.updateTable('organisation_teams').set({ closed_at: at }).where('id', '=', id).execute()
    await within.deleteFrom('organisation_team_members').where('team_id', '=', id).execute()
    audit({
      action: 'organisation.team-close',
      target: `organisation:${payer.id}`,
      before: { team: id, name },
      topic: 'user',
      id: payer.id,
    })
  })
}

/** Notes where a token belongs from now on: its charges are counted there. Times are unix seconds. */
export async function notePlace(
  within: Within,
  { id: token_id, member_id, team_id, at }: { id: number; member_id: number; team_id: number; at: number },
): Promise<void> {
  await within
    .insertInto('token_places')
    .values({ token_id, since: at, member_id, team_id })
    .onConflict((conflict) => conflict.columns(['token_id', 'since']).doUpdateSet({ member_id, team_id }))
    .execute()
}

/** Adds a member to a team, or changes whether the member manages it. Throws `not_found`, `organisation_role`. */
export async function putInTeam(
  core: Core,
  caller: Caller,
  { membership, team, member, isManager }: { membership: Membership; team: number; member: number; isManager: boolean },
): Promise<void> {
  const { payer } = membership
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    await requireTeam(within, membership, team)
    await requireMember(within, payer.id, member)
    const values = { team_id: team, member_id: member, is_manager: Number(isManager), by_directory: 0 }
    await within
      .insertInto('organisation_team_members')
      .values(values)
      .onConflict((conflict) =>
        conflict.columns(['team_id', 'member_id']).doUpdateSet({ is_manager: Number(isManager), by_directory: 0 }),
      )
      .execute()
    audit({ action: 'organisation.team-member', target: `organisation:${payer.id}`, after: { team, member, manages: isManager } })
  })
}

/** Throws `not_found`, `organisation_role`, `organisation_by_directory`. */
export async function takeFromTeam(
  core: Core,
  caller: Caller,
  { membership, team, member }: { membership: Membership; team: number; member: number },
): Promise<void> {
  const { payer } = membership
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    await requireTeam(within, membership, team)
    const found = within.deleteFrom('organisation_team_members').where('team_id', '=', team).where('member_id', '=', member)
    const taken = (await found.returning('by_directory').executeTakeFirst()) ?? fail('not_found')
    if (taken.by_directory === 1) fail('organisation_by_directory')
    audit({ action: 'organisation.team-member', target: `organisation:${payer.id}`, before: { team, member } })
  })
}

/** A team that the caller may manage. Throws `not_found`, `organisation_role`. */
async function requireTeam(within: Queries, membership: Membership, id: number): Promise<Row<'organisation_teams'>> {
  const row = await findTeam(within, membership.payer.id, id)
  const { isAll, teamIds } = await reachOf(within, membership)
  if (!isAll && !teamIds.includes(id)) fail('organisation_role')
  return row
}

/** Throws `not_found`. */
export async function findTeam(db: Queries, organisationId: number, id: number): Promise<Row<'organisation_teams'>> {
  const found = db.selectFrom('organisation_teams').selectAll().where('id', '=', id).where('closed_at', 'is', null)
  return (await found.where('organisation_id', '=', organisationId).executeTakeFirst()) ?? fail('not_found')
}

/** Whoever moves a team manages both where it is and where it goes; it does not go below itself. */
async function requireMovable(
  within: Within,
  membership: Membership,
  { id, parent }: { id: number; parent: number },
): Promise<void> {
  if (parent === 0 && !managesAll(membership)) fail('organisation_role')
  if (parent !== 0) await requireTeam(within, membership, parent)
  const inside = await teamsBelow(within, [id])
  if (inside.includes(parent)) fail('team_within_itself')
  await requireDepth(within, parent, await heightOf(within, id))
}

/** Levels of teams from this one down. */
async function heightOf(within: Within, id: number): Promise<number> {
  let height = 0
  for (let level = [id]; level.length > 0; height++) {
    const rows = await within
      .selectFrom('organisation_teams')
      .select('id')
      .where('parent_id', 'in', level)
      .where('closed_at', 'is', null)
      .execute()
    level = rows.map((row) => row.id)
  }
  return height
}

async function requireDepth(within: Within, parent: number, height: number): Promise<void> {
  const { teamDepthMax: max } = organisationLimits
  if ((await teamsAbove(within, parent)).length + height > max) fail('teams_too_deep', { max })
}

async function requireFewTeams(within: Within, organisationId: number): Promise<void> {
  const { teamsMax: max } = organisationLimits
  const { count } = await within
    .selectFrom('organisation_teams')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organisation_id', '=', organisationId)
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (Number(count) >= max) fail('teams_too_many', { max })
}
