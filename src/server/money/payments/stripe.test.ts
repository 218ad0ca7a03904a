import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { stripeSignature, webhookSecret } from '../../../../test/helpers/stripe-server.ts'
import { checkoutForm, isLiveKey, isSignedByStripe, readStripeEvent } from './stripe.ts'

const merchant = { apiSecret: 'sk_test_1', webhookSecret }
const body = '{"type":"checkout.session.completed","text":"ä"}'
const nowSeconds = 1_760_000_000
const signed = (signature: string, given: { body?: string; nowSeconds?: number; secret?: string } = {}) => {
  const { secret = webhookSecret, ...rest } = given
  return isSignedByStripe({ ...merchant, webhookSecret: secret }, { body, nowSeconds, signature, ...rest })
}

it('[T169] accepts only events signed with the secret within five minutes', () => {
  const good = stripeSignature(body, { atSeconds: nowSeconds })
  expect(signed(good)).toBe(true)
  expect(signed(good, { nowSeconds: nowSeconds + 300 })).toBe(true)
  expect(signed(good, { nowSeconds: nowSeconds - 300 })).toBe(true)
  expect(signed(good, { nowSeconds: nowSeconds + 301 })).toBe(false)
  expect(signed(good, { nowSeconds: nowSeconds - 301 })).toBe(false)
  expect(signed(good, { body: `${body} ` })).toBe(false)
  expect(signed(good.replace(/t=\d+/, `t=${nowSeconds + 1}`))).toBe(false)
  expect(signed(good.replace('v1=', 'v0='))).toBe(false)
  expect(signed(stripeSignature(body, { atSeconds: nowSeconds, secret: 'another' }))).toBe(false)
  for (const junk of ['', 't=', 'v1=', `t=${nowSeconds}`, `t=${nowSeconds},v1=`, 't=x,v1=y', ','.repeat(10_000)])
    expect(signed(junk)).toBe(false)
})

it('[T169] accepts no signature while the secret is empty, not even one made with the empty secret', () => {
  expect(signed(stripeSignature(body, { atSeconds: nowSeconds, secret: '' }), { secret: '' })).toBe(false)
})

it('accepts any of several signatures, as sent while a secret is replaced', () => {
  const old = stripeSignature(body, { atSeconds: nowSeconds, secret: 'old' })
  const good = stripeSignature(body, { atSeconds: nowSeconds })
  expect(signed(`${old},${good.slice(good.indexOf('v1='))}`)).toBe(true)
})

it('creates a form that names the order in session, payment and return URL', () => {
  const order = {
    tradeNo: 'USR1NOx',
    userId: 1,
    name: 'Sluice $12',
    moneyMinor: 1320,
    currency: 'USD',
    returnUrl: 'https://s.example/topup',
  }
  expect(Object.fromEntries(new URLSearchParams(checkoutForm(order)))).toEqual({
    mode: 'payment',
    client_reference_id: 'USR1NOx',
    'metadata[trade_no]': 'USR1NOx',
    'metadata[user_id]': '1',
    'payment_intent_data[metadata][trade_no]': 'USR1NOx',
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': 'usd',
    'line_items[0][price_data][unit_amount]': '1320',
    'line_items[0][price_data][product_data][name]': 'Sluice $12',
    success_url: 'https://s.example/topup?out_trade_no=USR1NOx',
    cancel_url: 'https://s.example/topup?out_trade_no=USR1NOx',
  })
})

it('reads events with payments as ids or as expanded objects, and ignores other events', () => {
  const read = (type: string, object: object) => readStripeEvent(JSON.stringify({ type, livemode: true, data: { object } }))
  const refund = { kind: 'refund', live: true, paymentId: 'pi_1', tradeNo: '', refundedMinor: 5 }
  expect(read('charge.refunded', { payment_intent: 'pi_1', amount_refunded: 5, metadata: {} })).toEqual(refund)
  expect(read('charge.refunded', { payment_intent: { id: 'pi_1' }, amount_refunded: 5 })).toEqual(refund)
  expect(read('charge.dispute.closed', { payment_intent: 'pi_1', status: 'lost' })).toMatchObject({
    kind: 'dispute',
    state: 'lost',
  })
  expect(read('customer.created', { id: 'x' })).toEqual({ kind: 'other', live: true })
  expect(() => readStripeEvent('{}')).toThrow()
})

it('[T171] distinguishes test keys from live keys', () => {
  expect(['sk_live_1', 'rk_live_1', 'sk_test_1', 'rk_test_1', 'whatever'].map(isLiveKey)).toEqual([
    true,
    true,
    false,
    false,
    undefined,
  ])
})

it('[T182] no file of the server compares a signature or secret with an equality operator', () => {
  const folder = new URL('../../', import.meta.url)
  const faulty = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) =>
      /(sign|signature|secret|mac|digest|code_?hash)\w*\s*[!=]==(?!\s*('|undefined|null|0))/i.test(
        readFileSync(new URL(file, folder), 'utf8'),
      ),
    )
  expect(faulty).toEqual([])
})
