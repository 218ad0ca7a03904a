import { role } from '../../../../contract/roles.ts'
import { isUniqueViolation } from '../../../base/db/failures.ts'
import type { Queries, Within } from '../../../base/db/open.ts'
import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Report } from '../../../base/options/change.ts'
import type { Core } from '../../../base/options/core.ts'
import { createFromProfile } from '../../accounts/external-identity/new-account.ts'
import { deleteCodes } from '../../accounts/mailed-codes.ts'
import { deleteSessions } from '../../accounts/sessions.ts'
import { accountKind, findByEmail } from '../../accounts/users.ts'
import { endMembership } from '../members.ts'
import { lockOrganisation } from '../membership.ts'
import { applyRules } from './apply-rules.ts'
import { confirmedAddress } from './domains.ts'

/** The people of a directory: users that an organisation knows by it. Every change locks the organisation. */

export type Person = Row<'directory_people'>

/** The directory of one organisation, within a change. */
export interface Directory {
  readonly core: Core
  readonly within: Within
  readonly report: Report
  readonly organisationId: number
}

/** People of a directory and their accounts, without admins of the site and deleted accounts: nobody sees these by a directory. */
export function peopleIn(db: Queries, organisationId: number) {
  return db
    .selectFrom('directory_people')
    .innerJoin('users', 'users.id', 'directory_people.user_id')
    .selectAll('directory_people')
    .select(['users.email', 'users.display_name'])
    .select((row) =>
      row
        .selectFrom('organisation_members as m')
        .select('m.id')
        .whereRef('m.organisation_id', '=', 'directory_people.organisation_id')
        .whereRef('m.user_id', '=', 'directory_people.user_id')
        .where('m.left_at', 'is', null)
        .as('member_id'),
    )
    .where('directory_people.organisation_id', '=', organisationId)
    .where('users.role', '<', role.admin)
    .where('users.deleted_at', 'is', null)
}

/** Throws `not_found`. */
export async function lockDirectory(directory: Directory): Promise<void> {
  await lockOrganisation(directory.core, directory.within, directory.organisationId)
}

/** What a directory says about a person. */
interface NewPerson {
  readonly name: string
  readonly username: string
  /** Addresses that the directory vouches for, the main one first. */
  readonly addresses: readonly string[]
  readonly row: Partial<Pick<Person, 'subject' | 'user_name' | 'user_name_key' | 'external_id' | 'profile' | 'claimed_groups'>>
  /** How often a name was taken already. */
  readonly tries: number
}

const peopleMax = 20_000

/**
 * Adds a person: the user of one of the addresses, or a new account, without the bonus of a sign-up. Throws `scim_user_taken`,
 * `directory_full`, `username_taken`.
 */
export async function addPerson(directory: Directory, given: NewPerson): Promise<Person> {
  const { core, within, report, organisationId } = directory
  await requireRoom(within, organisationId)
  const addresses = await confirmedOf(within, organisationId, given.addresses)
  const known = await findLinkable(within, organisationId, addresses)
  const user_id = known ?? (await createAccount(directory, given, addresses))
  const at = seconds(core.now())
  const person = await within
    .insertInto('directory_people')
    .values({
      organisation_id: organisationId,
      user_id,
      ...given.row,
      came_by_it: Number(known === undefined),
      created_at: at,
      updated_at: at,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch(refuseTaken)
  report({ topic: 'user', id: user_id })
  return person
}

/** Turns the unique violation of a person into the caller's error. */
export function refuseTaken(error: unknown): never {
  if (isUniqueViolation(error)) fail('scim_user_taken', {}, { cause: error })
  throw error
}

async function requireRoom(within: Within, organisationId: number): Promise<void> {
  const { count } = await within
    .selectFrom('directory_people')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organisation_id', '=', organisationId)
    .executeTakeFirstOrThrow()
  if (Number(count) >= peopleMax) fail('directory_full', { max: peopleMax })
}

async function confirmedOf(db: Queries, organisationId: number, given: readonly string[]): Promise<string[]> {
  const confirmed: string[] = []
  for (const each of given) {
    const address = await confirmedAddress(db, organisationId, each)
    if (address !== undefined) confirmed.push(address)
  }
  return confirmed
}

/** A user of one of the addresses that the directory does not know yet; never an admin of the site. */
async function findLinkable(within: Within, organisationId: number, addresses: readonly string[]): Promise<number | undefined> {
  if (addresses.length === 0) return undefined
  const found = await within
    .selectFrom('users')
    .select('id')
    .where('email', 'in', addresses)
    .where('kind', '=', accountKind.person)
    .where('role', '<', role.admin)
    .where('deleted_at', 'is', null)
    .where('id', 'not in', (row) =>
      row.selectFrom('directory_people').select('user_id').where('organisation_id', '=', organisationId),
    )
    .orderBy('id')
    .executeTakeFirst()
  return found?.id
}

async function createAccount(
  { core, within }: Directory,
  { name, username, tries }: NewPerson,
  addresses: readonly string[],
): Promise<number> {
  const email = await firstFree(within, addresses)
  const more = email === undefined ? {} : { email }
  return (await createFromProfile(core, within, { profile: { name, username }, prefix: 'sso', tries, more })).id
}

/** The first of some addresses that no account has, nor had. */
export async function firstFree(db: Queries, addresses: readonly string[]): Promise<string | undefined> {
  for (const address of addresses) if (!(await findByEmail(db, address))) return address
  return undefined
}

/**
 * Makes the person a member: the membership that the directory had ended, with its role, teams and tokens, or else a new one. Does nothing
 * for a member.
 */
export async function switchOn(directory: Directory, person: Person): Promise<void> {
  const { core, within, report, organisationId } = directory
  const { user_id, suspended_member } = person
  if ((await currentMember(within, person)) !== undefined) {
    // An owner has let them in again: what the directory had kept is over.
    if (suspended_member !== 0) await endMembership(core, within, suspended_member)
  } else if (suspended_member === 0) {
    const member = { organisation_id: organisationId, user_id, role: 'member', created_at: seconds(core.now()) }
    await within.insertInto('organisation_members').values(member).execute()
  } else {
    await within.updateTable('organisation_members').set({ left_at: null }).where('id', '=', suspended_member).execute()
    await restoreTeams(within, person)
  }
  await within
    .updateTable('directory_people')
    .set({ suspended_member: 0, suspended_teams: '' })
    .where('id', '=', person.id)
    .execute()
  tell(directory, 'on', person)
  report({ topic: 'user', id: user_id })
}

/** A team that was closed since is left out. */
async function restoreTeams(within: Within, { suspended_member, suspended_teams }: Person): Promise<void> {
  // Only `switchOff` writes it.
  const teams = (suspended_teams === '' ? [] : JSON.parse(suspended_teams)) as Row<'organisation_team_members'>[]
  const open = within.selectFrom('organisation_teams').select('id').where('closed_at', 'is', null)
  const ids = (await open.where('id', 'in', [0, ...teams.map(({ team_id }) => team_id)]).execute()).map(({ id }) => id)
  const rows = teams.filter(({ team_id }) => ids.includes(team_id)).map((row) => ({ ...row, member_id: suspended_member }))
  if (rows.length > 0) await within.insertInto('organisation_team_members').values(rows).execute()
}

/**
 * Ends the membership, and keeps it to be restored; the tokens stop with it. The logins of an account that came by the directory end.
 * Throws `scim_only_owner`.
 */
export async function switchOff(directory: Directory, person: Person): Promise<void> {
  const { core, within, report } = directory
  const member = await currentMember(within, person)
  if (member !== undefined) {
    await requireOtherOwner(directory, member)
    const teams = await within.deleteFrom('organisation_team_members').where('member_id', '=', member).returningAll().execute()
    await within
      .updateTable('organisation_members')
      .set({ left_at: seconds(core.now()) })
      .where('id', '=', member)
      .execute()
    // What was kept before was let in again by an owner.
    if (person.suspended_member !== 0) await endMembership(core, within, person.suspended_member)
    await within
      .updateTable('directory_people')
      .set({ suspended_member: member, suspended_teams: JSON.stringify(teams) })
      .where('id', '=', person.id)
      .execute()
    tell(directory, 'off', person)
  }
  await endLogins(within, person)
  report({ topic: 'user', id: person.user_id })
}

/**
 * Ends the membership for good, with its tokens, and forgets what the directory has said; but not which account it has created, so that
 * the account is the same when the person comes back. Throws `scim_only_owner`.
 */
export async function removePerson(directory: Directory, person: Person): Promise<void> {
  const { core, within, report } = directory
  const member = await currentMember(within, person)
  if (member !== undefined) await requireOtherOwner(directory, member)
  for (const id of [member ?? 0, person.suspended_member]) if (id !== 0) await endMembership(core, within, id)
  await endLogins(within, person)
  await within.deleteFrom('directory_group_people').where('person_id', '=', person.id).execute()
  await forget(within, person)
  tell(directory, 'removed', person)
  report({ topic: 'user', id: person.user_id })
}

async function forget(within: Within, { id, came_by_it }: Person): Promise<void> {
  if (came_by_it === 0) {
    await within.deleteFrom('directory_people').where('id', '=', id).execute()
    return
  }
  const said = { subject: '', user_name: '', user_name_key: '', external_id: '', profile: '', claimed_groups: '' }
  await within
    .updateTable('directory_people')
    .set({ ...said, suspended_member: 0, suspended_teams: '' })
    .where('id', '=', id)
    .execute()
}

/** Applies the groups of the person. */
export function applyToPerson({ within, report, organisationId }: Directory, { id }: Pick<Person, 'id'>): Promise<void> {
  return applyRules(within, report, { organisationId, people: [id] })
}

function tell({ report, organisationId }: Directory, state: string, { user_id }: Person): void {
  report({ action: 'organisation.directory', target: `organisation:${organisationId}`, after: { user: user_id, state } })
}

async function currentMember(db: Queries, person: Pick<Person, 'organisation_id' | 'user_id'>): Promise<number | undefined> {
  const found = await db
    .selectFrom('organisation_members')
    .select('id')
    .where('organisation_id', '=', person.organisation_id)
    .where('user_id', '=', person.user_id)
    .where('left_at', 'is', null)
    .executeTakeFirst()
  return found?.id
}

async function requireOtherOwner({ within, organisationId }: Directory, memberId: number): Promise<void> {
  const owners = await within
    .selectFrom('organisation_members')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('role', '=', 'owner')
    .where('left_at', 'is', null)
    .execute()
  if (owners.length === 1 && owners[0]?.id === memberId) fail('scim_only_owner')
}

/** As for a banned user; the account of somebody who had it before the directory knew them stays as it is. */
async function endLogins(within: Within, { user_id, came_by_it }: Person): Promise<void> {
  if (came_by_it === 0) return
  // First, so that a login that is being completed waits for this row, and finds no membership.
  await within.updateTable('users').set({ access_token_hash: null }).where('id', '=', user_id).execute()
  await deleteSessions(within, user_id)
  await deleteCodes(within, user_id)
}
