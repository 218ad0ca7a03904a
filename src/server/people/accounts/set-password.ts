import type { Within } from '../../base/db/open.ts'
import { deleteCodes } from './mailed-codes.ts'
import { deleteSessions } from './sessions.ts'

interface NewPassword {
  readonly password_hash: string
  /** Whether it has to be changed at the next login: true unless its owner has chosen it. */
  readonly mustChange: boolean
  /** The token of the session that stays: the one in which its owner changes the password. */
  readonly keepSession?: string | undefined
}

/**
 * Gives a user another password, and ends what the old one has opened: the sessions, the system access token, logins that have begun,
 * and mailed codes and links. Every change of a password goes through here. Call it in the change of an account, and report topic
 * `user` there.
 */
export async function setPassword(
  within: Within,
  userId: number,
  { password_hash, mustChange, keepSession }: NewPassword,
): Promise<void> {
  const values = { password_hash, must_change_password: mustChange ? 1 : 0, access_token_hash: null }
  await within.updateTable('users').set(values).where('id', '=', userId).execute()
  await deleteSessions(within, userId, keepSession)
  await deleteCodes(within, userId)
}
