import type { Queries } from '../../../base/db/open.ts'
import { containsText } from '../../../base/db/page.ts'
import { fail } from '../../../base/lib/failure.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { change } from '../../../base/options/change.ts'
import type { Core } from '../../../base/options/core.ts'
import { displayName, withFreeName } from '../../accounts/external-identity/new-account.ts'
import { usernameKey } from '../../accounts/usernames.ts'
import { confirmedAddress } from '../sign-on/domains.ts'
import {
  addPerson,
  applyToPerson,
  type Directory,
  firstFree,
  lockDirectory,
  type Person,
  peopleIn,
  refuseTaken,
  removePerson,
  switchOff,
  switchOn,
} from '../sign-on/people.ts'
import { type Condition, parseFilter } from './filter.ts'
import { type Operation, patchUser } from './patch.ts'
import type { UserFacts } from './read.ts'
import { type Listed, metaOf, urn } from './resources.ts'

/** Users of SCIM: the people that a directory has sent. Each is a row of `directory_people` with a `user_name`. */

type Found = Awaited<ReturnType<ReturnType<typeof usersIn>['executeTakeFirstOrThrow']>>

function usersIn(db: Queries, organisationId: number) {
  return peopleIn(db, organisationId).where('user_name_key', '<>', '')
}

export interface PageAsked {
  readonly filter: string
  /** From 1. */
  readonly startIndex: number
  readonly count: number
}

/** Throws `scim_filter_invalid`. */
export async function listUsers(core: Core, organisationId: number, { filter, startIndex, count }: PageAsked): Promise<Listed> {
  const conditions = filter === '' ? [] : parseFilter(filter)
  const found = conditions.reduce(withCondition, usersIn(core.db, organisationId)).orderBy('directory_people.id')
  const inProfile = conditions.filter(({ attribute }) => profileAttributes.includes(attribute))
  if (inProfile.length > 0) {
    const rows = (await found.execute()).filter((row) => inProfile.every((condition) => profileMeets(row, condition)))
    const page = rows.slice(startIndex - 1, startIndex - 1 + count)
    return { resources: page.map((row) => presentUser(core, row)), total: rows.length, startIndex }
  }
  const { total } = await found
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const rows =
    count === 0
      ? []
      : await found
          .limit(count)
          .offset(startIndex - 1)
          .execute()
  return { resources: rows.map((row) => presentUser(core, row)), total: Number(total), startIndex }
}

const profileAttributes = ['emails', 'emails.value', 'displayname']

function withCondition(query: ReturnType<typeof usersIn>, { attribute, value }: Condition): ReturnType<typeof usersIn> {
  const text = String(value)
  if (attribute === 'username') return query.where('user_name_key', '=', usernameKey(text))
  if (attribute === 'externalid') return query.where('external_id', '=', text)
  if (attribute === 'id') return query.where('directory_people.id', '=', idOf(text))
  // Narrows what is compared afterwards: the profile is stored as JSON.
  if (profileAttributes.includes(attribute)) return query.where(containsText('profile', JSON.stringify(text).slice(1, -1)))
  return fail('scim_filter_invalid', { reason: attribute })
}

function profileMeets({ profile }: Found, { attribute, value }: Condition): boolean {
  const { displayName: name, emails } = readProfile(profile)
  const values = attribute === 'displayname' ? [name] : emails.map((email) => email.value)
  return values.some((each) => each.toLowerCase() === String(value).toLowerCase())
}

/** The number of an id; 0 for what is none. */
export function idOf(text: string): number {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
}

/** Throws `not_found`. */
export async function getUser(core: Core, organisationId: number, id: string): Promise<object> {
  return presentUser(core, await requireUser(core.db, organisationId, id))
}

async function requireUser(db: Queries, organisationId: number, id: string): Promise<Found> {
  const found = usersIn(db, organisationId).where('directory_people.id', '=', idOf(id))
  return (await found.executeTakeFirst()) ?? fail('not_found')
}

/**
 * Adds a user: a person whom the organisation knows already, the user of an address in a confirmed domain, or a new account. Throws
 * `scim_user_taken`, `directory_full`.
 */
export async function createUser(core: Core, organisationId: number, facts: UserFacts): Promise<object> {
  const id = await withFreeName((tries) =>
    inDirectory(core, organisationId, async (directory) => {
      const person = (await findUnsent(directory, facts)) ?? (await addUser(directory, facts, tries))
      await saveFacts(directory, person, facts)
      if (facts.active) await switchOn(directory, person)
      else await switchOff(directory, person)
      await applyToPerson(directory, person)
      return person.id
    }),
  )
  return getUser(core, organisationId, String(id))
}

function addUser(directory: Directory, facts: UserFacts, tries: number): Promise<Person> {
  const { userName, externalId } = facts
  const row = { user_name: userName, user_name_key: usernameKey(userName), external_id: externalId }
  return addPerson(directory, { name: nameOf(facts), username: userName, addresses: addressesOf(facts), row, tries })
}

/** A person whom the directory has not sent, or has deleted: by the account's address, or by the subject of the logins. */
async function findUnsent({ within, organisationId }: Directory, facts: UserFacts): Promise<Person | undefined> {
  const unsent = await peopleIn(within, organisationId).where('user_name_key', '=', '').execute()
  for (const given of addressesOf(facts)) {
    const address = await confirmedAddress(within, organisationId, given)
    const person = address === undefined ? undefined : unsent.find(({ email }) => email === address)
    if (person) return person
  }
  return facts.externalId === '' ? undefined : unsent.find(({ subject }) => subject.endsWith(` ${facts.externalId}`))
}

/** Replaces all that the directory says. Throws `not_found`, `scim_user_taken`, `scim_only_owner`. */
export function replaceUser(core: Core, organisationId: number, id: string, facts: UserFacts): Promise<object> {
  return editUser(core, organisationId, id, () => facts)
}

/** Throws `not_found`, `scim_user_taken`, `scim_only_owner`, `scim_value_invalid`. */
export function changeUser(core: Core, organisationId: number, id: string, operations: readonly Operation[]): Promise<object> {
  return editUser(core, organisationId, id, (before) => patchUser(before, operations))
}

async function editUser(core: Core, organisationId: number, id: string, edit: (before: UserFacts) => UserFacts): Promise<object> {
  await inDirectory(core, organisationId, async (directory) => {
    const person = await requireUser(directory.within, organisationId, id)
    const before = factsOf(person)
    const facts = edit(before)
    if (facts.userName === '') fail('scim_value_invalid', { path: 'userName', reason: { zh: '不能为空', en: 'it is required' } })
    await saveFacts(directory, person, facts)
    if (facts.active === before.active) return
    if (facts.active) await switchOn(directory, person)
    else await switchOff(directory, person)
    await applyToPerson(directory, person)
  })
  return getUser(core, organisationId, id)
}

/** Throws `not_found`, `scim_only_owner`. */
export async function deleteUser(core: Core, organisationId: number, id: string): Promise<void> {
  await inDirectory(core, organisationId, async (directory) => {
    await removePerson(directory, await requireUser(directory.within, organisationId, id))
  })
}

/** Runs a change of the directory of an organisation, which is locked. */
export function inDirectory<Result>(
  core: Core,
  organisationId: number,
  run: (directory: Directory) => Promise<Result>,
): Promise<Result> {
  return change(core, undefined, async (within, report) => {
    const directory = { core, within, report, organisationId }
    await lockDirectory(directory)
    return run(directory)
  })
}

/** Stores what the directory says. The name and address of an account that came by it follow, where they have changed there. */
async function saveFacts(directory: Directory, person: Person, facts: UserFacts): Promise<void> {
  const { core, within, report } = directory
  const { displayName: shown, name, emails } = facts
  const before = readProfile(person.profile)
  await within
    .updateTable('directory_people')
    .set({
      user_name: facts.userName,
      user_name_key: usernameKey(facts.userName),
      external_id: facts.externalId,
      profile: JSON.stringify({ displayName: shown, name, emails }),
      updated_at: seconds(core.now()),
    })
    .where('id', '=', person.id)
    .execute()
    .catch(refuseTaken)
  if (person.came_by_it === 0 || person.profile === '') return
  const isRenamed = nameOf(facts) !== nameOf({ ...facts, ...before })
  const values = {
    ...(isRenamed && displayName(nameOf(facts)) !== '' ? { display_name: displayName(nameOf(facts)) } : {}),
    ...(await newAddress(directory, person, facts)),
  }
  if (Object.keys(values).length === 0) return
  await within.updateTable('users').set(values).where('id', '=', person.user_id).execute()
  report({ topic: 'user', id: person.user_id })
}

/** The first address in a confirmed domain, if the account has another one, and no other account has it. */
async function newAddress(
  { within, organisationId }: Directory,
  { user_id }: Person,
  facts: UserFacts,
): Promise<{ email?: string }> {
  const { email: current } = await within.selectFrom('users').select('email').where('id', '=', user_id).executeTakeFirstOrThrow()
  for (const given of addressesOf(facts)) {
    const address = await confirmedAddress(within, organisationId, given)
    if (address === undefined) continue
    if (address === current) return {}
    const free = await firstFree(within, [address])
    if (free !== undefined) return { email: free }
  }
  return {}
}

/** The addresses of a user, the main one first; a `userName` is one in most directories. */
function addressesOf({ emails, userName }: UserFacts): string[] {
  const ordered = emails.toSorted((one, other) => Number(other.primary ?? false) - Number(one.primary ?? false))
  return [...ordered.map(({ value }) => value), userName]
}

function nameOf({ displayName: shown, name, userName }: Pick<UserFacts, 'displayName' | 'name' | 'userName'>): string {
  return shown || name.formatted || [name.givenName, name.familyName].filter(Boolean).join(' ') || userName
}

type Profile = Pick<UserFacts, 'displayName' | 'name' | 'emails'>

function readProfile(text: string): Profile {
  // Only `saveFacts` writes it.
  return text === '' ? { displayName: '', name: {}, emails: [] } : (JSON.parse(text) as Profile)
}

function factsOf({ user_name: userName, external_id: externalId, profile, member_id }: Found): UserFacts {
  return { userName, externalId, active: member_id !== null, ...readProfile(profile) }
}

function presentUser(core: Core, row: Found): object {
  const { userName, externalId, active, displayName: shown, name, emails } = factsOf(row)
  return {
    schemas: [urn.user],
    id: String(row.id),
    ...(externalId === '' ? {} : { externalId }),
    userName,
    active,
    ...(shown === '' ? {} : { displayName: shown }),
    ...(Object.keys(name).length === 0 ? {} : { name }),
    ...(emails.length === 0 ? {} : { emails }),
    meta: metaOf(core, { type: 'User', id: row.id, created: row.created_at, changed: row.updated_at }),
  }
}
