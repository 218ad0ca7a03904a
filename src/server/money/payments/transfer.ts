import { logType } from '../../../contract/entities/log.ts'
import { fail } from '../../base/lib/failure.ts'
import { newRequestId } from '../../base/lib/secrets/ids.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { recordLog } from '../../usage/log/log.ts'
import { commitCredit, unsafeToRepeat } from '../ledger/commit-credit.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { quotaText } from '../ledger/quota-text.ts'

/**
 * Moves units that a user earned by invitations to their balance, with the log row, in one transaction. Throws
 * `transfer_below_minimum` below the quota of one US dollar, `transfer_exceeds_earned` when there is less, and `quota_unchanged` or
 * `quota_change_unclear` when the connection is lost during the commit.
 */
export async function transferEarned(
  core: Core & { readonly ledger: Ledger },
  { amount, caller }: { amount: number; caller: Caller },
): Promise<void> {
  const least = Math.ceil(core.options.current.QuotaPerUnit)
  if (amount < least) fail('transfer_below_minimum', { least: quotaText(core, least, 'up') })
  const nowMs = core.now()
  const at = seconds(nowMs)
  const { id: userId, username } = caller

  await commitCredit(core, caller, unsafeToRepeat, async (within) => {
    const { numUpdatedRows } = await within
      .updateTable('users')
      .set((eb) => ({ aff_quota: eb('aff_quota', '-', amount) }))
      .where('id', '=', userId)
      .where('aff_quota', '>=', amount)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) fail('transfer_exceeds_earned')

    const reference = `transfer:${userId}:${newRequestId(nowMs)}`
    await core.ledger.credit(within, { userId, kind: 'transfer', amount, reference, at })
    const content = `邀请额度划转 ${quotaText(core, amount)} / Moved ${quotaText(core, amount)} earned by invitations`
    await recordLog(within, { type: logType.system, at, userId, username, content, quota: amount })
    return { userId, reference }
  })
  core.ledger.refresh({ userId })
}
