import { displayNameLengthMax, type User, type UserEdit } from '../../../contract/entities/user.ts'
import { role } from '../../../contract/roles.ts'
import type { Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Report } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { commitCredit, unsafeToRepeat } from '../../money/ledger/commit-credit.ts'
import { writeAdjustment } from './adjust-quota.ts'
import { lockManaged } from './lock-user.ts'
import { requireGoodPassword } from './passwords.ts'
import { setPassword } from './set-password.ts'
import type { Accounts } from './sign-in.ts'
import { grantSignUpBonus } from './sign-up-bonus.ts'
import { readUsername, usernameKey } from './usernames.ts'
import { createUser, findUser, presentUser, refuseTaken } from './users.ts'

interface NewAccount {
  readonly username: string
  readonly display_name: string
  readonly password: string
  /** '' for the default group. */
  readonly group?: string
  /** Units beyond the sign-up bonus. */
  readonly quota?: number
}

/** Adds what else a new user gets, such as a token, in the transaction that creates the user. */
type Provision<Provided> = (within: Within, audit: Report, userId: number) => Promise<Provided>

/**
 * Creates an ordinary user, with the sign-up bonus and the given quota. `provision` runs in the same transaction: all of it is created,
 * or nothing. Throws `user_fields_required`, `group_unknown`, the failures of names and passwords, and `quota_unchanged` or
 * `quota_change_unclear` when the connection is lost during the commit of a user with quota.
 */
export async function createByAdmin<Provided>(
  accounts: Accounts,
  caller: Caller,
  { group = '', quota = 0, ...given }: NewAccount,
  provision: Provision<Provided>,
): Promise<{ user: User; provided: Provided }> {
  if (given.username.trim() === '' || given.password === '') fail('user_fields_required')
  if (group !== '') requireGroup(accounts, group)
  const username = readUsername(given.username)
  requireGoodPassword(given.password, username)
  const password_hash = await accounts.passwords.hash(given.password)
  const chosen = group === '' ? {} : { group }

  const { user, provided } = await commitCredit(accounts, caller, unsafeToRepeat, async (within, audit) => {
    const account = { username, displayName: given.display_name, password_hash, role: role.ordinary, at: accounts.now() }
    const userId = await createUser(within, { ...account, more: chosen })
    await grantSignUpBonus(accounts, within, { userId, username, inviterId: 0 })
    audit({ action: 'user.create', target: `user:${userId}`, after: { username, ...chosen }, topic: 'user', id: userId })
    const adjustment = { user: await findUser(within, userId), change: quota, reason: '', audit }
    const reference = quota === 0 ? '' : await writeAdjustment(accounts, within, adjustment)
    const provided = await provision(within, audit, userId)
    return { userId, reference, user: await findUser(within, userId), provided }
  })
  return { user: presentUser(user), provided }
}

/**
 * Changes names, group, quota or password of a user; absent and equal members stay unchanged. A new password ends what the old one has
 * opened (`setPassword`) and has to be changed. Throws `not_found`, `user_protected`, `own_password`, `group_unknown`, `quota_below_zero`, the
 * failures of names and passwords, and `quota_unchanged` or `quota_change_unclear` when the connection is lost during the commit of
 * a changed quota.
 */
export async function editByAdmin(accounts: Accounts, caller: Caller, edit: UserEdit): Promise<User> {
  const { id, password = '' } = edit
  // To change one's own password, the current one is required.
  if (password !== '' && id === caller.id) fail('own_password')
  const password_hash = password === '' ? undefined : await hashFor(accounts, edit, password)

  const { user: edited } = await commitCredit(accounts, caller, unsafeToRepeat, async (within, audit) => {
    const user = await lockManaged(accounts, within, caller, id)
    const changed = changesOf(accounts, user, edit)
    const renames = Object.keys(changed).length > 0
    if (renames) await within.updateTable('users').set(changed).where('id', '=', id).execute().catch(refuseTaken)
    if (password_hash) await setPassword(within, id, { password_hash, mustChange: true })
    if (renames || password_hash) {
      const difference = told(user, changed, password_hash !== undefined)
      audit({ action: 'user.edit', target: `user:${id}`, ...difference, topic: 'user', id })
    }
    const adjustment = { user, change: quotaChange(user, edit), reason: edit.reason ?? '', audit }
    const reference = adjustment.change === 0 ? '' : await writeAdjustment(accounts, within, adjustment)
    return { userId: id, reference, user: await findUser(within, id) }
  })
  return presentUser(edited)
}

type Changes = Partial<Pick<Row<'users'>, 'username' | 'username_key' | 'display_name' | 'group'>>

/** Only members that differ: unchanged ones need not obey rules that were added later. */
function changesOf(core: Core, user: Row<'users'>, { username = '', display_name = '', group = '' }: UserEdit): Changes {
  const changes: Changes = {}
  if (username !== '' && username !== user.username) {
    changes.username = readUsername(username)
    changes.username_key = usernameKey(changes.username)
  }
  if (display_name !== '' && display_name !== user.display_name) changes.display_name = readDisplayName(display_name)
  if (group !== '' && group !== user.group) {
    requireGroup(core, group)
    changes.group = group
  }
  return changes
}

function requireGroup({ options }: Core, group: string): void {
  if (!Object.hasOwn(options.current.GroupRatio, group)) fail('group_unknown', { group })
}

function readDisplayName(given: string): string {
  return [...given].length <= displayNameLengthMax ? given : fail('display_name_length')
}

/**
 * Consoles send back the whole user as loaded minutes ago, with the balance as a number. Usage moves units from `quota` to
 * `used_quota`, so the change of their sum is the admin's change, without the quota spent since. Without `used_quota` the balance is
 * set to the value sent.
 */
function quotaChange(user: Row<'users'>, { quota, used_quota }: UserEdit): number {
  if (quota === undefined) return 0
  return used_quota === undefined ? quota - user.quota : quota + used_quota - (user.quota + user.used_quota)
}

async function hashFor(accounts: Accounts, { id, username }: UserEdit, password: string): Promise<string> {
  const user = await findUser(accounts.db, id)
  requireGoodPassword(password, username || user.username)
  return accounts.passwords.hash(password)
}

/** The values before and after for the audit log, without the password. */
function told(
  user: Row<'users'>,
  { username_key: _key, ...changed }: Changes,
  hasNewPassword: boolean,
): { before: object; after: object } {
  const { username, display_name, group } = user
  const before = Object.fromEntries(Object.entries({ username, display_name, group }).filter(([name]) => name in changed))
  return { before, after: { ...changed, ...(hasNewPassword ? { password: 'changed' } : {}) } }
}
