import { logType } from '../../../contract/entities/log.ts'
import { type AdminTopUp, topUpStatus } from '../../../contract/entities/top-up.ts'
import { fail } from '../../base/lib/failure.ts'
import { callConfigured, type UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { recordAction } from '../../base/options/audit.ts'
import type { Caller } from '../../base/options/core.ts'
import { recordLog } from '../../usage/log/log.ts'
import { commitCredit, unsafeToRepeat } from '../ledger/commit-credit.ts'
import { quotaText } from '../ledger/quota-text.ts'
import { orderUrl, readOrder } from './epay.ts'
import { paymentFromSession } from './handle-stripe-event.ts'
import { findTopUp } from './list-top-ups.ts'
import { creditedColumns, creditOrder, type Paid, takePayment, type WithLedger } from './take-payment.ts'
import { paymentFromReport, requireMerchant, requireStripe, type WithStripe } from './top-ups.ts'

/** Admin actions on orders that did not complete by themselves. Every action that moves quota is in the audit log, with its reason. */
type Payments = WithLedger & WithStripe & { readonly upstream: UpstreamAgents }

const timeoutMs = 15_000
const sizeBytesMax = 64 * 1024

/**
 * Asks the provider, and credits the order when it confirms exactly the payment; the audit log records the credit and the admin.
 * Throws `not_found`, `payment_unconfirmed`, `payment_provider_failed` and `top_up_disabled`.
 */
export async function checkTopUp(core: Payments, { id, caller }: { id: number; caller: Caller }): Promise<AdminTopUp> {
  const order = (await findTopUp(core, id)) ?? fail('not_found')
  const paid = order.provider === 'stripe' ? await askStripe(core, order) : await askGateway(core, order)
  const isCredited = paid !== undefined && paid.tradeNo === order.trade_no && (await takePayment(core, paid))
  if (!isCredited) fail('payment_unconfirmed')
  const checked = (await findTopUp(core, id)) ?? fail('not_found')
  if (order.status !== checked.status) {
    const target = `top_up:${order.trade_no}`
    await recordAction(core, { caller, action: 'top-up.check', target, before: order.status, after: checked.status })
  }
  return checked
}

/**
 * Credits an order manually, for example when the money arrived another way. Throws `not_found`, or `top_up_credited` when it is
 * credited already, and `quota_unchanged` or `quota_change_unclear` when the connection is lost during the commit.
 */
export async function completeTopUp(
  core: Payments,
  { id, reason, caller }: { id: number; reason: string; caller: Caller },
): Promise<AdminTopUp> {
  const before = (await findTopUp(core, id)) ?? fail('not_found')
  await commitCredit(core, caller, unsafeToRepeat, async (within, audit) => {
    const order = await within
      .updateTable('top_ups')
      .set(creditedColumns(core))
      .where('id', '=', id)
      .where('status', '<>', topUpStatus.success)
      .returningAll()
      .executeTakeFirst()
    if (!order) return fail('top_up_credited')
    const reference = await creditOrder(core, within, order)
    const after = { status: order.status, quota: order.quota, reason }
    audit({ action: 'top-up.complete', target: `top_up:${order.trade_no}`, before: before.status, after })
    return { userId: order.user_id, reference }
  })
  core.ledger.refresh({ userId: before.user_id })
  return (await findTopUp(core, id)) ?? fail('not_found')
}

/**
 * Reclaims units for an order that was refunded or disputed, at most the credited amount, and once. Spent quota is owed: the balance may
 * become negative. Throws `not_found`, `top_up_not_refunded`, `amount_out_of_range`, and `quota_unchanged` or `quota_change_unclear`
 * when the connection is lost during the commit.
 */
export async function withdrawTopUp(
  core: Payments,
  { id, quota, reason, caller }: { id: number; quota: number; reason: string; caller: Caller },
): Promise<AdminTopUp> {
  const order = (await findTopUp(core, id)) ?? fail('not_found')
  const { user_id: userId, trade_no, username } = order
  if (quota > order.quota) fail('amount_out_of_range', { field: 'quota' })
  const at = seconds(core.now())

  await commitCredit(core, caller, unsafeToRepeat, async (within, audit) => {
    const { numUpdatedRows } = await within
      .updateTable('top_ups')
      .set({ withdrawn: quota })
      .where('id', '=', id)
      .where('status', '=', topUpStatus.success)
      .where('withdrawn', '=', 0)
      .where((eb) => eb.or([eb('refunded_minor', '>', 0), eb('dispute', '<>', '')]))
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) fail('top_up_not_refunded')

    const reference = `top_up_withdraw:${trade_no}`
    await core.ledger.credit(within, { userId, kind: 'refund', amount: -quota, reference, at, detail: reason })
    const units = quotaText(core, quota)
    const content = `充值退款，收回 ${units} / Top-up refunded, ${units} taken back`
    await recordLog(within, { type: logType.manage, at, userId, username, content, quota: -quota })
    audit({ action: 'top-up.withdraw', target: `top_up:${trade_no}`, after: { withdrawn: quota, reason } })
    return { userId, reference }
  })
  core.ledger.refresh({ userId })
  return (await findTopUp(core, id)) ?? fail('not_found')
}

async function askStripe(core: Payments, order: AdminTopUp): Promise<Paid | undefined> {
  if (order.provider_id === '') return undefined
  const session = await core.stripe.read(requireStripe(core), order.provider_id)
  const isTheirs = session.metadata?.user_id === String(order.user_id)
  return session.payment_status === 'paid' && isTheirs ? paymentFromSession(session) : undefined
}

async function askGateway(core: Payments, { trade_no: tradeNo }: AdminTopUp): Promise<Paid | undefined> {
  const merchant = requireMerchant(core)
  const reply = await callConfigured(core.upstream, { url: orderUrl(merchant, tradeNo), timeoutMs, sizeBytesMax }).catch(
    (error: unknown) => {
      core.logger.warn({ error }, 'the payment gateway could not be asked')
      return fail('payment_provider_failed')
    },
  )
  const report = reply.status === 200 ? readOrder(merchant, tradeNo, reply.body.toString()) : undefined
  return report && paymentFromReport(core, report)
}
