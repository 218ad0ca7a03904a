import { type PaymentProvider, paymentMethods, type TopUpOffer, topUpStatus } from '../../../contract/entities/top-up.ts'
import { moneyText } from '../../../contract/money.ts'
import { fail } from '../../base/lib/failure.ts'
import { randomText } from '../../base/lib/secrets/ids.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { quotaText } from '../ledger/quota-text.ts'
import { type Merchant, type PaymentForm, type PaymentReport, paymentForm, readMerchant, readReport } from './epay.ts'
import { checkoutForm, readStripeMerchant, type StripeMerchant } from './stripe.ts'
import type { StripeCalls } from './stripe-calls.ts'
import { type Paid, takePayment, type WithLedger } from './take-payment.ts'
import { topUpOffer, topUpPrice } from './top-up-price.ts'

/**
 * Online top-up: orders and payment methods. An order stores its credit and its price; later changes of prices do not affect it. It
 * is credited only when the provider reports exactly its payment, never because the browser returned.
 */
interface Ordered {
  /** Dollars, or units where quota is not shown in currency. */
  readonly amount: number
  readonly caller: Caller
}

export type WithStripe = Core & { readonly stripe: StripeCalls }

/** The providers that are set up, in the order in which they are offered. */
function openProviders({ options }: Core): PaymentProvider[] {
  const { current } = options
  return [...(readMerchant(current) ? (['epay'] as const) : []), ...(readStripeMerchant(current) ? (['stripe'] as const) : [])]
}

/** The offered amounts and payment methods. Empty while no provider is configured. */
export function readOffer(core: Core): TopUpOffer {
  return topUpOffer(core.options.current, openProviders(core))
}

/**
 * The price of an amount, as `12.34`; of the first configured provider when no method is named. Throws `top_up_disabled`,
 * `payment_method_unknown` and what `topUpPrice` throws.
 */
export function priceTopUp(core: Core, { amount, caller, method }: Ordered & { method?: string | undefined }) {
  const [first] = openProviders(core)
  const provider = method === undefined || method === '' ? (first ?? fail('top_up_disabled')) : openProvider(core, method)
  const { moneyMinor, currency } = topUpPrice(core.options.current, { amount, group: caller.group, provider })
  return { money: moneyText(moneyMinor, currency), currency }
}

interface Order extends PaymentForm {
  readonly tradeNo: string
}

/**
 * Creates an order and returns the payment: the form to post, or the page to open when it has no fields. Throws
 * `payment_provider_failed`, and what `priceTopUp` throws.
 */
export async function orderTopUp(core: WithStripe, { method, ...ordered }: Ordered & { method: string }): Promise<Order> {
  const provider = openProvider(core, method)
  const { amount, caller } = ordered
  const { quota, moneyMinor, currency } = topUpPrice(core.options.current, { amount, group: caller.group, provider })
  const at = seconds(core.now())
  const order = {
    user_id: caller.id,
    provider,
    method: typeOf(method),
    trade_no: `USR${caller.id}NO${randomText(10)}${at}`,
    quota,
    amount,
    money_minor: moneyMinor,
    currency,
  }
  await core.db
    .insertInto('top_ups')
    .values({ ...order, status: topUpStatus.pending, created_time: at })
    .execute()
  const form = provider === 'stripe' ? await openCheckout(core, order) : epayForm(core, order)
  return { ...form, tradeNo: order.trade_no }
}

/**
 * Handles a gateway's report. True means that the order is credited durably, now or before; otherwise the gateway repeats its
 * report. Throws when the database is unavailable; then nothing is credited.
 */
export async function handleReport(core: WithLedger, fields: Readonly<Record<string, unknown>>): Promise<boolean> {
  const merchant = readMerchant(core.options.current)
  const report = merchant && readReport(merchant, fields)
  return report !== undefined && takePayment(core, paymentFromReport(core, report))
}

/** Some gateways rewrite the names of goods: for them the operator can turn the comparison off. */
export function paymentFromReport({ options }: Core, { gatewayNo, goods, ...paid }: PaymentReport): Paid {
  const compared = options.current.EpayGoodsCheckEnabled ? goods : undefined
  return { ...paid, provider: 'epay', currency: 'CNY', goods: compared, providerId: gatewayNo, paymentId: '' }
}

interface Made {
  readonly user_id: number
  readonly trade_no: string
  readonly method: string
  readonly quota: number
  readonly amount: number
  readonly money_minor: number
  readonly currency: string
}

function epayForm(core: Core, { trade_no: tradeNo, method, amount, money_minor }: Made): PaymentForm {
  const { ServerAddress, CustomCallbackAddress } = core.options.current
  return paymentForm(requireMerchant(core), {
    tradeNo,
    method,
    amount,
    money: moneyText(money_minor),
    notifyUrl: `${CustomCallbackAddress || ServerAddress}/api/user/epay/notify`,
    returnUrl: `${ServerAddress}/topup`,
  })
}

/** The browser gets the page only after the id of its session is stored. */
async function openCheckout(core: WithStripe, made: Made): Promise<PaymentForm> {
  const { trade_no: tradeNo, user_id: userId, money_minor: moneyMinor, currency, quota } = made
  const { ServerAddress, SystemName } = core.options.current
  const name = `${SystemName} ${quotaText(core, quota)}`
  const form = checkoutForm({ tradeNo, userId, name, moneyMinor, currency, returnUrl: `${ServerAddress}/topup` })
  const change = (values: { status?: string; provider_id?: string }) =>
    core.db.updateTable('top_ups').set(values).where('trade_no', '=', tradeNo).where('status', '=', topUpStatus.pending).execute()

  try {
    const { id, url } = await core.stripe.create(requireStripe(core), { form, tradeNo })
    await change({ provider_id: id })
    return { url: url ?? fail('payment_provider_failed'), fields: {} }
  } catch (error) {
    await change({ status: topUpStatus.failed })
    throw error
  }
}

export function requireMerchant({ options }: Core): Merchant {
  return readMerchant(options.current) ?? fail('top_up_disabled')
}

export function requireStripe({ options }: Core): StripeMerchant {
  return readStripeMerchant(options.current) ?? fail('top_up_disabled')
}

/** Throws `payment_method_unknown`, or `top_up_disabled` while the provider of the method is not set up. */
function openProvider(core: Core, method: string): PaymentProvider {
  const { provider } = methodOf(method)
  return openProviders(core).includes(provider) ? provider : fail('top_up_disabled')
}

function typeOf(method: string): string {
  return methodOf(method).type
}

const names = Object.keys(paymentMethods)
const nameOne = { zh: `须为 ${names.join('、')} 之一`, en: `must be one of ${names.join(', ')}` }

/** Throws `payment_method_unknown`, or `field_invalid` when none is named. */
function methodOf(given: string) {
  if (given === '') fail('field_invalid', { field: 'payment_method', reason: nameOne })
  const [, method] = Object.entries(paymentMethods).find(([name]) => name === given) ?? []
  return method ?? fail('payment_method_unknown', { method: given })
}
