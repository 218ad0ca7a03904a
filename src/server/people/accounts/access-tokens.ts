import { newSecret } from '../../base/lib/secrets/ids.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { change } from '../../base/options/change.ts'
import type { Core } from '../../base/options/core.ts'
import { type Account, accountColumns, accountKind, isActive } from './users.ts'

/**
 * System access tokens: one per user, for scripts that call the console. Only the hash is stored, so a token is shown once, when it
 * is created.
 */

/** Creates a new token; the old one stops working at once. */
export async function makeAccessToken(core: Core, { userId }: { userId: number }): Promise<string> {
  const token = newSecret()
  await writeHash(core, userId, sha256(token))
  return token
}

/** The active user behind an `Authorization` header, with or without `Bearer `. Read from the database for each call. */
export async function findByAccessToken(core: Core, authorization: string): Promise<Account | undefined> {
  const token = authorization.replace(/^Bearer\s+/i, '').trim()
  if (token === '') return undefined
  const user = await core.db
    .selectFrom('users')
    .select(accountColumns)
    .where('access_token_hash', '=', sha256(token))
    .where('kind', '=', accountKind.person)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return user && isActive(user) ? user : undefined
}

/** Revokes the token. Idempotent. */
export function dropAccessToken(core: Core, userId: number): Promise<void> {
  return writeHash(core, userId, null)
}

function writeHash(core: Core, userId: number, access_token_hash: string | null): Promise<void> {
  return change(core, undefined, async (within, report) => {
    await within.updateTable('users').set({ access_token_hash }).where('id', '=', userId).execute()
    report({ topic: 'user', id: userId })
  })
}
