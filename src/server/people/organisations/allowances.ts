import type { Allowance, AllowanceScope } from '../../../contract/entities/organisation.ts'
import type { Text } from '../../../contract/text.ts'
import type { Queries } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { requireMember } from './members.ts'
import { lockOrganisation, type Membership, managesAll, reachOf, teamsAbove } from './membership.ts'
import { findTeam } from './teams.ts'

/**
 * What tokens below an organisation, a team or a member may do. Nothing is copied to a token: the rows of all places above it are
 * read when it is loaded into memory, and the narrowest wins.
 */

/** Where a token of an organisation belongs. */
interface TokenPlace {
  readonly organisationId: number
  /** 0 for none. */
  readonly memberId: number
  /** 0 for none. */
  readonly teamId: number
}

/** A place above a token, with what it allows; undefined for everything. */
interface Bound {
  readonly name: Text
  readonly models: ReadonlySet<string> | undefined
  readonly groups: ReadonlySet<string> | undefined
  readonly tokensMax: number | undefined
  readonly daysMax: number | undefined
  readonly isStrict: boolean
}

/** What a token may do by its place. */
export interface Bounds {
  /** The team of the token and those above it, the lowest first. */
  readonly teamIds: readonly number[]
  readonly memberId: number
  readonly isStrict: boolean
  /** Models that every place allows; null for all. */
  readonly models: ReadonlySet<string> | null
  /** Undefined for any number. */
  readonly tokensMax: { readonly max: number; readonly place: Text } | undefined
  /** Days that a token lives; undefined for ever. */
  readonly daysMax: { readonly max: number; readonly place: Text } | undefined
  /** The place that forbids a model, or a group; undefined when all allow it. */
  forbidsModel(model: string): Text | undefined
  forbidsGroup(group: string): Text | undefined
}

export async function readBounds(db: Queries, { organisationId, memberId, teamId }: TokenPlace): Promise<Bounds> {
  const teams = await teamsAbove(db, teamId)
  const rows = await db.selectFrom('organisation_allowances').selectAll().where('organisation_id', '=', organisationId).execute()
  const found = (scope: AllowanceScope, id: number, name: Text): Bound[] =>
    rows.filter((row) => row.scope === scope && row.subject_id === id).map((row) => boundOf(row, name))
  const bounds = [
    ...found('member', memberId, { zh: '成员设置', en: 'the settings of the member' }),
    ...teams.flatMap(({ id, name }) => found('team', id, { zh: `团队“${name}”`, en: `the team “${name}”` })),
    ...found('organisation', organisationId, { zh: '组织设置', en: 'the settings of the organisation' }),
  ]
  return {
    teamIds: teams.map(({ id }) => id),
    memberId,
    isStrict: bounds.some(({ isStrict }) => isStrict),
    models: common(bounds.flatMap(({ models }) => models ?? [])),
    tokensMax: least(bounds, ({ tokensMax }) => tokensMax),
    daysMax: least(bounds, ({ daysMax }) => daysMax),
    forbidsModel: (model) => bounds.find(({ models }) => models && !models.has(model))?.name,
    forbidsGroup: (group) => bounds.find(({ groups }) => groups && !groups.has(group))?.name,
  }
}

function boundOf({ models, groups, tokens_max, days_max, is_strict }: Row<'organisation_allowances'>, name: Text): Bound {
  return {
    name,
    models: models === '' ? undefined : new Set(models.split(',')),
    groups: groups === '' ? undefined : new Set(groups.split(',')),
    tokensMax: tokens_max < 0 ? undefined : tokens_max,
    daysMax: days_max === 0 ? undefined : days_max,
    isStrict: is_strict === 1,
  }
}

/** What all sets contain; null without any. */
function common(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> | null {
  const [first, ...rest] = sets
  return first ? new Set([...first].filter((name) => rest.every((set) => set.has(name)))) : null
}

function least(bounds: readonly Bound[], of: (bound: Bound) => number | undefined) {
  let found: { max: number; place: Text } | undefined
  for (const bound of bounds) {
    const max = of(bound)
    if (max !== undefined && (!found || max < found.max)) found = { max, place: bound.name }
  }
  return found
}

/** Every allowance of an organisation that differs from the default. */
export async function listAllowances(db: Queries, { payer }: Membership): Promise<Allowance[]> {
  const rows = await db.selectFrom('organisation_allowances').selectAll().where('organisation_id', '=', payer.id).execute()
  return rows.map(({ organisation_id: _, scope, models, groups, is_strict, ...row }) => ({
    ...row,
    // Only `setAllowance` writes them.
    scope: scope as AllowanceScope,
    models: models === '' ? [] : models.split(','),
    groups: groups === '' ? [] : groups.split(','),
    is_strict: is_strict === 1,
  }))
}

/**
 * Sets what tokens below a place may do; it holds from the next call on, for tokens of today too. Owners and admins set all of them,
 * managers those of teams below their own and of members of these. Throws `not_found`, `organisation_role`, `field_invalid`.
 */
export async function setAllowance(core: Core, caller: Caller, membership: Membership, given: Allowance): Promise<void> {
  const { payer } = membership
  const { scope, subject_id, models, groups, is_strict, ...plain } = given
  if ([...models, ...groups].some((name) => name.includes(',')))
    fail('field_invalid', { field: 'models', reason: { zh: '名称不能包含逗号', en: 'a name contains a comma' } })
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    await requireBelow(within, membership, { scope, id: subject_id })
    const values = { ...plain, models: models.join(','), groups: groups.join(','), is_strict: Number(is_strict) }
    await within
      .insertInto('organisation_allowances')
      .values({ scope, subject_id, organisation_id: payer.id, ...values })
      .onConflict((conflict) => conflict.columns(['scope', 'subject_id']).doUpdateSet(values))
      .execute()
    audit({ action: 'organisation.allow', target: `organisation:${payer.id}`, after: given, topic: 'user', id: payer.id })
  })
}

/** Throws `organisation_role` unless the caller decides about the place (`decidesBelow`), and `not_found`. */
async function requireBelow(db: Queries, membership: Membership, place: Place): Promise<void> {
  if (!(await decidesBelow(db, membership, place))) fail('organisation_role')
}

interface Place {
  readonly scope: AllowanceScope
  readonly id: number
}

/**
 * Whether the caller decides about a place: owners and admins about all, a manager about teams below the managed ones and about
 * members of these, never about the own team, so that nobody loosens a bound of their own. Throws `not_found`.
 */
export async function decidesBelow(db: Queries, membership: Membership, { scope, id }: Place): Promise<boolean> {
  const { payer, memberId } = membership
  if (scope === 'organisation' && id !== payer.id) fail('not_found')
  if (scope === 'team') await findTeam(db, payer.id, id)
  if (scope === 'member') await requireMember(db, payer.id, id)
  if (managesAll(membership)) return true
  if (scope === 'organisation' || membership.role === 'billing') return false
  const { teamIds } = await reachOf(db, membership)
  if (teamIds.length === 0) return false
  const rows = db.selectFrom('organisation_team_members').select('member_id')
  if (scope === 'member') {
    if (id === memberId) return false
    return (await rows.where('member_id', '=', id).where('team_id', 'in', teamIds).executeTakeFirst()) !== undefined
  }
  const managesIt = rows.where('member_id', '=', memberId).where('team_id', '=', id).where('is_manager', '=', 1)
  return teamIds.includes(id) && (await managesIt.executeTakeFirst()) === undefined
}
