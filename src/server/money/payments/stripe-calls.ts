import { fail } from '../../base/lib/failure.ts'
import { callConfigured, type UpstreamAgents } from '../../base/lib/net/http-client.ts'
import type { Core } from '../../base/options/core.ts'
import { type CheckoutSession, readCheckoutSession, type StripeMerchant } from './stripe.ts'

const stripeAddress = 'https://api.stripe.com'
/** The pinned API version: answers keep their form when the account is upgraded. */
const apiVersion = '2024-06-20'
const timeoutMs = 20_000
const sizeBytesMax = 256 * 1024

/** The two calls to Stripe. The address is not an option: changing it would reveal the secret. Replaceable in tests. */
export class StripeCalls {
  readonly #core: Pick<Core, 'logger'>
  readonly #upstream: UpstreamAgents
  readonly #address: string

  constructor(core: Pick<Core, 'logger'>, upstream: UpstreamAgents, address: string = stripeAddress) {
    this.#core = core
    this.#upstream = upstream
    this.#address = address
  }

  /** Creates a session; repeating the call for the same order returns the same one. Throws `payment_provider_failed`. */
  create(merchant: StripeMerchant, { form, tradeNo }: { form: string; tradeNo: string }): Promise<CheckoutSession> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': tradeNo }
    return this.#call(merchant, '/v1/checkout/sessions', { method: 'POST', headers, body: form })
  }

  /** Throws `payment_provider_failed`. */
  read(merchant: StripeMerchant, sessionId: string): Promise<CheckoutSession> {
    return this.#call(merchant, `/v1/checkout/sessions/${encodeURIComponent(sessionId)}`, { method: 'GET', headers: {} })
  }

  async #call(
    { apiSecret }: StripeMerchant,
    path: string,
    sent: { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string },
  ): Promise<CheckoutSession> {
    const headers = { ...sent.headers, authorization: `Bearer ${apiSecret}`, 'stripe-version': apiVersion }
    try {
      const url = `${this.#address}${path}`
      const { status, body } = await callConfigured(this.#upstream, { ...sent, url, headers, timeoutMs, sizeBytesMax })
      if (status === 200) return readCheckoutSession(body.toString())
      // Stripe's answer explains what is wrong with the order or the account; of the key it repeats only the end.
      this.#core.logger.warn({ status, answer: body.toString().slice(0, 1000) }, 'Stripe refused a call')
    } catch (error) {
      this.#core.logger.warn({ error }, 'Stripe could not be asked')
    }
    return fail('payment_provider_failed')
  }
}
