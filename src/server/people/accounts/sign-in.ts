import { type SqlBool, sql } from 'kysely'
import { isRoot } from '../../../contract/roles.ts'
import type { Queries } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { withDatabaseTimeout } from '../../base/db/with-timeout.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'
import type { Mailer } from '../notify/mailer.ts'
import { completeLogin, type LoginClient, type SignedIn } from './complete-login.ts'
import type { HumanCheck } from './human-check.ts'
import { accountSubject, addressSubject, countAttempt, resetAttempts, type Subject } from './login-throttle.ts'
import type { Hashing, Passwords } from './passwords.ts'
import type { Sessions } from './sessions.ts'
import { usernameKey } from './usernames.ts'
import { findByLogin, isActive } from './users.ts'

export interface Accounts extends Core {
  readonly passwords: Passwords
  readonly sessions: Sessions
  readonly mailer: Mailer
  readonly human: HumanCheck
}

interface SignIn extends LoginClient {
  readonly username: string
  readonly password: string
  /** The token of the human check. */
  readonly turnstile?: string | undefined
}

/**
 * Signs in with a password. Unknown name, wrong password and banned user give the same `credentials_wrong` after the same work. The
 * super admin can sign in while password login is disabled, or the human check is broken, so that no setting locks everybody out. Also
 * throws `second_factor_required`, `login_step_lost`, `credentials_required`, `login_throttled`, `human_check_failed`,
 * `password_login_disabled`, and `too_many_requests`, which does not count as a failed login.
 */
export async function signIn(accounts: Accounts, given: SignIn): Promise<SignedIn> {
  if (given.username.trim() === '' || given.password === '') fail('credentials_required')
  const isHuman = await accounts.human.passes({ token: given.turnstile, address: given.address, action: 'login' })
  const user = await accounts.passwords.withPermit((hashing) => requireUser(accounts, hashing, { ...given, isHuman }))
  return completeLogin(accounts, user, given)
}

/**
 * The active user of this password. The hashing permit is freed soon, even if the database does not answer: every wait inside has a
 * timeout.
 */
async function requireUser(
  accounts: Accounts,
  hashing: Hashing,
  given: SignIn & { readonly isHuman: boolean },
): Promise<Row<'users'>> {
  const user = await withDatabaseTimeout(findByLogin(accounts.db, given.username))
  const subjects = await subjectsOf(accounts, given, user)
  for (const subject of subjects) await withDatabaseTimeout(countAttempt(accounts, subject))
  const right = await isPassword(accounts, hashing, { password: given.password, stored: user?.password_hash })
  const admitted = right && user && isActive(user) ? user : undefined

  if (!isRoot(admitted?.role ?? 0)) {
    if (!given.isHuman) fail('human_check_failed')
    if (!accounts.options.current.PasswordLoginEnabled) fail('password_login_disabled')
  }
  if (!admitted) fail('credentials_wrong')

  for (const subject of subjects) await withDatabaseTimeout(resetAttempts(accounts, subject))
  if (!accounts.passwords.isOutdated(admitted.password_hash)) return admitted
  await renewHash(accounts, hashing, { user: admitted, password: given.password })
  // Verifies again with the current hash: the one written here, or by another login or a password change.
  return requireUser(accounts, hashing, given)
}

/** Throws `password_wrong` unless it is the user's password. Wrong guesses count like failed logins. */
export async function requirePassword(
  accounts: Accounts,
  { user, password, address }: { user: Row<'users'>; password: string; address: string },
): Promise<void> {
  await accounts.passwords.withPermit(async (hashing) => {
    const subjects = await subjectsOf(accounts, { username: user.username, address }, user)
    for (const subject of subjects) await withDatabaseTimeout(countAttempt(accounts, subject))
    if (!(await isPassword(accounts, hashing, { password, stored: user.password_hash }))) fail('password_wrong')
    for (const subject of subjects) await withDatabaseTimeout(resetAttempts(accounts, subject))
  })
}

/** Takes as long for a recently imported account as for any other: the cost of imported hashes is known before any user is verified. */
async function isPassword(
  { passwords, db }: Accounts,
  hashing: Hashing,
  { password, stored }: { password: string; stored: string | undefined },
): Promise<boolean> {
  passwords.expectImported(await withDatabaseTimeout(findImportedCost(db)))
  return hashing.verify(password, stored)
}

/**
 * Guesses from an address where the user is already signed in are counted separately, so that strangers cannot lock the user out.
 */
async function subjectsOf(
  accounts: Accounts,
  { username, address }: { username: string; address: string },
  user: Row<'users'> | undefined,
): Promise<Subject[]> {
  const name = user?.username_key ?? usernameKey(username)
  const block = addressSubject(address)
  const known = await withDatabaseTimeout(accounts.sessions.isKnownPlace({ userId: user?.id ?? 0, address }))
  return [block, accountSubject(known ? `${name} at ${block.key}` : name)]
}

async function renewHash(
  accounts: Accounts,
  hashing: Hashing,
  { user, password }: { user: Row<'users'>; password: string },
): Promise<void> {
  const password_hash = await hashing.hash(password)
  const renewed = accounts.db
    .updateTable('users')
    .set({ password_hash })
    .where('id', '=', user.id)
    .where('password_hash', '=', user.password_hash)
  await withDatabaseTimeout(renewed.execute())
}

/**
 * The highest cost among imported bcrypt hashes of users who have not logged in since; 0 without any. Written like the condition of
 * its partial index, which is nearly empty: every login runs this query.
 */
export async function findImportedCost(db: Queries): Promise<number> {
  const found = await db
    .selectFrom('users')
    .select(sql<string | null>`max(substr(password_hash, 5, 2))`.as('cost'))
    .where(sql<SqlBool>`substr(password_hash, 1, 2) = '$2'`)
    .executeTakeFirst()
  const cost = Number(found?.cost ?? 0)
  return Number.isInteger(cost) ? cost : 0
}
