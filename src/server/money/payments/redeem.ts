import { logType } from '../../../contract/entities/log.ts'
import { redemptionStatus } from '../../../contract/entities/redemption.ts'
import type { Queries } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { recordLog } from '../../usage/log/log.ts'
import { commitCredit } from '../ledger/commit-credit.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { quotaText } from '../ledger/quota-text.ts'
import { unexpired } from './list-redemptions.ts'

/**
 * Redeems a code: the code is used, the balance credited and the log row written in one transaction, so that any number of attempts
 * on any number of nodes credit once. Returns the units. Throws `redemption_invalid` for a code that is unknown, disabled or
 * deleted (indistinguishable), `redemption_used` and `redemption_expired`. When the connection is lost during the commit, the
 * ledger decides: `redeem` returns the units, or throws `redemption_undone` or, while the ledger cannot be read,
 * `redemption_unclear`.
 */
export async function redeem(
  core: Core & { readonly ledger: Ledger },
  { key, caller }: { key: string; caller: Caller },
): Promise<number> {
  const keyHash = sha256(key)
  const at = seconds(core.now())
  // Attempts with a wrong code end here, without a transaction.
  await requireRedeemable(core.db, keyHash, at)

  const messages = { undone: 'redemption_undone', unclear: 'redemption_unclear' } as const
  const { quota } = await commitCredit(core, caller, messages, async (within) => {
    const code = await within
      .updateTable('redemptions')
      .set({ status: redemptionStatus.used, redeemed_time: at, used_user_id: caller.id })
      .where('key_hash', '=', keyHash)
      .where('status', '=', redemptionStatus.unused)
      .where('deleted_at', 'is', null)
      .where(unexpired(at))
      .returning(['id', 'quota'])
      .executeTakeFirst()
    if (!code) {
      // Another attempt was first, or an admin withdrew the code in between.
      await requireRedeemable(within, keyHash, at)
      return fail('redemption_invalid')
    }

    const { id: userId, username } = caller
    const { id, quota } = code
    const reference = `redeem:${id}`
    await core.ledger.credit(within, { userId, kind: 'redeem', amount: quota, reference, at })
    const content = `通过兑换码 #${id} 充值 ${quotaText(core, quota)} / Redeemed code #${id} for ${quotaText(core, quota)}`
    await recordLog(within, { type: logType.topUp, at, userId, username, content, quota })
    return { userId, reference, quota }
  })
  core.ledger.refresh({ userId: caller.id })
  return quota
}

async function requireRedeemable(db: Queries, keyHash: string, at: number): Promise<void> {
  const code = await db
    .selectFrom('redemptions')
    .select(['status', 'expired_time'])
    .where('key_hash', '=', keyHash)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (code?.status === redemptionStatus.used) fail('redemption_used')
  if (code?.status !== redemptionStatus.unused) fail('redemption_invalid')
  if (code.expired_time !== 0 && code.expired_time <= at) fail('redemption_expired')
}
