import { type RawBuilder, sql } from 'kysely'
import { fail } from '../../base/lib/failure.ts'
import { addressBlock } from '../../base/lib/net/addresses.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'

/**
 * Throttles password guessing, per account and per address block, on all nodes together. After a number of failures each further
 * attempt has to wait, 1 s doubling to 15 min; no account is ever locked out for good.
 */
const waitMaxSeconds = 15 * 60
/** Failures expire this long after the last one. Longer than the longest wait. */
const memorySeconds = 60 * 60
const freeFailures = { account: 5, address: 20 }

export type Subject = { readonly kind: keyof typeof freeFailures; readonly key: string }

/** `name` is the folded user name, of an existing user or not, so that both behave alike. */
export function accountSubject(name: string): Subject {
  return { kind: 'account', key: `user:${name}` }
}

export function addressSubject(address: string): Subject {
  return { kind: 'address', key: `address:${addressBlock(address)}` }
}

/**
 * Counts an attempt as failed before it is made: parallel attempts cannot slip through between a check and a count. `resetAttempts`
 * reverts the count after a success. Throws `login_throttled` with the seconds to wait.
 */
export async function countAttempt(core: Core, { kind, key }: Subject): Promise<void> {
  const now = seconds(core.now())
  const free = freeFailures[kind]
  const failures = sql<number>`case when login_failures.updated_at < ${sql.lit(now - memorySeconds)} then 1 else login_failures.failures + 1 end`

  const counted = await core.db
    .insertInto('login_failures')
    .values({ key, failures: 1, blocked_until: 0, updated_at: now })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({ failures, blocked_until: sql`${sql.lit(now)} + ${waitAfter(failures, free)}`, updated_at: now })
        // A wait longer than the maximum was written before the clock was set back.
        .where((row) =>
          row.or([
            row('login_failures.blocked_until', '<=', now),
            row('login_failures.blocked_until', '>', now + waitMaxSeconds),
          ]),
        ),
    )
    .returning('failures')
    .executeTakeFirst()
  if (counted) return

  const row = await core.db.selectFrom('login_failures').select('blocked_until').where('key', '=', key).executeTakeFirst()
  fail('login_throttled', { seconds: Math.max(1, (row?.blocked_until ?? 0) - now) })
}

/**
 * After a success: the failures of the account are deleted; of the address only this attempt is reverted, or an attacker could
 * reset it by logging in to an own account.
 */
export async function resetAttempts(core: Core, { kind, key }: Subject): Promise<void> {
  if (kind === 'account') {
    await core.db.deleteFrom('login_failures').where('key', '=', key).execute()
    return
  }
  await core.db
    .updateTable('login_failures')
    .set({ failures: sql`failures - 1`, blocked_until: 0 })
    .where('key', '=', key)
    .where('failures', '>', 0)
    .execute()
}

/** Deletes expired rows. */
export async function purgeLoginFailures(core: Core): Promise<void> {
  const now = seconds(core.now())
  await core.db
    .deleteFrom('login_failures')
    .where('updated_at', '<', now - memorySeconds)
    .execute()
}

/** Seconds to wait after that many failures: none below `free`, then 1, 2, 4 … */
function waitAfter(failures: RawBuilder<number>, free: number): RawBuilder<number> {
  const doublings = Math.ceil(Math.log2(waitMaxSeconds))
  return sql<number>`case
    when ${failures} < ${sql.lit(free)} then 0
    when ${failures} >= ${sql.lit(free + doublings)} then ${sql.lit(waitMaxSeconds)}
    else 1 << cast(${failures} - ${sql.lit(free)} as integer) end`
}
