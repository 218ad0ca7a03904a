import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { resendSeconds } from '../../../contract/entities/user.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import { sameSecret } from '../../base/lib/secrets/secrets.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'

/**
 * Codes and link tokens that prove access to the mailbox of an address. Each is valid once, for a short time, for one purpose, address
 * and user; five wrong guesses end it. The database stores a MAC, so that all nodes can check a code and it cannot be read there.
 */
export interface CodeKey {
  readonly purpose: 'register' | 'bind' | 'notify' | 'reset'
  readonly email: string
  /** The owner of the mailbox; 0 for a registration, and for an address without an account. */
  readonly userId: number
}

export const codeMinutes = 3
export const linkMinutes = 15
/** Greatest number of mails of any purpose to one address within an hour. */
export const sendsPerHour = 10
const guessesMax = 5
const hour = 3600

/**
 * Records that an address is about to be mailed. Throws `code_too_soon` with the seconds to wait, in the same way for known and
 * unknown addresses.
 */
export async function countMail(core: Core, email: string): Promise<void> {
  const now = seconds(core.now())
  const isNewWindow = sql<boolean>`mailed_addresses.window_start <= ${sql.lit(now - hour)} or mailed_addresses.window_start > ${sql.lit(now)}`
  const counted = await core.db
    .insertInto('mailed_addresses')
    .values({ email, sent_at: now, window_start: now, sends: 1 })
    .onConflict((conflict) =>
      conflict
        .column('email')
        .doUpdateSet({
          sent_at: now,
          window_start: sql`case when ${isNewWindow} then ${sql.lit(now)} else mailed_addresses.window_start end`,
          sends: sql`case when ${isNewWindow} then 1 else mailed_addresses.sends + 1 end`,
        })
        // A time in the future was written before the clock was set back.
        .where((row) =>
          row.or([row('mailed_addresses.sent_at', '<=', now - resendSeconds), row('mailed_addresses.sent_at', '>', now)]),
        )
        .where((row) => row.or([row('mailed_addresses.sends', '<', sendsPerHour), isNewWindow])),
    )
    .returning('sends')
    .executeTakeFirst()
  if (counted) return

  const row = await core.db.selectFrom('mailed_addresses').selectAll().where('email', '=', email).executeTakeFirst()
  // Neither is longer than its limit, also when the clock was set back.
  const pause = Math.min(resendSeconds, (row?.sent_at ?? 0) + resendSeconds - now)
  const rest = (row?.sends ?? 0) >= sendsPerHour ? (row?.window_start ?? 0) + hour - now : 0
  fail('code_too_soon', { seconds: Math.max(1, pause, rest) })
}

/** Six digits. */
export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0')
}

/** Replaces an older code by a new one. `undefined` stores a row that no code matches, so that the caller sees no difference. */
export async function storeCode(
  core: Core,
  { key, code, minutes }: { key: CodeKey; code: string | undefined; minutes: number },
): Promise<void> {
  const row = {
    code_hash: code === undefined ? '' : macOf(core, key, code),
    user_id: key.userId,
    expires_at: seconds(core.now()) + minutes * 60,
    guesses: 0,
  }
  await core.db
    .insertInto('mailed_codes')
    .values({ key: nameOf(key), ...row })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
    .execute()
}

/**
 * Throws `code_wrong` unless the code is correct and still valid. The statement that checks a code also counts a wrong guess, so
 * that all parallel guesses are counted; a correct one is not. The code stays valid: `consumeCode` ends it in the transaction of
 * the change that it allows.
 */
export async function requireCode(core: Core, key: CodeKey, code: string): Promise<void> {
  const given = macOf(core, key, code)
  const looked = await core.db
    .updateTable('mailed_codes')
    .set((row) => ({ guesses: sql`${row.ref('guesses')} + case when ${row.ref('code_hash')} = ${given} then 0 else 1 end` }))
    .where('key', '=', nameOf(key))
    .where('expires_at', '>', seconds(core.now()))
    .where('guesses', '<', guessesMax)
    .returning('code_hash')
    .executeTakeFirst()
  if (!looked || !sameSecret(looked.code_hash, given)) fail('code_wrong')
}

/** Consumes the code. Of any number of parallel uses on any number of nodes one succeeds; the others throw `code_wrong`. */
export async function consumeCode(core: Core, within: Within, key: CodeKey, code: string): Promise<void> {
  const { numDeletedRows } = await within
    .deleteFrom('mailed_codes')
    .where('key', '=', nameOf(key))
    .where('code_hash', '=', macOf(core, key, code))
    .where('expires_at', '>', seconds(core.now()))
    .executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) fail('code_wrong')
}

/** Deletes all codes and links of a user after a change of their email or password. */
export async function deleteCodes(within: Queries, userId: number): Promise<void> {
  await within.deleteFrom('mailed_codes').where('user_id', '=', userId).execute()
}

/** Deletes expired rows. */
export async function purgeMailedCodes(core: Core): Promise<void> {
  const now = seconds(core.now())
  await core.db.deleteFrom('mailed_codes').where('expires_at', '<', now).execute()
  await core.db
    .deleteFrom('mailed_addresses')
    .where('sent_at', '<', now - hour)
    .execute()
}

/** Signed-in users request codes for themselves; others for an address. */
function nameOf({ purpose, userId, email }: CodeKey): string {
  const asker = purpose === 'bind' || purpose === 'notify' ? userId : 0
  return `${purpose}:${asker}:${email}`
}

function macOf({ secrets }: Core, key: CodeKey, code: string): string {
  return secrets.mac('mailed code', JSON.stringify([nameOf(key), key.userId, code.trim()]))
}
