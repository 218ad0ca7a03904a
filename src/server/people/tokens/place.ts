import { neverExpires, type TokenInput } from '../../../contract/entities/token.ts'
import { locked } from '../../base/db/locked.ts'
import type { Within } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Core } from '../../base/options/core.ts'
import { readBounds } from '../organisations/allowances.ts'
import { requireMember } from '../organisations/members.ts'
import { lockOrganisation, type Membership, type Reach, reachOf, tokensWithin } from '../organisations/membership.ts'
import { findTeam, notePlace } from '../organisations/teams.ts'

/** The member and team that a token of an organisation belongs to. */
export interface PlaceInOrganisation {
  readonly membership: Membership
  readonly reach: Reach
  /** 0 for a token of the organisation or a team itself. */
  readonly memberId: number
  readonly teamId: number
}

/**
 * Checks, and locks against other changes, that the caller may put a token there: members their own, in a team that they belong to;
 * managers any below their teams; owners and admins everywhere. Throws `not_found`, `organisation_role`,
 * `organisation_tokens_max`, `organisation_days_max`, `organisation_group_forbidden`.
 */
export async function requirePlace(
  core: Core,
  within: Within,
  { place, input }: { place: PlaceInOrganisation; input?: TokenInput },
): Promise<void> {
  const { membership, reach, memberId, teamId } = place
  const organisationId = membership.payer.id
  await lockOrganisation(core, within, organisationId)
  if (memberId !== 0) await requireMember(within, organisationId, memberId)
  if (teamId !== 0) await findTeam(within, organisationId, teamId)
  if (!reach.isAll) await requireOwnPlace(within, place)
  const bounds = await readBounds(within, { organisationId, memberId, teamId })
  const { tokensMax, daysMax } = bounds
  if (memberId !== 0 && tokensMax) {
    const { count } = await within
      .selectFrom('tokens')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('member_id', '=', memberId)
      .where('deleted_at', 'is', null)
      .executeTakeFirstOrThrow()
    if (Number(count) >= tokensMax.max) fail('organisation_tokens_max', { ...tokensMax })
  }
  if (!input) return
  const latest = seconds(core.now()) + (daysMax?.max ?? 0) * daySeconds
  if (daysMax && (input.expired_time === neverExpires || input.expired_time > latest))
    fail('organisation_days_max', { ...daysMax })
  const forbidding = input.group === '' || input.group === 'auto' ? undefined : bounds.forbidsGroup(input.group)
  if (forbidding) fail('organisation_group_forbidden', { group: input.group, place: forbidding })
}

export const daySeconds = 86_400

async function requireOwnPlace(within: Within, { reach, memberId, teamId }: PlaceInOrganisation): Promise<void> {
  if (reach.teamIds.includes(teamId)) return
  if (memberId !== reach.memberId) fail('organisation_role')
  if (teamId === 0) return
  const found = within.selectFrom('organisation_team_members').select('team_id').where('member_id', '=', memberId)
  if (!(await found.where('team_id', '=', teamId).executeTakeFirst())) fail('organisation_role')
}

/**
 * Moves a token to another member or team of its organisation; its charges so far stay where they were. Throws as `requirePlace`, and
 * `not_found` for a token out of reach.
 */
export async function moveToken(
  core: Core,
  { membership, id, memberId, teamId }: { membership: Membership; id: number; memberId: number; teamId: number },
): Promise<void> {
  const { payer } = membership
  const reach = await reachOf(core.db, membership)
  await change(core, undefined, async (within, report) => {
    await lockOrganisation(core, within, payer.id)
    const token = await locked(
      core,
      within
        .selectFrom('tokens')
        .select(['id', 'member_id', 'team_id'])
        .where('id', '=', id)
        .where('user_id', '=', payer.id)
        .where('deleted_at', 'is', null)
        .where(tokensWithin(reach)),
    ).executeTakeFirst()
    if (!token) fail('not_found')
    if (token.member_id === memberId && token.team_id === teamId) return
    if (token.member_id === memberId) await requireTeamOnly(within, { membership, reach, memberId, teamId })
    else await requirePlace(core, within, { place: { membership, reach, memberId, teamId } })
    await within.updateTable('tokens').set({ member_id: memberId, team_id: teamId }).where('id', '=', id).execute()
    await notePlace(within, { id, member_id: memberId, team_id: teamId, at: seconds(core.now()) })
    report({ topic: 'token', id })
  })
}

/** The member keeps the number of tokens. */
async function requireTeamOnly(within: Within, place: PlaceInOrganisation): Promise<void> {
  if (place.teamId !== 0) await findTeam(within, place.membership.payer.id, place.teamId)
  if (!place.reach.isAll) await requireOwnPlace(within, place)
}
