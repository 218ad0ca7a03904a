import { noUsage, type Usage } from '../../contract/usage.ts'
import { fail } from '../lib/failure.ts'

/**
 * Usage times price is money: the only place that computes and rounds an amount. Pure, and exact: every factor counts as the decimal
 * number that it is written as, the product is computed in integers, and what remains of the last unit is rounded up once.
 */

/**
 * A price as it stood when the request was admitted: every factor that its charge needs. It is stored in the log row, so that the
 * charge can be recomputed from the row alone.
 */
export interface Price {
  readonly model: string
  readonly group: string
  /** USD per call; -1 when the charge is by tokens. */
  readonly fixedUsd: number
  readonly modelRatio: number
  readonly completionRatio: number
  readonly cacheRatio: number
  readonly createCacheRatio: number
  readonly groupRatio: number
  /** Quota units of one US dollar. */
  readonly quotaPerUnit: number
  /** No price was set; the fallback ratio is in use. */
  readonly unpriced: boolean
}

/**
 * Cost of one finished call in quota units, rounded up once at the end. Pure: same input, same answer.
 *
 * By tokens, a ratio of 1 is one unit per token whatever QuotaPerUnit is:
 *   (input + cacheRead × cacheRatio + cacheWrite × createCacheRatio + cacheWrite1h × createCacheRatio × 1.6 + output × completionRatio)
 *   × modelRatio × groupRatio
 * A fixed price ignores the usage: fixedUsd × quotaPerUnit × groupRatio.
 *
 * Throws `amount_out_of_range` for a count that is no integer from 0 to a billion, and for a cost beyond the exact integers.
 */
export function costOf(price: Price, usage: Usage): number {
  const rate = rateOf(price)
  if ('fixed' in rate) return rate.fixed

  const total =
    rate.input * tokens('input', usage.input) +
    rate.cacheRead * tokens('cacheRead', usage.cacheRead) +
    rate.cacheWrite * tokens('cacheWrite', usage.cacheWrite) +
    rate.cacheWrite1h * tokens('cacheWrite1h', usage.cacheWrite1h) +
    rate.output * tokens('output', usage.output)
  return roundedUp(total, rate.unit)
}

/**
 * What to hold for a call before it starts, in quota units: its input at the plain input ratio and the most output that it may
 * produce. A request that declares no limit has none; the caller then gives the number of tokens to reserve for it.
 *
 * Throws `amount_out_of_range` as `costOf` does.
 */
export function estimateOf(
  price: Price,
  { inputTokens, outputTokensMax }: { inputTokens: number; outputTokensMax: number },
): number {
  return costOf(price, { ...noUsage, input: inputTokens, output: outputTokensMax })
}

/**
 * A one-hour cache write costs twice the input price where a five-minute one costs 1.25 times as much: 2 / 1.25.
 * Source: Anthropic's price list, prompt caching, April 2025.
 */
const oneHourWriteFactor = 1.6

const tokensMax = 1_000_000_000
const unitsMax = BigInt(Number.MAX_SAFE_INTEGER)

/** Units per token of each bucket, as integers of which `unit` are one quota unit. */
type Rate =
  | Readonly<Record<'input' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h' | 'output' | 'unit', bigint>>
  | { readonly fixed: number }

const rates = new WeakMap<Price, Rate>()

function rateOf(price: Price): Rate {
  const known = rates.get(price)
  if (known) return known
  const rate = price.fixedUsd >= 0 ? fixedRate(price) : tokenRate(price)
  rates.set(price, rate)
  return rate
}

function fixedRate({ fixedUsd, quotaPerUnit, groupRatio }: Price): Rate {
  const cost = product(fixedUsd, quotaPerUnit, groupRatio)
  return { fixed: roundedUp(cost.digits, 10n ** BigInt(cost.places)) }
}

function tokenRate({ modelRatio, groupRatio, completionRatio, cacheRatio, createCacheRatio }: Price): Rate {
  const buckets = {
    input: product(modelRatio, groupRatio),
    cacheRead: product(modelRatio, groupRatio, cacheRatio),
    cacheWrite: product(modelRatio, groupRatio, createCacheRatio),
    cacheWrite1h: product(modelRatio, groupRatio, createCacheRatio, oneHourWriteFactor),
    output: product(modelRatio, groupRatio, completionRatio),
  }
  const places = Math.max(...Object.values(buckets).map((bucket) => bucket.places))
  const aligned = (bucket: Decimal) => bucket.digits * 10n ** BigInt(places - bucket.places)

  return {
    input: aligned(buckets.input),
    cacheRead: aligned(buckets.cacheRead),
    cacheWrite: aligned(buckets.cacheWrite),
    cacheWrite1h: aligned(buckets.cacheWrite1h),
    output: aligned(buckets.output),
    unit: 10n ** BigInt(places),
  }
}

/** digits / 10^places */
interface Decimal {
  readonly digits: bigint
  readonly places: number
}

function product(...factors: readonly number[]): Decimal {
  return factors
    .map(decimalOf)
    .reduce((left, right) => ({ digits: left.digits * right.digits, places: left.places + right.places }))
}

/** The shortest decimal that names this number, which is how it was written in the options: 0.1 is a tenth. */
function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = BigInt(whole + fraction)
  const places = fraction.length - Number(exponent)
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 }
}

function tokens(field: string, count: number): bigint {
  if (!Number.isInteger(count) || count < 0 || count > tokensMax) fail('amount_out_of_range', { field })
  return BigInt(count)
}

function roundedUp(total: bigint, unit: bigint): number {
  const units = (total + unit - 1n) / unit
  if (units > unitsMax) fail('amount_out_of_range', { field: 'quota' })
  return Number(units)
}
