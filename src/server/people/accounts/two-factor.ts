import { randomInt } from 'node:crypto'
import { logType } from '../../../contract/entities/log.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import { findPeriod, newTotpSecret, totpUri } from '../../base/lib/secrets/totp.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { recordLog } from '../../usage/log/log.ts'
import { lockUser } from './lock-user.ts'
import { accountSubject, countAttempt, resetAttempts } from './login-throttle.ts'

/**
 * The second factor: an authenticator app, and backup codes in case the phone is lost. The secret is encrypted, backup codes are
 * stored as MACs. No code is accepted twice.
 */
const backupCodeCount = 10
/** Without letters and digits that look alike. Ten of them are 49 bits. */
const codeLetters = 'abcdefghjkmnpqrstuvwxyz23456789'

export async function hasTwoFactor(db: Queries, userId: number): Promise<boolean> {
  const row = await db.selectFrom('two_factor').select('confirmed_at').where('user_id', '=', userId).executeTakeFirst()
  return row !== undefined && row.confirmed_at > 0
}

export async function countBackupCodes(db: Queries, userId: number): Promise<number> {
  const { count } = await db
    .selectFrom('backup_codes')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Creates a secret for the app. It is not required until a code of it has been entered. Throws `two_factor_on`. */
export async function beginTwoFactor(core: Core, caller: Caller): Promise<{ secret: string; uri: string }> {
  const secret = newTotpSecret()
  const row = { secret_sealed: core.secrets.seal(secret, placeOf(caller.id)), last_step: 0 }
  const begun = await core.db
    .insertInto('two_factor')
    .values({ user_id: caller.id, ...row })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(row).where('two_factor.confirmed_at', '=', 0))
    .returning('user_id')
    .executeTakeFirst()
  if (!begun) fail('two_factor_on')
  return { secret, uri: totpUri({ secret, site: core.options.current.SystemName, account: caller.username }) }
}

/** Enables the second factor with a first code. Returns the backup codes, which cannot be read again. Throws `second_factor_wrong`. */
export async function confirmTwoFactor(core: Core, caller: Caller, code: string): Promise<string[]> {
  const subject = subjectOf(caller)
  await countAttempt(core, subject)
  const codes = await core.db.transaction().execute(async (within) => {
    const row = await within.selectFrom('two_factor').selectAll().where('user_id', '=', caller.id).executeTakeFirst()
    const secret = row && core.secrets.open(row.secret_sealed, placeOf(caller.id))
    const period = secret && findPeriod(secret, tidy(code), seconds(core.now()))
    if (!row || period === undefined || period === '') return fail('second_factor_wrong')

    const { numUpdatedRows } = await within
      .updateTable('two_factor')
      .set({ confirmed_at: seconds(core.now()), last_step: period })
      .where('user_id', '=', caller.id)
      .where('confirmed_at', '=', 0)
      .where('secret_sealed', '=', row.secret_sealed)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) fail('two_factor_on')
    await note(core, within, caller, '开启了两步验证 / Switched two-factor authentication on')
    return newBackupCodes(core, within, caller.id)
  })
  await resetAttempts(core, subject)
  return codes
}

/** Replaces the backup codes by new ones. Throws `two_factor_off`. */
export async function renewBackupCodes(core: Core, caller: Caller): Promise<string[]> {
  return core.db.transaction().execute(async (within) => {
    await lockUser(core, within, caller.id)
    if (!(await hasTwoFactor(within, caller.id))) fail('two_factor_off')
    await note(core, within, caller, '更换了备用验证码 / Made new backup codes')
    return newBackupCodes(core, within, caller.id)
  })
}

/** Switches the second factor off. Throws `two_factor_off`. */
export async function endTwoFactor(core: Core, caller: Caller): Promise<void> {
  await core.db.transaction().execute(async (within) => {
    await lockUser(core, within, caller.id)
    if (!(await hasTwoFactor(within, caller.id))) fail('two_factor_off')
    await dropTwoFactor(within, caller.id)
    await note(core, within, caller, '关闭了两步验证 / Switched two-factor authentication off')
  })
}

async function dropTwoFactor(within: Within, userId: number): Promise<void> {
  await within.deleteFrom('two_factor').where('user_id', '=', userId).execute()
  await within.deleteFrom('backup_codes').where('user_id', '=', userId).execute()
}

/** Deletes the second factor, backup codes and passkeys, so that the password alone logs in again. */
export async function resetFactors(within: Within, userId: number): Promise<void> {
  await dropTwoFactor(within, userId)
  await within.deleteFrom('passkeys').where('user_id', '=', userId).execute()
}

/**
 * Accepts and consumes a code of the app or a backup code. Attempts of all browsers of a user are counted together, before they are
 * verified. Throws `second_factor_wrong`, also for a code that was used before, and `login_throttled`.
 */
export async function requireSecondFactor(core: Core, user: { id: number; username: string }, code: string): Promise<void> {
  const subject = subjectOf(user)
  await countAttempt(core, subject)
  const given = tidy(code)
  const taken = /^\d{6}$/.test(given) ? await takeAppCode(core, user.id, given) : await takeBackupCode(core, user, given)
  if (!taken) fail('second_factor_wrong')
  await resetAttempts(core, subject)
}

async function takeAppCode(core: Core, userId: number, code: string): Promise<boolean> {
  const row = await core.db
    .selectFrom('two_factor')
    .select('secret_sealed')
    .where('user_id', '=', userId)
    .where('confirmed_at', '>', 0)
    .executeTakeFirst()
  const period = row && findPeriod(core.secrets.open(row.secret_sealed, placeOf(userId)), code, seconds(core.now()))
  if (period === undefined) return false

  const { numUpdatedRows } = await core.db
    .updateTable('two_factor')
    .set({ last_step: period })
    .where('user_id', '=', userId)
    .where('last_step', '<', period)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

async function takeBackupCode(core: Core, user: { id: number; username: string }, code: string): Promise<boolean> {
  return core.db.transaction().execute(async (within) => {
    const { numDeletedRows } = await within
      .deleteFrom('backup_codes')
      .where('user_id', '=', user.id)
      .where('code_mac', '=', macOf(core, user.id, code))
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) return false
    await note(core, within, user, '使用了一个备用验证码 / Used a backup code')
    return true
  })
}

async function newBackupCodes(core: Core, within: Within, userId: number): Promise<string[]> {
  const codes = Array.from({ length: backupCodeCount }, newBackupCode)
  await within.deleteFrom('backup_codes').where('user_id', '=', userId).execute()
  const rows = codes.map((code) => ({ user_id: userId, code_mac: macOf(core, userId, tidy(code)) }))
  await within.insertInto('backup_codes').values(rows).execute()
  return codes
}

function newBackupCode(): string {
  const letters = Array.from({ length: 10 }, () => codeLetters[randomInt(codeLetters.length)]).join('')
  return `${letters.slice(0, 5)}-${letters.slice(5)}`
}

/** User names cannot contain `@`, so no name equals this key. */
function subjectOf({ id }: { id: number }) {
  return accountSubject(`@second:${id}`)
}

async function note(core: Core, within: Within, user: { id: number; username: string }, content: string): Promise<void> {
  await recordLog(within, { type: logType.system, at: seconds(core.now()), userId: user.id, username: user.username, content })
}

/** Normalises a typed code: removes spaces and dashes, and lower-cases it. */
function tidy(code: string): string {
  return code.replace(/[\s-]/g, '').toLowerCase()
}

function macOf({ secrets }: Core, userId: number, code: string): string {
  return secrets.mac('backup code', `${userId}:${code}`)
}

function placeOf(userId: number) {
  return { table: 'two_factor', column: 'secret_sealed', row: userId }
}
