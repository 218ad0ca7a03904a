import { fail } from '../../base/lib/failure.ts'
import { change } from '../../base/options/change.ts'
import type { Caller } from '../../base/options/core.ts'
import { lockUser } from './lock-user.ts'
import { requireGoodPassword } from './passwords.ts'
import { requireRecentLogin } from './reauthenticate.ts'
import { setPassword } from './set-password.ts'
import { type Accounts, requirePassword } from './sign-in.ts'
import { readUsername, usernameKey } from './usernames.ts'
import { findUser, refuseTaken } from './users.ts'

/** Absent and empty members stay unchanged. */
interface SelfChange {
  readonly username?: string | undefined
  readonly display_name?: string | undefined
  readonly password?: string | undefined
  readonly current_password?: string | undefined
  /** The same value under the name that other consoles of this family use. */
  readonly original_password?: string | undefined
}

/**
 * Changes the caller's own names and password. A new password needs the current one or a fresh login, and ends what the old one has
 * opened (`setPassword`) except for `keepSession`; a first password and a new name need a fresh login. Throws `password_wrong`, `login_throttled`, `password_length`,
 * `password_weak`, `fresh_login_required`, `username_length`, `username_characters`, `username_taken`.
 */
export async function changeSelf(accounts: Accounts, caller: Caller, wanted: SelfChange, keepSession?: string): Promise<void> {
  const user = await findUser(accounts.db, caller.id)
  const username = wanted.username ? readUsername(wanted.username) : user.username
  if (username !== user.username) await requireRecentLogin(accounts, keepSession)
  const names = {
    ...(username === user.username ? {} : { username, username_key: usernameKey(username) }),
    ...(wanted.display_name ? { display_name: wanted.display_name } : {}),
  }
  const renames = Object.keys(names).length > 0
  const password_hash = wanted.password ? await hashOfNewPassword(wanted.password) : undefined
  if (!renames && !password_hash) return
  await change(accounts, caller, async (within, report) => {
    const current = await lockUser(accounts, within, user.id)
    // Of two concurrent changes with the same current password only one succeeds.
    if (current.password_hash !== user.password_hash) fail('password_wrong')
    if (renames) await within.updateTable('users').set(names).where('id', '=', user.id).execute().catch(refuseTaken)
    if (password_hash) await setPassword(within, user.id, { password_hash, mustChange: false, keepSession })
    report({ topic: 'user', id: user.id })
  })

  async function hashOfNewPassword(given: string) {
    const password = wanted.current_password || wanted.original_password
    // An account that signed up through a provider has no password yet; the login itself is the proof.
    if (user.password_hash === '' || !password) await requireRecentLogin(accounts, keepSession)
    else await requirePassword(accounts, { user, password, address: caller.address })
    requireGoodPassword(given, username)
    return accounts.passwords.hash(given)
  }
}
