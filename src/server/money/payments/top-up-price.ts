import { powerOfTen, product, times } from '../../../contract/decimal.ts'
import { type PaymentProvider, paymentMethods, type TopUpOffer } from '../../../contract/entities/top-up.ts'
import { type Currency, placesOf } from '../../../contract/money.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import { commaListOf } from '../../../contract/options/lists.ts'
import { fail } from '../../base/lib/failure.ts'

/** An amount of quota in units, and its price in minor units of the currency. */
interface TopUpPrice {
  readonly quota: number
  readonly moneyMinor: number
  readonly currency: Currency
}

/** 20 million US dollars at the usual 500,000 units each. */
const quotaMax = 1e13
const moneyMinorMax = 1e14

type Settings = Pick<
  OptionValues,
  | 'DisplayInCurrencyEnabled'
  | 'QuotaPerUnit'
  | 'TopupGroupRatio'
  | 'TopUpDiscounts'
  | 'MinTopUp'
  | 'Price'
  | 'StripeMinTopUp'
  | 'StripeUnitPrice'
  | 'StripeCurrency'
>

/**
 * Prices an amount, which is US dollars if quota is shown as currency and units otherwise. Exact, rounded half up once, to the minor
 * unit. Groups without a ratio pay the normal price; the discount is that of the largest listed amount reached. Throws
 * `top_up_below_minimum`, `amount_out_of_range`, or `top_up_too_small` when the price rounds to zero.
 */
export function topUpPrice(
  settings: Settings,
  { amount, group, provider }: { amount: number; group: string; provider: PaymentProvider },
): TopUpPrice {
  const { DisplayInCurrencyEnabled: inCurrency, QuotaPerUnit: perUsd, TopupGroupRatio } = settings
  const { price, currency } = termsOf(settings, provider)
  const least = leastOf(settings, provider)
  if (!Number.isInteger(amount) || amount < least) fail('top_up_below_minimum', { least })

  const quota = inCurrency ? Math.floor(amount * perUsd) : amount
  if (quota > quotaMax) fail('amount_out_of_range', { field: 'amount' })

  const ratio = Object.hasOwn(TopupGroupRatio, group) ? (TopupGroupRatio[group] ?? 1) : 1
  const share = shareOf(settings, amount)
  const minor = times(product(amount, price, ratio, share), { digits: powerOfTen(placesOf(currency)), places: 0 })
  const divisor = inCurrency ? product(1) : product(perUsd)
  const moneyMinor = Number(nearest(minor.digits * powerOfTen(divisor.places), divisor.digits * powerOfTen(minor.places)))
  if (moneyMinor > moneyMinorMax) fail('amount_out_of_range', { field: 'amount' })
  if (moneyMinor < 1) fail('top_up_too_small')
  return { quota, moneyMinor, currency }
}

/** The payment methods and preset amounts for the given providers; amounts are in the unit of `topUpPrice`. */
export function topUpOffer(
  settings: Settings & Pick<OptionValues, 'TopUpPresets'>,
  providers: readonly PaymentProvider[],
): TopUpOffer {
  const methods = Object.entries(paymentMethods)
    .filter(([, { provider }]) => providers.includes(provider))
    .map(([name, { provider }]) => ({
      name,
      provider,
      currency: termsOf(settings, provider).currency,
      least: leastOf(settings, provider),
    }))
  const { DisplayInCurrencyEnabled: inCurrency, QuotaPerUnit: perUsd } = settings
  const presets = commaListOf(settings.TopUpPresets)
    .map((usd) => Math.ceil(Number(usd) * (inCurrency ? 1 : perUsd)))
    .map((amount) => ({ amount, share: shareOf(settings, amount) }))
  return { methods, presets }
}

/** The price of one US dollar of quota, the least amount in US dollars, and the currency of the price. */
function termsOf(settings: Settings, provider: PaymentProvider): { price: number; least: number; currency: Currency } {
  return provider === 'stripe'
    ? { price: settings.StripeUnitPrice, least: settings.StripeMinTopUp, currency: settings.StripeCurrency }
    : { price: settings.Price, least: settings.MinTopUp, currency: 'CNY' }
}

function leastOf(settings: Settings, provider: PaymentProvider): number {
  const { DisplayInCurrencyEnabled: inCurrency, QuotaPerUnit: perUsd } = settings
  return Math.ceil(termsOf(settings, provider).least * (inCurrency ? 1 : perUsd))
}

/** The share of the full price to pay for an amount: 1 without a discount. */
function shareOf(
  { DisplayInCurrencyEnabled: inCurrency, QuotaPerUnit: perUsd, TopUpDiscounts }: Settings,
  amount: number,
): number {
  const reached = Object.entries(TopUpDiscounts).filter(([usd]) => Number(usd) * (inCurrency ? 1 : perUsd) <= amount)
  const [, share] = reached.reduce(
    ([most, best], [usd, each]) => (Number(usd) > most ? [Number(usd), each] : [most, best]),
    [0, 1],
  )
  return share
}

/** The nearest integer to a fraction of positive numbers; a half is rounded up. */
function nearest(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator)
}
