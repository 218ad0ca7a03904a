import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Caller } from '../../base/options/core.ts'
import { type Accounts, requirePassword } from './sign-in.ts'
import { hasTwoFactor, requireSecondFactor } from './two-factor.ts'
import { findUser } from './users.ts'

/** The maximum age of an authentication for a change that takes over an account. */
const freshSeconds = 10 * 60

/**
 * Throws `fresh_login_required` unless the session was authenticated within the last ten minutes: an unattended browser or a stolen cookie
 * must not be enough to take an account over. An access token is never enough.
 */
export async function requireRecentLogin({ sessions, now }: Accounts, sessionToken: string | undefined): Promise<void> {
  const session = sessionToken === undefined ? undefined : await sessions.find(sessionToken)
  const age = seconds(now()) - (session?.authenticatedAt ?? 0)
  if (age < 0 || age > freshSeconds) fail('fresh_login_required')
}

/**
 * Authenticates the user of a session again: with the password or, with a second factor, its code, since a password may have been
 * observed. Throws `password_wrong`, `second_factor_required`, `second_factor_wrong`, `login_throttled`, `fresh_login_required`.
 */
export async function reauthenticate(
  accounts: Accounts,
  caller: Caller,
  {
    password,
    code,
    sessionToken,
  }: { password?: string | undefined; code?: string | undefined; sessionToken: string | undefined },
): Promise<void> {
  if (sessionToken === undefined) return fail('fresh_login_required')
  const user = await findUser(accounts.db, caller.id)
  if (await hasTwoFactor(accounts.db, user.id)) {
    await requireSecondFactor(accounts, user, code || fail('second_factor_required'))
  } else {
    await requirePassword(accounts, { user, password: password ?? '', address: caller.address })
  }
  await accounts.sessions.prove(sessionToken)
}
