import type { Organisation, OrganisationEdit } from '../../../contract/entities/organisation.ts'
import { userStatus } from '../../../contract/entities/user.ts'
import { isAdmin, isRoot } from '../../../contract/roles.ts'
import { isUniqueViolation } from '../../base/db/failures.ts'
import { locked } from '../../base/db/locked.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { containsText, type PageOf, readPage } from '../../base/db/page.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { randomText } from '../../base/lib/secrets/ids.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { commitCredit, unsafeToRepeat } from '../../money/ledger/commit-credit.ts'
import { writeAdjustment } from '../accounts/adjust-quota.ts'
import { isPlainName, usernameKey } from '../accounts/usernames.ts'
import { accountKind } from '../accounts/users.ts'
import { findMembership, type Membership } from './membership.ts'

/** Accounts of organisations: founding, listing, changing, funding and closing them. */

/** Before the name, in the username of an organisation: no name of a user contains it, so that nobody can be confused with one. */
const sign = '@'

/**
 * Creates an organisation whose owner is the caller. Units to begin with are a super admin's to give. Throws `permission_denied`,
 * `group_unknown`, `organisation_name_characters`, `organisation_name_taken`.
 */
export async function foundOrganisation(
  core: Core,
  caller: Caller,
  { name, group, quota }: { name: string; group: string; quota: number },
): Promise<Organisation> {
  if (quota > 0 && !isRoot(caller.role)) fail('permission_denied')
  if (group !== '') requireGroup(core, group)
  const { userId: id } = await commitCredit(core, caller, unsafeToRepeat, async (within, audit) => {
    const at = seconds(core.now())
    const names = namesOf(name)
    const account = {
      ...names,
      kind: accountKind.organisation,
      password_hash: '',
      created_time: at,
      ...(group === '' ? {} : { group }),
    }
    const { id: userId } = await within
      .insertInto('users')
      .values({ ...account, aff_code: `${sign}${randomText(16)}` })
      .returning('id')
      .executeTakeFirstOrThrow()
      .catch(refuseTaken)
    await within.insertInto('organisations').values({ id: userId, founded_by: caller.id }).execute()
    const owner = { organisation_id: userId, user_id: caller.id, role: 'owner', created_at: at }
    await within.insertInto('organisation_members').values(owner).execute()
    audit({ action: 'organisation.found', target: `organisation:${userId}`, after: { name, group }, topic: 'user', id: userId })
    const user = await lockAccount(core, within, userId)
    const given = { user, change: quota, reason: '', audit, target: 'organisation' as const }
    return { userId, reference: quota === 0 ? '' : await writeAdjustment(core, within, given) }
  })
  return findOrganisation(core.db, (await findMembership(core.db, caller, id)) ?? fail('not_found'))
}

/** The organisations of the caller; with `all`, for admins of the site, every one. Newest first. */
export async function listOrganisations(
  core: Core,
  caller: Caller,
  { all, keyword, page }: { all: boolean; keyword: string; page: PageOf },
): Promise<{ items: Organisation[]; total: number }> {
  const found = organisationsIn(core.db)
    .leftJoin('organisation_members', (join) =>
      join
        .onRef('organisation_members.organisation_id', '=', 'users.id')
        .on('organisation_members.user_id', '=', caller.id)
        .on('organisation_members.left_at', 'is', null),
    )
    .select(['organisation_members.role as member_role', 'organisation_members.id as member_id'])
    .$if(!all, (query) => query.where('organisation_members.id', 'is not', null))
    .$if(keyword !== '', (query) => query.where(containsText('users.display_name', keyword)))
  const { rows, total } = await readPage(found.orderBy('users.id', 'desc'), page)
  const items = rows.map(({ member_role, member_id, ...row }) => {
    // Only `members.ts` writes roles.
    return presented(row, { role: (member_role as Organisation['role'] | null) ?? 'operator', memberId: member_id ?? 0 })
  })
  return { items, total }
}

/** Throws `not_found`. */
export async function findOrganisation(db: Queries, membership: Membership): Promise<Organisation> {
  const row = await organisationsIn(db).where('users.id', '=', membership.payer.id).executeTakeFirst()
  return presented(row ?? fail('not_found'), membership)
}

/**
 * Changes the name, and as an operator the group, or whether it is suspended: then its tokens are refused. Throws `not_found`,
 * `permission_denied`, `group_unknown`, `organisation_name_taken`.
 */
export async function editOrganisation(
  core: Core,
  caller: Caller,
  membership: Membership,
  edit: OrganisationEdit,
): Promise<void> {
  const { name, group, status } = edit
  const { id } = membership.payer
  const isOperators = group !== undefined || status !== undefined
  if (isOperators && !isAdmin(caller.role)) fail('permission_denied')
  if (group !== undefined) requireGroup(core, group)
  await change(core, caller, async (within, audit) => {
    const before = await lockAccount(core, within, id)
    const values = {
      ...(name === undefined || name === before.display_name ? {} : namesOf(name)),
      ...(group === undefined ? {} : { group }),
      ...(status === undefined ? {} : { status }),
    }
    if (Object.keys(values).length === 0) return
    await within.updateTable('users').set(values).where('id', '=', id).execute().catch(refuseTaken)
    const told = (row: Row<'users'>) => ({ name: row.display_name, group: row.group, status: row.status })
    const after = told(await lockAccount(core, within, id))
    audit({ action: 'organisation.edit', target: `organisation:${id}`, before: told(before), after, topic: 'user', id })
  })
}

/**
 * Changes the balance of an organisation by a signed amount of units. Throws `not_found`, `nothing_changed`, `quota_below_zero`, and
 * `quota_unchanged` or `quota_change_unclear` when the connection is lost during the commit.
 */
export async function fundOrganisation(
  core: Core,
  caller: Caller,
  { id, change: units, reason }: { id: number; change: number; reason: string },
): Promise<void> {
  if (units === 0) fail('nothing_changed')
  await commitCredit(core, caller, unsafeToRepeat, async (within, audit) => {
    const user = await lockAccount(core, within, id)
    const reference = await writeAdjustment(core, within, { user, change: units, reason, audit, target: 'organisation' })
    return { userId: id, reference }
  })
}

/** Closes an organisation for good: its tokens stop, its name stays taken, its books stay. Throws `not_found`. */
export async function closeOrganisation(core: Core, caller: Caller, id: number): Promise<void> {
  await change(core, caller, async (within, audit) => {
    const { display_name: name } = await lockAccount(core, within, id)
    const at = seconds(core.now())
    await within.updateTable('users').set({ deleted_at: at }).where('id', '=', id).execute()
    await within
      .updateTable('organisation_members')
      .set({ left_at: at })
      .where('organisation_id', '=', id)
      .where('left_at', 'is', null)
      .execute()
    audit({ action: 'organisation.close', target: `organisation:${id}`, before: { name }, topic: 'user', id })
  })
}

function requireGroup({ options }: Core, group: string): void {
  if (!Object.hasOwn(options.current.GroupRatio, group)) fail('group_unknown', { group })
}

function namesOf(name: string) {
  if (!isPlainName(name)) fail('organisation_name_characters')
  return { username: `${sign}${name}`, username_key: `${sign}${usernameKey(name)}`, display_name: name }
}

function refuseTaken(error: unknown): never {
  if (isUniqueViolation(error)) fail('organisation_name_taken', {}, { cause: error })
  throw error
}

async function lockAccount(core: Core, within: Within, id: number): Promise<Row<'users'>> {
  const found = within.selectFrom('users').selectAll().where('id', '=', id).where('kind', '=', accountKind.organisation)
  return (await locked(core, found.where('deleted_at', 'is', null)).executeTakeFirst()) ?? fail('not_found')
}

function organisationsIn(db: Queries) {
  return db
    .selectFrom('organisations')
    .innerJoin('users', 'users.id', 'organisations.id')
    .select([
      'users.id',
      'users.display_name',
      'users.username',
      'users.group',
      'users.status',
      'users.quota',
      'users.used_quota',
    ])
    .select(['users.request_count', 'users.created_time', 'organisations.transfer_to'])
    .select((row) =>
      row
        .selectFrom('organisation_members as m')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('m.organisation_id', '=', 'users.id')
        .where('m.left_at', 'is', null)
        .as('members'),
    )
    .where('users.deleted_at', 'is', null)
}

type Found = Awaited<ReturnType<ReturnType<typeof organisationsIn>['executeTakeFirstOrThrow']>>

function presented(
  { display_name: name, members, ...row }: Found,
  { role, memberId }: Pick<Membership, 'role' | 'memberId'>,
): Organisation {
  return { ...row, name, members: Number(members ?? 0), role, member_id: memberId }
}

export function isSuspended({ status }: { readonly status: number }): boolean {
  return status !== userStatus.active
}
