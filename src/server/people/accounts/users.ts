import { type User, userStatus } from '../../../contract/entities/user.ts'
import { isUniqueViolation } from '../../base/db/failures.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import type { NewRow, Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { randomText } from '../../base/lib/secrets/ids.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { canonicalEmail } from './email-address.ts'
import { presentSetting } from './setting.ts'
import { readUsername, usernameKey } from './usernames.ts'

/**
 * Accounts: users, their login methods and sessions. This folder owns the tables `users` (except its money columns, which are the
 * ledger's), `sessions`, `login_failures`, `login_steps`, `two_factor`, `backup_codes`, `passkeys`, `mailed_codes`, `mailed_addresses`
 * and `user_notices`. What a user may do is decided by the access of a route and by the rules of each part, not here. Code that
 * changes a user publishes topic `user` after the commit, so that no node keeps using its cache.
 */

/** The signed-in user during a call. */
export type Account = Pick<
  Row<'users'>,
  'id' | 'username' | 'display_name' | 'role' | 'status' | 'group' | 'setting' | 'must_change_password'
>

export const accountColumns = [
  'users.id',
  'username',
  'display_name',
  'role',
  'status',
  'group',
  'setting',
  'must_change_password',
] as const

/** What `users.kind` is: an organisation pays for its members, and is not a user. */
export const accountKind = { person: 'person', organisation: 'organisation' } as const

/** Throws `not_found` for users that do not exist or are deleted, and for organisations. */
export async function findUser(db: Queries, id: number): Promise<Row<'users'>> {
  const found = db.selectFrom('users').selectAll().where('id', '=', id).where('kind', '=', accountKind.person)
  return (await found.where('deleted_at', 'is', null).executeTakeFirst()) ?? fail('not_found')
}

/** The user of a login form: by name, or by email address if it contains an `@`, which no name contains. */
export function findByLogin(db: Queries, login: string): Promise<Row<'users'> | undefined> {
  const users = db.selectFrom('users').selectAll().where('kind', '=', accountKind.person).where('deleted_at', 'is', null)
  if (!login.includes('@')) return users.where('username_key', '=', usernameKey(login)).executeTakeFirst()
  return users.where('email', '=', canonicalEmail(login) ?? login).executeTakeFirst()
}

/** The user of an address, deleted ones included, whose addresses stay taken. */
export function findByEmail(db: Queries, email: string): Promise<Row<'users'> | undefined> {
  return db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()
}

/** The column of the immutable id of an external identity. */
export type IdentityColumn = 'github_id' | 'linux_do_id' | 'wechat_id' | 'telegram_id' | 'oidc_id'

export type NewUser = Pick<NewRow<'users'>, 'password_hash'> & {
  readonly username: string
  readonly displayName: string
  readonly role: number
  readonly at: number
  readonly more?: Partial<
    Pick<NewRow<'users'>, 'email' | 'group' | 'inviter_id' | 'must_change_password' | 'setting' | IdentityColumn>
  >
}

/**
 * Adds a user without quota, which only the ledger grants. `at` is in milliseconds. Returns the id. Throws `username_length`,
 * `username_characters`, `username_taken` or `email_taken`; those of deleted users stay reserved.
 */
export async function createUser(
  within: Within,
  { username, displayName, password_hash, role, at, more }: NewUser,
): Promise<number> {
  const name = readUsername(username)
  const values = {
    username: name,
    username_key: usernameKey(name),
    display_name: displayName === '' ? name : displayName,
    password_hash,
    role,
    created_time: seconds(at),
    ...more,
  }

  for (;;) {
    // An invite code that is already taken is drawn again; a taken name is an error for the caller.
    const made = await within
      .insertInto('users')
      .values({ ...values, aff_code: randomText(6) })
      .onConflict((conflict) => conflict.column('aff_code').doNothing())
      .returning('id')
      .executeTakeFirst()
      .catch(refuseTaken)
    if (made) return made.id
  }
}

/** Turns the unique violation of a name or an address into the caller's error. */
export function refuseTaken(error: unknown): never {
  if (isUniqueViolation(error, 'users.email')) fail('email_taken', {}, { cause: error })
  if (isUniqueViolation(error)) fail('username_taken', {}, { cause: error })
  throw error
}

export function isActive(user: { status: number; deleted_at?: number | null }): boolean {
  return user.status === userStatus.active && (user.deleted_at ?? null) === null
}

/** A user as the console shows it. Secrets of the settings are left out. */
export function presentUser(row: Row<'users'>): User {
  return {
    id: row.id,
    username: row.username,
    display_name: row.display_name,
    password: '',
    role: row.role,
    status: row.status,
    email: row.email,
    github_id: row.github_id,
    wechat_id: row.wechat_id,
    telegram_id: row.telegram_id,
    linux_do_id: row.linux_do_id,
    oidc_id: row.oidc_id,
    group: row.group,
    quota: row.quota,
    used_quota: row.used_quota,
    request_count: row.request_count,
    aff_code: row.aff_code,
    aff_count: row.aff_count,
    aff_quota: row.aff_quota,
    aff_history_quota: row.aff_history_quota,
    inviter_id: row.inviter_id,
    setting: presentSetting(row.setting),
    created_time: row.created_time,
    DeletedAt: row.deleted_at === null ? null : new Date(row.deleted_at * 1000).toISOString(),
    verification_code: '',
    access_token: null,
  }
}
