import { product, times } from '../../contract/decimal.ts'
import type { OptionValues } from '../../contract/options/index.ts'
import { fail } from '../lib/failure.ts'

/** What an amount of quota is in units, and what it costs in hundredths of a yuan. */
export interface TopUpPrice {
  readonly quota: number
  readonly moneyMinor: number
}

/** 20 million US dollars at the usual 500,000 units each. */
const quotaMax = 1e13
const moneyMinorMax = 1e14

type Settings = Pick<OptionValues, 'DisplayInCurrencyEnabled' | 'QuotaPerUnit' | 'MinTopUp' | 'Price' | 'TopupGroupRatio'>

/**
 * Prices an amount, which is US dollars where quota is shown in currency and units where it is not. Exact, rounded half up once, to the
 * hundredth. Groups without a ratio pay the price itself. Throws `top_up_below_minimum`, `amount_out_of_range`, or `top_up_too_small`
 * for what would cost nothing.
 */
export function topUpPrice(settings: Settings, { amount, group }: { amount: number; group: string }): TopUpPrice {
  const { DisplayInCurrencyEnabled: inCurrency, QuotaPerUnit: perUsd, Price, TopupGroupRatio } = settings
  const least = Math.ceil(settings.MinTopUp * (inCurrency ? 1 : perUsd))
  if (!Number.isInteger(amount) || amount < least) fail('top_up_below_minimum', { least })

  const quota = inCurrency ? Math.floor(amount * perUsd) : amount
  if (quota > quotaMax) fail('amount_out_of_range', { field: 'amount' })

  const ratio = Object.hasOwn(TopupGroupRatio, group) ? (TopupGroupRatio[group] ?? 1) : 1
  const hundredths = times(product(amount, Price, ratio), { digits: 100n, places: 0 })
  const divisor = inCurrency ? product(1) : product(perUsd)
  const moneyMinor = Number(
    nearest(hundredths.digits * 10n ** BigInt(divisor.places), divisor.digits * 10n ** BigInt(hundredths.places)),
  )
  if (moneyMinor > moneyMinorMax) fail('amount_out_of_range', { field: 'amount' })
  if (moneyMinor < 1) fail('top_up_too_small')
  return { quota, moneyMinor }
}

/** `12.34` */
export function moneyText(minor: number): string {
  return `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`
}

/** The integer that is nearest to a fraction of positive numbers; a half goes up. */
function nearest(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator)
}
