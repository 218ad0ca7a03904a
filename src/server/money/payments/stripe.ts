import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { OptionValues } from '../../../contract/options/index.ts'
import { sameSecret } from '../../base/lib/secrets/secrets.ts'

/**
 * Stripe Checkout as docs.stripe.com describes it (API reference of checkout sessions, and webhook signatures; November 2025): a session
 * whose page the browser opens, and events about its payment, signed with a secret of the webhook. Pure.
 */
export interface StripeMerchant {
  readonly apiSecret: string
  readonly webhookSecret: string
}

/** Undefined while anything is missing: then no session is created and no signature is accepted. */
export function readStripeMerchant(options: OptionValues): StripeMerchant | undefined {
  const { ServerAddress, StripeApiSecret: apiSecret, StripeWebhookSecret: webhookSecret } = options
  return ServerAddress === '' || apiSecret === '' || webhookSecret === '' ? undefined : { apiSecret, webhookSecret }
}

interface CheckoutOrder {
  readonly tradeNo: string
  readonly userId: number
  readonly name: string
  readonly moneyMinor: number
  readonly currency: string
  /** The URL to which the payment page returns, paid or not. */
  readonly returnUrl: string
}

/** The form that creates a session. The order's number is attached to session, payment and charge, so that each event names it. */
export function checkoutForm({ tradeNo, userId, name, moneyMinor, currency, returnUrl }: CheckoutOrder): string {
  const back = `${returnUrl}?${new URLSearchParams({ out_trade_no: tradeNo })}`
  return new URLSearchParams({
    mode: 'payment',
    client_reference_id: tradeNo,
    'metadata[trade_no]': tradeNo,
    'metadata[user_id]': String(userId),
    'payment_intent_data[metadata][trade_no]': tradeNo,
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': currency.toLowerCase(),
    'line_items[0][price_data][unit_amount]': String(moneyMinor),
    'line_items[0][price_data][product_data][name]': name,
    success_url: back,
    cancel_url: back,
  }).toString()
}

/** The tolerance for clock differences and delay between both sides. Stripe's own libraries allow as much. */
const signatureToleranceSeconds = 300
const signaturesMax = 20

/**
 * Whether the body was signed with the secret a moment ago: `t` is the time of signing, and one of the `v1` is the HMAC-SHA256 of
 * `<t>.<body>`. There are several `v1` while a secret is being replaced.
 */
export function isSignedByStripe(
  { webhookSecret }: StripeMerchant,
  { body, signature, nowSeconds }: { body: string; signature: string; nowSeconds: number },
): boolean {
  const parts = signature.split(',').map((part) => part.trim().split('=', 2))
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (webhookSecret === '' || !/^\d{1,12}$/.test(time)) return false
  if (Math.abs(nowSeconds - Number(time)) > signatureToleranceSeconds) return false

  const expected = createHmac('sha256', webhookSecret).update(`${time}.${body}`).digest('hex')
  const given = parts.filter(([name]) => name === 'v1').slice(0, signaturesMax)
  return given.some(([, value = '']) => sameSecret(expected, value))
}

/** Test keys and live keys have separate events. Undefined for a key whose prefix is neither. */
export function isLiveKey(apiSecret: string): boolean | undefined {
  if (/^(sk|rk)_live_/.test(apiSecret)) return true
  return /^(sk|rk)_test_/.test(apiSecret) ? false : undefined
}

const id = z.union([z.string(), z.object({ id: z.string() }).transform((object) => object.id)]).nullish()
const metadata = z.record(z.string(), z.string()).nullish()

const session = z.object({
  id: z.string(),
  mode: z.string(),
  client_reference_id: z.string().nullish(),
  metadata,
  amount_total: z.int().nullish(),
  currency: z.string().nullish(),
  payment_status: z.string(),
  status: z.string().nullish(),
  payment_intent: id,
  url: z.string().nullish(),
  /**
   * Present when the page showed the buyer another currency: then `amount_total` and `currency` above are in the buyer's currency,
   * and these are the requested ones.
   */
  currency_conversion: z.object({ amount_total: z.int(), source_currency: z.string() }).nullish(),
})
export type CheckoutSession = z.output<typeof session>

const charge = z.object({ payment_intent: id, amount_refunded: z.int().min(0), metadata })
const dispute = z.object({ payment_intent: id, status: z.string().max(100), metadata })
const event = z.object({
  type: z.string(),
  livemode: z.boolean().nullish(),
  data: z.object({ object: z.unknown() }),
})

type StripeEvent = { readonly live: boolean | undefined } & (
  | { readonly kind: 'session'; readonly type: string; readonly session: CheckoutSession }
  | { readonly kind: 'refund'; readonly paymentId: string; readonly tradeNo: string; readonly refundedMinor: number }
  | { readonly kind: 'dispute'; readonly paymentId: string; readonly tradeNo: string; readonly state: string }
  | { readonly kind: 'other' }
)

/** Reads an event. `other` is an event type that is not used; throws a ZodError or SyntaxError for malformed events. */
export function readStripeEvent(body: string): StripeEvent {
  const { type, livemode, data } = event.parse(JSON.parse(body))
  const live = livemode ?? undefined
  if (type.startsWith('checkout.session.')) return { kind: 'session', live, type, session: session.parse(data.object) }
  if (type === 'charge.refunded') {
    const { payment_intent, amount_refunded, metadata } = charge.parse(data.object)
    return {
      kind: 'refund',
      live,
      paymentId: payment_intent ?? '',
      tradeNo: metadata?.trade_no ?? '',
      refundedMinor: amount_refunded,
    }
  }
  if (type.startsWith('charge.dispute.')) {
    const { payment_intent, status, metadata } = dispute.parse(data.object)
    return { kind: 'dispute', live, paymentId: payment_intent ?? '', tradeNo: metadata?.trade_no ?? '', state: status }
  }
  return { kind: 'other', live }
}

/** A session as the API returns it. Throws when malformed. */
export function readCheckoutSession(text: string): CheckoutSession {
  return session.parse(JSON.parse(text))
}
