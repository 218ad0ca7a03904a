import { type Decimal, digitsAt, product, roundedUp } from '../../contract/decimal.ts'
import { oneHourWriteFactor } from '../../contract/quota.ts'
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
  return wholeUnits({ digits: total, places: rate.places })
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

const tokensMax = 1_000_000_000
const unitsMax = BigInt(Number.MAX_SAFE_INTEGER)

/** Units per token of each bucket, as the digits of decimals with the same number of places. */
type Rate =
  | (Readonly<Record<'input' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h' | 'output', bigint>> & { readonly places: number })
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
  return { fixed: wholeUnits(product(fixedUsd, quotaPerUnit, groupRatio)) }
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

  return {
    input: digitsAt(buckets.input, places),
    cacheRead: digitsAt(buckets.cacheRead, places),
    cacheWrite: digitsAt(buckets.cacheWrite, places),
    cacheWrite1h: digitsAt(buckets.cacheWrite1h, places),
    output: digitsAt(buckets.output, places),
    places,
  }
}

function tokens(field: string, count: number): bigint {
  if (!Number.isInteger(count) || count < 0 || count > tokensMax) fail('amount_out_of_range', { field })
  return BigInt(count)
}

function wholeUnits(amount: Decimal): number {
  const units = roundedUp(amount)
  if (units > unitsMax) fail('amount_out_of_range', { field: 'quota' })
  return Number(units)
}
