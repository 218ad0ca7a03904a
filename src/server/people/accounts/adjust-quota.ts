import { logType } from '../../../contract/entities/log.ts'
import type { User } from '../../../contract/entities/user.ts'
import type { Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { newRequestId } from '../../base/lib/secrets/ids.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Report } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { commitCredit, unsafeToRepeat } from '../../money/ledger/commit-credit.ts'
import { credit } from '../../money/ledger/credit.ts'
import { quotaText } from '../../money/ledger/quota-text.ts'
import { recordLog } from '../../usage/log/log.ts'
import { lockManaged } from './lock-user.ts'
import { findUser, presentUser } from './users.ts'

interface Adjustment {
  /** Signed, in quota units. */
  readonly change: number
  readonly reason: string
}

/**
 * Changes a balance by a signed amount; quota spent meanwhile stays spent. Throws `not_found`, `user_protected`, `nothing_changed`,
 * `quota_below_zero`, `amount_out_of_range`, and `quota_unchanged` or `quota_change_unclear` when the connection is lost during the
 * commit.
 */
export async function adjustQuota(
  core: Core,
  caller: Caller,
  { id, ...wanted }: Adjustment & { readonly id: number },
): Promise<User> {
  if (wanted.change === 0) fail('nothing_changed')
  const { user: changed } = await commitCredit(core, caller, unsafeToRepeat, async (within, audit) => {
    const user = await lockManaged(core, within, caller, id)
    const reference = await writeAdjustment(core, within, { ...wanted, user, audit })
    // Read inside the transaction: with an error after the commit the caller would repeat the change.
    return { userId: id, reference, user: await findUser(within, id) }
  })
  return presentUser(changed)
}

/**
 * Writes the ledger row and the log row of the user, and reports the change, in the caller's transaction, which has locked the user.
 * Returns the reference of the ledger row.
 */
export async function writeAdjustment(
  core: Core,
  within: Within,
  {
    user,
    change,
    reason,
    audit,
    target = 'user',
  }: Adjustment & { readonly user: Row<'users'>; readonly audit: Report; readonly target?: 'user' | 'organisation' },
): Promise<string> {
  const after = user.quota + change
  if (change < 0 && after < 0) fail('quota_below_zero', { have: quotaText(core, user.quota, 'down') })
  const nowMs = core.now()
  const at = seconds(nowMs)
  const { id: userId, username } = user

  const reference = `adjust:${userId}:${newRequestId(nowMs)}`
  await credit(within, { userId, kind: 'adjust', amount: change, reference, at, detail: reason })
  const amount = `${change > 0 ? '+' : '-'}${quotaText(core, Math.abs(change))}`
  const [whyZh, whyEn] = reason === '' ? ['', ''] : [`：${reason}`, `: ${reason}`]
  const content = `管理员调整额度 ${amount}${whyZh} / Quota changed by an admin, ${amount}${whyEn}`
  await recordLog(within, { type: logType.manage, at, userId, username, content, quota: change })
  const told = { before: String(user.quota), after: { quota: after, change, reason } }
  audit({ action: `${target}.quota`, target: `${target}:${userId}`, ...told, topic: 'user', id: userId })
  return reference
}
