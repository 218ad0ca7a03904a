import { seconds } from '../lib/clock.ts'
import { fail } from '../lib/failure.ts'
import type { Caller } from '../options/core.ts'
import { type Accounts, requirePassword } from './sign-in.ts'
import { findUser } from './users.ts'

/** How long after a proof of who they are somebody may do what cannot be taken back. */
const freshSeconds = 10 * 60

/**
 * Throws `fresh_login_required` unless the caller proved who they are a moment ago: what is found in a browser that was left open, or
 * stolen as a cookie, must not be enough to take an account over. Access tokens are never enough.
 */
export async function requireFresh({ sessions, now }: Accounts, sessionToken: string | undefined): Promise<void> {
  const session = sessionToken === undefined ? undefined : await sessions.find(sessionToken)
  const age = seconds(now()) - (session?.authenticatedAt ?? 0)
  if (age < 0 || age > freshSeconds) fail('fresh_login_required')
}

/** Proves again, with the password, who is behind the session. Throws `password_wrong`, `login_throttled`, `fresh_login_required`. */
export async function proveAgain(
  accounts: Accounts,
  caller: Caller,
  { password, sessionToken }: { password: string; sessionToken: string | undefined },
): Promise<void> {
  if (sessionToken === undefined) return fail('fresh_login_required')
  const user = await findUser(accounts.db, caller.id)
  await requirePassword(accounts, { user, password, address: caller.address })
  await accounts.sessions.prove(sessionToken)
}
