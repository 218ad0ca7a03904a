import type { LogOther } from '../../../contract/entities/log.ts'
import { logType } from '../../../contract/entities/log.ts'
import { isUniqueViolation } from '../../base/db/failures.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { recordLog } from '../../usage/log/log.ts'
import type { Charge, Hold, Ledger, SiteCost } from './ledger.ts'
import { quotaText } from './quota-text.ts'
import { refundCharge } from './refund.ts'
import { siteCostColumns, siteCostValues } from './rows.ts'

/** The charge of a reply that was never delivered: zero. The site bears the upstream's cost. */
export function writtenOff(charge: Charge): Charge {
  const siteCost = undelivered(charge)
  if (!charge.log) return { ...charge, amount: 0, siteCost }
  // The relay writes `other`, with this type.
  const other = JSON.parse(charge.log.other || '{}') as LogOther
  const info = { use_channel: [], ...other.admin_info, site_cost: siteCost }
  const log = { ...charge.log, quota: 0, other: JSON.stringify({ ...other, undelivered: true, admin_info: info }) }
  return { ...charge, amount: 0, siteCost, log }
}

function undelivered({ amount, siteCost }: Charge): SiteCost {
  return { amount: amount + (siteCost?.amount ?? 0), reason: 'undelivered' }
}

/**
 * Settles a request whose reply was never delivered. A charge that an earlier commit of unknown outcome has written is refunded.
 * Rejects with `database_unavailable`; then call it again.
 */
export async function settleUndelivered(core: Core, ledger: Ledger, hold: Hold, charge: Charge): Promise<void> {
  await ledger.settle(hold, writtenOff(charge))
  if ((await ledger.charged(hold.requestId)) !== 0) await giveBack(core, ledger, hold, charge)
}

async function giveBack(core: Core, ledger: Ledger, hold: Hold, charge: Charge): Promise<void> {
  const { requestId, userId, tokenId } = hold
  const at = seconds(core.now())
  const { model, group, username } = charge.rollup
  const values = siteCostValues(hold, { ...charge, at }, undelivered(charge))
  try {
    await core.db.transaction().execute(async (within) => {
      const charged = { requestId, channelId: charge.channelId, model, group, at, detail: 'undelivered' }
      const refund = await refundCharge(ledger, within, charged)
      if (!refund) return
      const row = Object.fromEntries(siteCostColumns.map((name, at) => [name, values[at]]))
      // The columns and their values are those of the table.
      await within
        .insertInto('site_costs')
        .values(row as never)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      const units = quotaText(core, refund.amount)
      const content = `请求 ${requestId} 的回复未送达，退还 ${units} / The reply to request ${requestId} was not delivered, ${units} was given back`
      await recordLog(within, { type: logType.system, at, userId, username, content, quota: refund.amount })
    })
  } catch (error) {
    // It was refunded before.
    if (!isUniqueViolation(error)) throw error
  }
  ledger.refresh({ userId, tokenId, budgets: true })
  core.bus.publish('token', tokenId)
}
