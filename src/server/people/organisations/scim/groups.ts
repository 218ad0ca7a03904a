import { isUniqueViolation } from '../../../base/db/failures.ts'
import type { Queries } from '../../../base/db/open.ts'
import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Core } from '../../../base/options/core.ts'
import { usernameKey } from '../../accounts/usernames.ts'
import { applyRules } from '../sign-on/apply-rules.ts'
import { type Directory, peopleIn } from '../sign-on/people.ts'
import { type Condition, parseFilter } from './filter.ts'
import type { Operation } from './patch.ts'
import { type GroupFacts, readMembers, readText } from './read.ts'
import { type Listed, metaOf, urn } from './resources.ts'
import { idOf, inDirectory, type PageAsked } from './users.ts'

/** Groups of SCIM: those that a directory has sent. What they give is decided by the rules of the organisation. */

type GroupRow = Row<'directory_groups'>

interface GroupsAsked extends PageAsked {
  /** Members are left out where a directory does not ask for them. */
  readonly withMembers: boolean
}

const groupsMax = 5000

/** Throws `scim_filter_invalid`. */
export async function listGroups(
  core: Core,
  organisationId: number,
  { filter, startIndex, count, withMembers }: GroupsAsked,
): Promise<Listed> {
  const conditions = filter === '' ? [] : parseFilter(filter)
  const found = conditions.reduce(withCondition, groupsIn(core.db, organisationId))
  const { total } = await found
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const rows =
    count === 0
      ? []
      : await found
          .orderBy('id')
          .limit(count)
          .offset(startIndex - 1)
          .execute()
  const resources: object[] = []
  for (const row of rows) resources.push(await presentGroup(core, row, withMembers))
  return { resources, total: Number(total), startIndex }
}

function groupsIn(db: Queries, organisationId: number) {
  return db.selectFrom('directory_groups').selectAll().where('organisation_id', '=', organisationId)
}

function withCondition(query: ReturnType<typeof groupsIn>, { attribute, value }: Condition): ReturnType<typeof groupsIn> {
  const text = String(value)
  if (attribute === 'displayname') return query.where('name_key', '=', usernameKey(text))
  if (attribute === 'externalid') return query.where('external_id', '=', text)
  if (attribute === 'id') return query.where('id', '=', idOf(text))
  if (attribute !== 'members' && attribute !== 'members.value') return fail('scim_filter_invalid', { reason: attribute })
  return query.where('id', 'in', (row) =>
    row.selectFrom('directory_group_people').select('group_id').where('person_id', '=', idOf(text)),
  )
}

/** Throws `not_found`. */
export async function getGroup(core: Core, organisationId: number, id: string, withMembers = true): Promise<object> {
  return presentGroup(core, await requireGroup(core.db, organisationId, id), withMembers)
}

async function requireGroup(db: Queries, organisationId: number, id: string): Promise<GroupRow> {
  return (await groupsIn(db, organisationId).where('id', '=', idOf(id)).executeTakeFirst()) ?? fail('not_found')
}

/** Throws `scim_group_taken`, `directory_full`, `scim_value_invalid` for members that the directory has not sent. */
export async function createGroup(core: Core, organisationId: number, facts: GroupFacts): Promise<object> {
  const id = await inDirectory(core, organisationId, async (directory) => {
    const { within } = directory
    const before = await countGroups(within, organisationId)
    if (before >= groupsMax) fail('directory_full', { max: groupsMax })
    const at = seconds(core.now())
    const { displayName: name, externalId: external_id } = facts
    const row = await within
      .insertInto('directory_groups')
      .values({ organisation_id: organisationId, name, name_key: usernameKey(name), external_id, created_at: at, updated_at: at })
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch(refuseTaken)
    const people = await requirePeople(directory, facts.members)
    await addPeople(directory, row.id, people)
    // The first group ends the groups of logins.
    await apply(directory, before === 0 ? undefined : people)
    return row.id
  })
  return getGroup(core, organisationId, String(id))
}

/** Throws `not_found`, `scim_group_taken`, `scim_value_invalid`. */
export async function replaceGroup(core: Core, organisationId: number, id: string, facts: GroupFacts): Promise<object> {
  await inDirectory(core, organisationId, async (directory) => {
    const row = await requireGroup(directory.within, organisationId, id)
    await rename(directory, row, facts)
    await setPeople(directory, row.id, facts.members)
  })
  return getGroup(core, organisationId, id)
}

/** Throws `not_found`, `scim_group_taken`, `scim_value_invalid`, `scim_path_invalid`. */
export async function changeGroup(
  core: Core,
  organisationId: number,
  id: string,
  operations: readonly Operation[],
): Promise<void> {
  await inDirectory(core, organisationId, async (directory) => {
    const { within } = directory
    for (const operation of operations) {
      const row = await requireGroup(within, organisationId, id)
      const { op, path, value } = operation
      const before = { displayName: row.name, externalId: row.external_id }
      if (path.attribute === 'members') await changePeople(directory, row.id, operation)
      else if (path.attribute === 'displayname' && op !== 'remove')
        await rename(directory, row, { ...before, displayName: readText('displayName', value) })
      else if (path.attribute === 'externalid')
        await rename(directory, row, { ...before, externalId: op === 'remove' ? '' : readText('externalId', value) })
    }
  })
}

/** Throws `not_found`. */
export async function deleteGroup(core: Core, organisationId: number, id: string): Promise<void> {
  await inDirectory(core, organisationId, async (directory) => {
    const { within } = directory
    const row = await requireGroup(within, organisationId, id)
    const people = await peopleOf(within, row.id)
    await within.deleteFrom('directory_group_people').where('group_id', '=', row.id).execute()
    await within.deleteFrom('directory_groups').where('id', '=', row.id).execute()
    // Without any group those of logins count again.
    await apply(directory, (await countGroups(within, organisationId)) === 0 ? undefined : people)
  })
}

async function rename(
  directory: Directory,
  row: GroupRow,
  { displayName: name, externalId }: Pick<GroupFacts, 'displayName' | 'externalId'>,
): Promise<void> {
  const { within, core } = directory
  if (name === '') fail('scim_value_invalid', { path: 'displayName', reason: { zh: '不能为空', en: 'it is required' } })
  if (name === row.name && externalId === row.external_id) return
  await within
    .updateTable('directory_groups')
    .set({ name, name_key: usernameKey(name), external_id: externalId, updated_at: seconds(core.now()) })
    .where('id', '=', row.id)
    .execute()
    .catch(refuseTaken)
  await apply(directory, await peopleOf(within, row.id))
}

async function changePeople(directory: Directory, groupId: number, { op, path, value }: Operation): Promise<void> {
  // `members[value eq "7"]`, or the list that Entra ID sends.
  const named = path.filter.filter(({ attribute }) => attribute === 'value').map((condition) => String(condition.value))
  if (path.filter.length > 0 && named.length === 0) fail('scim_path_invalid', { path: 'members' })
  const ids = path.filter.length > 0 ? named : readMembers(value)
  if (op === 'replace' && path.filter.length === 0) return setPeople(directory, groupId, ids)
  if (op !== 'remove') {
    const people = await requirePeople(directory, ids)
    await addPeople(directory, groupId, people)
    return apply(directory, people)
  }
  const before = await peopleOf(directory.within, groupId)
  const isAll = path.filter.length === 0 && (value === undefined || value === null)
  const gone = isAll ? before : before.filter((id) => ids.includes(String(id)))
  await removePeople(directory, groupId, gone)
  return apply(directory, gone)
}

async function setPeople(directory: Directory, groupId: number, ids: readonly string[]): Promise<void> {
  const wanted = await requirePeople(directory, ids)
  const before = await peopleOf(directory.within, groupId)
  const kept = new Set(wanted)
  const known = new Set(before)
  const gone = before.filter((id) => !kept.has(id))
  const fresh = wanted.filter((id) => !known.has(id))
  await removePeople(directory, groupId, gone)
  await addPeople(directory, groupId, fresh)
  await apply(directory, [...gone, ...fresh])
}

async function peopleOf(db: Queries, groupId: number): Promise<number[]> {
  const rows = await db.selectFrom('directory_group_people').select('person_id').where('group_id', '=', groupId).execute()
  return rows.map(({ person_id }) => person_id)
}

/** The people of some ids, each once. Throws `scim_value_invalid` for one that the directory has not sent. */
async function requirePeople({ within, organisationId }: Directory, ids: readonly string[]): Promise<number[]> {
  const asked = [...new Set(ids)]
  if (asked.length === 0) return []
  const rows = await peopleIn(within, organisationId).where('directory_people.id', 'in', asked.map(idOf)).execute()
  const known = new Set(rows.map(({ id }) => String(id)))
  const unknown = asked.find((id) => !known.has(id))
  if (unknown !== undefined)
    fail('scim_value_invalid', {
      path: 'members',
      reason: { zh: `没有 id 为 ${unknown.slice(0, 40)} 的用户`, en: `there is no user with the id ${unknown.slice(0, 40)}` },
    })
  return asked.map(Number)
}

async function addPeople({ within, core }: Directory, groupId: number, people: readonly number[]): Promise<void> {
  if (people.length === 0) return
  await within
    .insertInto('directory_group_people')
    .values(people.map((person_id) => ({ group_id: groupId, person_id })))
    .onConflict((conflict) => conflict.columns(['group_id', 'person_id']).doNothing())
    .execute()
  await within
    .updateTable('directory_groups')
    .set({ updated_at: seconds(core.now()) })
    .where('id', '=', groupId)
    .execute()
}

async function removePeople({ within, core }: Directory, groupId: number, people: readonly number[]): Promise<void> {
  if (people.length === 0) return
  await within.deleteFrom('directory_group_people').where('group_id', '=', groupId).where('person_id', 'in', people).execute()
  await within
    .updateTable('directory_groups')
    .set({ updated_at: seconds(core.now()) })
    .where('id', '=', groupId)
    .execute()
}

/** Absent people are all. */
async function apply({ within, report, organisationId }: Directory, people: readonly number[] | undefined): Promise<void> {
  if (people?.length === 0) return
  await applyRules(within, report, { organisationId, ...(people ? { people } : {}) })
}

async function countGroups(within: Queries, organisationId: number): Promise<number> {
  const { count } = await within
    .selectFrom('directory_groups')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organisation_id', '=', organisationId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

function refuseTaken(error: unknown): never {
  if (isUniqueViolation(error)) fail('scim_group_taken', {}, { cause: error })
  throw error
}

async function presentGroup(core: Core, row: GroupRow, withMembers: boolean): Promise<object> {
  return {
    schemas: [urn.group],
    id: String(row.id),
    ...(row.external_id === '' ? {} : { externalId: row.external_id }),
    displayName: row.name,
    ...(withMembers ? { members: await membersOf(core.db, row) } : {}),
    meta: metaOf(core, { type: 'Group', id: row.id, created: row.created_at, changed: row.updated_at }),
  }
}

async function membersOf(db: Queries, { id, organisation_id }: GroupRow): Promise<object[]> {
  const rows = await peopleIn(db, organisation_id)
    .where('directory_people.id', 'in', (row) =>
      row.selectFrom('directory_group_people').select('person_id').where('group_id', '=', id),
    )
    .orderBy('directory_people.id')
    .execute()
  return rows.map((row) => ({ value: String(row.id), display: row.user_name || row.display_name }))
}
