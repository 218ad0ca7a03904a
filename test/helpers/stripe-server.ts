import { createHmac } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { closing, listening } from './listening.ts'
import { bodyOf } from './payment-gateway.ts'

/** A checkout session as in Stripe's API reference; only members that are sent or read here have meaningful values. */
export interface FakeSession {
  readonly id: string
  readonly url: string
  mode: string
  client_reference_id: string
  metadata: Record<string, string>
  amount_total: number
  currency: string
  payment_status: string
  status: string
  payment_intent: string | null
}

/** Stripe on loopback: creates sessions, has a payment page for each, and sends signed events to the webhook. */
export interface FakeStripe {
  readonly url: string
  readonly sessions: Map<string, FakeSession>
  /** Headers and form of each requested session. */
  readonly asked: { headers: Record<string, unknown>; form: Record<string, string> }[]
  /** Status with which every request is refused; 0 refuses nothing. */
  refuses: number
  webhook: { url: string; secret: string }
  /** Sends an event about an object and returns the status of the reply. */
  send(type: string, object: unknown, more?: { secret?: string; atSeconds?: number; livemode?: boolean }): Promise<number>
  close(): Promise<void>
}

export const apiSecret = 'sk_test_of_a_stripe_on_loopback'
export const webhookSecret = 'whsec_test_secret_of_the_webhook'

/** The signature header of a body by Stripe's scheme, independent of the server's implementation. */
export function stripeSignature(
  body: string,
  { secret = webhookSecret, atSeconds = Math.floor(Date.now() / 1000) } = {},
): string {
  const mac = createHmac('sha256', secret).update(`${atSeconds}.`).update(body).digest('hex')
  return `t=${atSeconds},v1=${mac},v0=${'0'.repeat(64)}`
}

export function stripeEvent(type: string, object: unknown, livemode = false): string {
  return JSON.stringify({ id: `evt_${type}`, object: 'event', api_version: '2024-06-20', type, livemode, data: { object } })
}

export async function startStripe(): Promise<FakeStripe> {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://stripe')
    const body = await bodyOf(request)
    const page = /^\/pay\/(\w+)$/.exec(url.pathname)?.[1]
    if (page !== undefined) return payPage(stripe, page, response)
    if (stripe.refuses > 0 || request.headers.authorization !== `Bearer ${apiSecret}`)
      return answer(response, stripe.refuses || 401, { error: { type: 'invalid_request_error', message: 'No.' } })
    if (request.method === 'GET') {
      const session = stripe.sessions.get(url.pathname.split('/').at(-1) ?? '')
      return session ? answer(response, 200, session) : answer(response, 404, { error: {} })
    }
    const form = Object.fromEntries(new URLSearchParams(body))
    stripe.asked.push({ headers: request.headers, form })
    answer(response, 200, newSession(stripe, form))
  })

  const stripe: FakeStripe = {
    url: await listening(server),
    sessions: new Map(),
    asked: [],
    refuses: 0,
    webhook: { url: '', secret: webhookSecret },
    async send(type, object, { secret = stripe.webhook.secret, livemode = false, ...more } = {}) {
      const body = stripeEvent(type, object, livemode)
      const headers = { 'content-type': 'application/json', 'stripe-signature': stripeSignature(body, { secret, ...more }) }
      const reply = await fetch(stripe.webhook.url, { method: 'POST', body, headers })
      await reply.body?.cancel()
      return reply.status
    },
    close: () => closing(server),
  }
  return stripe
}

function newSession(stripe: FakeStripe, form: Record<string, string>): FakeSession {
  const id = `cs_test_${stripe.sessions.size + 1}`
  const session: FakeSession & Record<string, unknown> = {
    id,
    object: 'checkout.session',
    url: `${stripe.url}/pay/${id}`,
    mode: form.mode ?? '',
    client_reference_id: form.client_reference_id ?? '',
    metadata: { trade_no: form['metadata[trade_no]'] ?? '', user_id: form['metadata[user_id]'] ?? '' },
    amount_total: Number(form['line_items[0][price_data][unit_amount]']),
    currency: form['line_items[0][price_data][currency]'] ?? '',
    payment_status: 'unpaid',
    status: 'open',
    payment_intent: null,
    success_url: form.success_url,
    cancel_url: form.cancel_url,
    livemode: false,
  }
  stripe.sessions.set(id, session)
  return session
}

/** Opening the page pays for the session. */
async function payPage(stripe: FakeStripe, id: string, response: ServerResponse): Promise<void> {
  const session = stripe.sessions.get(id) as (FakeSession & { success_url: string }) | undefined
  if (!session) return answer(response, 404, {})
  pay(session)
  await stripe.send('checkout.session.completed', session)
  response.writeHead(302, { location: session.success_url }).end()
}

export function pay(session: FakeSession): FakeSession {
  return Object.assign(session, { payment_status: 'paid', status: 'complete', payment_intent: `pi_${session.id}` })
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
