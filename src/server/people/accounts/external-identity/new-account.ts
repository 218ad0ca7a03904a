import { randomInt } from 'node:crypto'
import { displayNameLengthMax, usernameLengthMax } from '../../../../contract/entities/user.ts'
import { role } from '../../../../contract/roles.ts'
import type { Within } from '../../../base/db/open.ts'
import { AppError } from '../../../base/lib/failure.ts'
import type { Core } from '../../../base/options/core.ts'
import { readUsername } from '../usernames.ts'
import { createUser, type NewUser } from '../users.ts'
import type { Profile } from './oauth-provider.ts'

/** The account of a person whom another site or a directory knows: without a password, under a name that is free. */

const triesMax = 5

/** Runs a transaction that creates an account, again with another name while the name is taken. */
export async function withFreeName<Result>(run: (tries: number) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await run(tries)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'username_taken' || tries === triesMax) throw error
    }
  }
}

interface NewAccount {
  readonly profile: Pick<Profile, 'name' | 'username'>
  /** Before the digits of a name that is drawn, where the profile has none. */
  readonly prefix: string
  readonly tries: number
  readonly more: NewUser['more']
}

/** Adds the account, in a transaction of `withFreeName`. Throws `username_taken`, `email_taken`. */
export async function createFromProfile(
  { now }: Pick<Core, 'now'>,
  within: Within,
  { profile, prefix, tries, more = {} }: NewAccount,
): Promise<{ readonly id: number; readonly username: string }> {
  const username = (tries < triesMax ? preferredName(profile, tries) : undefined) ?? drawName(prefix)
  // No password matches an empty hash.
  const user = { username, displayName: displayName(profile.name), password_hash: '', role: role.ordinary, at: now(), more }
  return { id: await createUser(within, user), username }
}

/**
 * The preferred name of the provider's directory, without the domain of a mail address; from the second try on with digits, because
 * another account has it. Undefined when no account may have such a name.
 */
function preferredName({ username = '' }: Pick<Profile, 'username'>, tries: number): string | undefined {
  const digits = tries === 1 ? '' : `_${randomInt(1000)}`
  const [local = ''] = username.split('@', 1)
  const shortened = [...local.trim()].slice(0, usernameLengthMax - digits.length).join('')
  try {
    return shortened === '' ? undefined : readUsername(shortened + digits)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** A name such as `github_48213`, within the length limit of names. */
function drawName(prefix: string): string {
  const start = `${prefix}_`
  const digits = Math.min(8, usernameLengthMax - start.length)
  return `${start}${String(randomInt(10 ** digits)).padStart(digits, '0')}`
}

/** Invisible characters are removed, and a name that is too long is truncated. '' means the user name. */
export function displayName(name: string): string {
  const visible = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu, '').trim()
  return [...visible].slice(0, displayNameLengthMax).join('').trim()
}
