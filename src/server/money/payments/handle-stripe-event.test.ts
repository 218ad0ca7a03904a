import { expect, it, onTestFinished } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { ledgerOf, outcome, type TestLedger } from '../../../../test/helpers/ledger.ts'
import {
  apiSecret,
  type FakeSession,
  pay,
  startStripe,
  stripeEvent,
  stripeSignature,
  webhookSecret,
} from '../../../../test/helpers/stripe-server.ts'
import { UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { verifyAudit } from '../../base/options/audit.ts'
import { reconcile } from '../ledger/reconcile.ts'
import { handleStripeEvent } from './handle-stripe-event.ts'
import { findTopUp } from './list-top-ups.ts'
import { checkTopUp, completeTopUp, withdrawTopUp } from './manage-top-ups.ts'
import { StripeCalls } from './stripe-calls.ts'
import { orderTopUp } from './top-ups.ts'

const root = { id: 1, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }
const settings = { ServerAddress: 'https://sluice.example', StripeWebhookSecret: webhookSecret, StripeApiSecret: apiSecret }

/** One node with a Stripe server, and a user's order of 12 dollars of quota. */
async function shop(node: TestLedger) {
  for (const [key, value] of Object.entries(settings)) await node.core.options.save({ key, value, caller: root })
  const stripe = await startStripe()
  const upstream = new UpstreamAgents()
  onTestFinished(async () => {
    await upstream.close()
    await stripe.close()
  })
  const core = { ...node.core, ledger: node.ledger, upstream, stripe: new StripeCalls(node.core, upstream, stripe.url) }
  const userId = await node.user(0)
  const { tradeNo } = await orderTopUp(core, { amount: 12, method: 'stripe', caller: { ...root, id: userId } })
  const [session] = stripe.sessions.values()
  if (!session) throw new Error('No session was made')
  return {
    core,
    stripe,
    session,
    tradeNo,
    /** Delivers a signed event as the webhook does, and returns the outcome. */
    take(type: string, object: object, { livemode = false, secret = webhookSecret } = {}) {
      const body = stripeEvent(`${type}`, object, livemode)
      return handleStripeEvent(core, { body, signature: stripeSignature(body, { secret, atSeconds: seconds(core.now()) }) })
    },
    order: () => findTopUp(core, 1),
    quota: async () => (await node.userRow(userId)).quota,
  }
}

const completed = 'checkout.session.completed'
const charge = (session: FakeSession, amount_refunded: number) => ({
  payment_intent: session.payment_intent,
  amount_refunded,
  metadata: { trade_no: session.metadata.trade_no },
})

eachDatabase('payments with Stripe', (fresh) => {
  it('credits a paid session once, no matter how often and how late it is reported', async () => {
    const node = await ledgerOf(await fresh())
    const { take, session, quota, order, stripe, tradeNo } = await shop(node)
    expect(stripe.asked[0]?.headers).toMatchObject({ 'idempotency-key': tradeNo, 'stripe-version': '2024-06-20' })
    expect(await take('checkout.session.expired', session)).toBe('expired')
    pay(session)
    expect(await take(completed, session)).toBe('credited')
    const again = await Promise.all(Array.from({ length: 20 }, () => take(completed, session)))
    expect(new Set(again)).toEqual(new Set(['credited']))
    for (const type of ['checkout.session.expired', 'checkout.session.async_payment_failed'])
      expect(await take(type, session)).toBe('nothing')
    expect(await quota()).toBe(6_000_000)
    expect(await order()).toMatchObject({
      status: 'success',
      provider_id: session.id,
      payment_id: `pi_${session.id}`,
      currency: 'USD',
    })
    expect(await reconcile(node.core)).toEqual([])
  })

  it('waits for delayed payments, and credits them when they succeed', async () => {
    const node = await ledgerOf(await fresh())
    const { take, session, quota, order } = await shop(node)
    expect(await take(completed, { ...session, payment_status: 'unpaid' })).toBe('processing')
    expect([await quota(), (await order())?.status]).toEqual([0, 'processing'])
    expect(await take('checkout.session.async_payment_failed', session)).toBe('failed')
    pay(session)
    expect(await take('checkout.session.async_payment_succeeded', session)).toBe('credited')
    expect(await quota()).toBe(6_000_000)
  })

  it('[T169] accepts only signed events, and none while a secret is missing', async () => {
    const node = await ledgerOf(await fresh())
    const { take, core, session, quota } = await shop(node)
    pay(session)
    const refused = { code: 'payment_signature_invalid' }
    await expect(take(completed, session, { secret: 'another' })).rejects.toMatchObject(refused)
    await expect(handleStripeEvent(core, { body: stripeEvent(completed, session), signature: '' })).rejects.toMatchObject(refused)
    await core.options.save({ key: 'StripeWebhookSecret', value: '', caller: root })
    await expect(take(completed, session)).rejects.toMatchObject(refused)
    await expect(take(completed, session, { secret: '' })).rejects.toMatchObject(refused)
    expect(await quota()).toBe(0)
  })

  it('[T170] [T171] credits no other amount, currency, order, user, session or mode, and flags near matches', async () => {
    const node = await ledgerOf(await fresh())
    const { take, session, quota, order, core } = await shop(node)
    pay(session)
    const { metadata } = session
    for (const other of [
      { metadata: { ...metadata, trade_no: 'other' }, client_reference_id: 'other' },
      { metadata: { ...metadata, user_id: '999' } },
      { client_reference_id: 'other' },
      { metadata: {} },
      { mode: 'subscription' },
    ])
      expect(await take(completed, { ...session, ...other })).toBe('no order of this site')
    expect(await take(completed, session, { livemode: true })).toBe('other mode')
    expect((await order())?.status).toBe('pending')

    for (const other of [{ amount_total: 1199 }, { currency: 'hkd' }, { id: 'cs_other' }, { amount_total: null }])
      expect(await take(completed, { ...session, ...other })).toBe('flagged')
    expect([await quota(), (await order())?.status]).toEqual([0, 'flagged'])
    expect((await verifyAudit(core)).brokenAt).toBeUndefined()
    // The session was paid in yen; `currency_conversion` has the requested amount.
    const shown = { amount_total: 1900, currency: 'jpy' }
    const asked = (amount_total: number) => ({
      ...session,
      ...shown,
      currency_conversion: { amount_total, source_currency: 'usd' },
    })
    expect(await take(completed, asked(1199))).toBe('flagged')
    expect(await take(completed, asked(1200))).toBe('credited')
  })

  it('[T175] records refunds and chargebacks once, reclaims nothing automatically, and lets an admin reclaim once', async () => {
    const node = await ledgerOf(await fresh())
    const { take, session, quota, order, core } = await shop(node)
    pay(session)
    await take(completed, session)
    const withdraw = (units: number) =>
      outcome(async () => void (await withdrawTopUp(core, { id: 1, quota: units, reason: 'refund', caller: root })))
    expect(await withdraw(1)).toBe('top_up_not_refunded')

    expect(await take('charge.refunded', charge(session, 400))).toBe('top-up.refund')
    expect(await take('charge.refunded', charge(session, 400))).toBe('nothing')
    expect(await take('charge.refunded', charge(session, 1200))).toBe('top-up.refund')
    expect(await take('charge.refunded', charge(session, 400))).toBe('nothing')
    expect(await take('charge.refunded', { ...charge(session, 9), payment_intent: 'pi_of_a_shop', metadata: {} })).toBe(
      'no order of this site',
    )
    const dispute = (status: string) => take('charge.dispute.updated', { payment_intent: session.payment_intent, status })
    expect([await dispute('needs_response'), await dispute('lost'), await dispute('needs_response')]).toEqual([
      'top-up.dispute',
      'top-up.dispute',
      'nothing',
    ])
    expect(await order()).toMatchObject({ status: 'success', refunded_minor: 1200, dispute: 'lost', withdrawn: 0 })
    expect(await quota()).toBe(6_000_000)

    expect(await withdraw(6_000_001)).toBe('amount_out_of_range')
    const twice = await Promise.all([withdraw(6_000_000), withdraw(6_000_000)])
    expect(twice.sort()).toEqual(['ok', 'top_up_not_refunded'])
    expect(await quota()).toBe(0)
    expect(await reconcile(node.core)).toEqual([])
  })

  it('[T175] does not credit a payment that was refunded before it was reported', async () => {
    const node = await ledgerOf(await fresh())
    const { take, session, quota, order } = await shop(node)
    pay(session)
    expect(await take('charge.refunded', charge(session, 1200))).toBe('top-up.refund')
    expect(await take(completed, session)).toBe('flagged')
    expect([await quota(), (await order())?.status]).toEqual([0, 'flagged'])
  })

  it('asks Stripe for the state of an order, and credits it only when it is paid', async () => {
    const node = await ledgerOf(await fresh())
    const { core, session, quota, stripe } = await shop(node)
    const check = () => outcome(async () => void (await checkTopUp(core, { id: 1, caller: root })))
    const told = () =>
      core.db.selectFrom('audit').select(['actor_name', 'before', 'after']).where('action', '=', 'top-up.check').execute()
    expect(await check()).toBe('payment_unconfirmed')
    pay(session)
    stripe.refuses = 500
    expect(await check()).toBe('payment_provider_failed')
    stripe.refuses = 0
    Object.assign(session, { amount_total: 5 })
    expect(await check()).toBe('payment_unconfirmed')
    Object.assign(session, { amount_total: 1200 })
    expect(await told()).toEqual([])
    expect([await check(), await check()]).toEqual(['ok', 'ok'])
    expect(await quota()).toBe(6_000_000)
    expect(await told()).toEqual([{ actor_name: root.username, before: 'flagged', after: 'success' }])
  })

  it('credits an order manually once, with the reason in the audit, and the later report credits nothing', async () => {
    const node = await ledgerOf(await fresh())
    const { core, session, quota, take } = await shop(node)
    const complete = () => outcome(async () => void (await completeTopUp(core, { id: 1, reason: 'paid in cash', caller: root })))
    expect((await Promise.all([complete(), complete(), complete()])).sort()).toEqual(['ok', 'top_up_credited', 'top_up_credited'])
    pay(session)
    expect(await take(completed, session)).toBe('credited')
    expect(await quota()).toBe(6_000_000)
    const acts = await core.db
      .selectFrom('audit')
      .select(['actor_name', 'after'])
      .where('action', '=', 'top-up.complete')
      .execute()
    expect(acts).toEqual([{ actor_name: 'root', after: '{"status":"success","quota":6000000,"reason":"paid in cash"}' }])
  })

  it('marks an order whose session could not be created as failed', async () => {
    const node = await ledgerOf(await fresh())
    const { core, stripe } = await shop(node)
    stripe.refuses = 400
    const caller = { ...root, id: 1 }
    expect(await outcome(async () => void (await orderTopUp(core, { amount: 5, method: 'stripe', caller })))).toBe(
      'payment_provider_failed',
    )
    expect((await findTopUp(core, 2))?.status).toBe('failed')
  })
})
