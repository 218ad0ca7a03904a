import { topUpStatus } from '../../../contract/entities/top-up.ts'
import { locked } from '../../base/db/locked.ts'
import type { Within } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Core } from '../../base/options/core.ts'
import { type CheckoutSession, isLiveKey, isSignedByStripe, readStripeEvent, readStripeMerchant } from './stripe.ts'
import { openOrder, type Paid, takePayment, type WithLedger } from './take-payment.ts'

/**
 * Handles a signed event of Stripe. Replays and events in the wrong order change nothing. Refunds and chargebacks are recorded at
 * the order and in the audit and take no quota by themselves, since a dispute may be won: an admin takes the quota back
 * (manage-top-ups.ts). Returns the outcome, for the log. Throws `payment_signature_invalid`, and failures of the database: Stripe
 * repeats events that were not answered with 200, for days.
 */
export async function handleStripeEvent(core: WithLedger, given: { body: string; signature: string }): Promise<string> {
  const merchant = readStripeMerchant(core.options.current)
  if (!merchant || !isSignedByStripe(merchant, { ...given, nowSeconds: seconds(core.now()) })) fail('payment_signature_invalid')

  const event = readStripeEvent(given.body)
  const live = isLiveKey(merchant.apiSecret)
  // Test events do not count with a live key, nor live events with a test key.
  if (live !== undefined && event.live !== undefined && event.live !== live) return 'other mode'
  switch (event.kind) {
    case 'session':
      return takeSession(core, event)
    case 'refund':
      return noteOn(core, event, { refunded_minor: event.refundedMinor })
    case 'dispute':
      return noteOn(core, event, { dispute: event.state })
    case 'other':
      return 'nothing'
  }
}

/** The payment of a session; undefined when the session belongs to no order of this site. */
export function paymentFromSession(session: CheckoutSession): Paid | undefined {
  const tradeNo = session.metadata?.trade_no ?? ''
  if (session.mode !== 'payment' || tradeNo === '' || session.client_reference_id !== tradeNo) return undefined
  const { amount_total, source_currency: currency } = session.currency_conversion ?? {
    amount_total: session.amount_total,
    source_currency: session.currency,
  }
  return {
    provider: 'stripe',
    tradeNo,
    method: 'stripe',
    moneyMinor: amount_total ?? undefined,
    currency: (currency ?? '').toUpperCase(),
    goods: undefined,
    providerId: session.id,
    paymentId: session.payment_intent ?? '',
  }
}

async function takeSession(core: WithLedger, { type, session }: { type: string; session: CheckoutSession }): Promise<string> {
  const paid = paymentFromSession(session)
  if (!paid || !(await isOfUser(core, paid, session))) return 'no order of this site'
  const isPaid = session.payment_status === 'paid' || session.payment_status === 'no_payment_required'
  switch (type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      if (isPaid) return (await takePayment(core, paid)) ? 'credited' : 'flagged'
      return moveOn(core, paid, { from: [topUpStatus.pending], to: topUpStatus.processing })
    case 'checkout.session.async_payment_failed':
      return moveOn(core, paid, { from: [topUpStatus.pending, topUpStatus.processing], to: topUpStatus.failed })
    case 'checkout.session.expired':
      return moveOn(core, paid, { from: [topUpStatus.pending], to: topUpStatus.expired })
    default:
      return 'nothing'
  }
}

/** A session created by another program in the same account may have the number of our order, but not the id of its user. */
async function isOfUser({ db }: Core, { tradeNo }: Paid, session: CheckoutSession): Promise<boolean> {
  const order = await db
    .selectFrom('top_ups')
    .select('user_id')
    .where('trade_no', '=', tradeNo)
    .where('provider', '=', 'stripe')
    .executeTakeFirst()
  return order !== undefined && session.metadata?.user_id === String(order.user_id)
}

async function moveOn({ db }: Core, paid: Paid, { from, to }: { from: readonly string[]; to: string }): Promise<string> {
  const { numUpdatedRows } = await openOrder(db, paid).set({ status: to }).where('status', 'in', from).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n ? to : 'nothing'
}

/** States in which a chargeback has ended: an older event that arrives late does not reopen it. */
const endOfDispute = ['won', 'lost', 'warning_closed']

/** The refunded amount only grows. An event that changes nothing is not recorded. */
function noteOn(
  core: Core,
  { paymentId, tradeNo }: { paymentId: string; tradeNo: string },
  news: { refunded_minor: number } | { dispute: string },
): Promise<string> {
  return change(core, undefined, async (within, audit) => {
    const order = await findPayment(core, within, { paymentId, tradeNo })
    if (!order) return 'no order of this site'
    const isNews =
      'dispute' in news
        ? order.dispute !== news.dispute && !endOfDispute.includes(order.dispute)
        : news.refunded_minor > order.refunded_minor
    if (!isNews) return 'nothing'

    const { id, trade_no, refunded_minor, dispute } = order
    await within
      .updateTable('top_ups')
      .set({ ...news, payment_id: paymentId })
      .where('id', '=', id)
      .execute()
    const action = 'dispute' in news ? 'top-up.dispute' : 'top-up.refund'
    audit({ action, target: `top_up:${trade_no}`, before: { refunded_minor, dispute }, after: news })
    return action
  })
}

async function findPayment(core: Core, within: Within, { paymentId, tradeNo }: { paymentId: string; tradeNo: string }) {
  if (paymentId === '') return undefined
  const found = within
    .selectFrom('top_ups')
    .selectAll()
    .where('provider', '=', 'stripe')
    .where((eb) => eb.or([eb('payment_id', '=', paymentId), eb.and([eb('payment_id', '=', ''), eb('trade_no', '=', tradeNo)])]))
  return locked(core, found).executeTakeFirst()
}
