import { type Decimal, digitsAt, product, roundedUp, sumOf } from '../../contract/decimal.ts'
import type { ModelPrice } from '../../contract/model-price.ts'
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
export interface Price extends ModelPrice {
  readonly group: string
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
 *   (input + cacheRead × cacheRatio + cacheWrite × createCacheRatio + cacheWrite1h × createCacheRatio × 1.6
 *     + audioInput × audioRatio + imageInput × imageRatio
 *     + output × completionRatio + audioOutput × audioRatio × audioCompletionRatio + imageOutput × imageCompletionRatio)
 *   × modelRatio × groupRatio
 * A fixed price ignores the tokens: fixedUsd × calls × quotaPerUnit × groupRatio. Both add searches × searchUsd × quotaPerUnit × groupRatio.
 *
 * Throws `amount_out_of_range` for a count that is no integer from 0 to a billion, and for a cost beyond the exact integers.
 */
export function costOf(price: Price, usage: Usage): number {
  const rate = rateOf(price)
  if (price.fixedUsd >= 0) return fixedCost(price, rate, usage)

  let digits = 0n
  for (const bucket of buckets) {
    const count = usage[bucket]
    if (count !== 0) digits += rate[bucket] * tokens(bucket, count)
  }
  return wholeUnits({ digits, places: rate.places })
}

/**
 * What to hold for a call before it starts, in quota units: its input at the plain input ratio and the most output that it may
 * produce, at the dearest ratio that the model's output has. A request that declares no limit has none; the caller then gives the number
 * of tokens to reserve for it. `calls` is how often a price per call may become due.
 *
 * Throws `amount_out_of_range` as `costOf` does.
 */
export function estimateOf(
  price: Price,
  { inputTokens, outputTokensMax, calls = 1 }: { inputTokens: number; outputTokensMax: number; calls?: number },
): number {
  return costOf(price, { ...noUsage, input: inputTokens, output: outputTokensMax, calls })
}

/** The price of calls that vendors take nothing for. */
export function freePrice(model: string, group: string): Price {
  return {
    model,
    group,
    fixedUsd: 0,
    modelRatio: 0,
    completionRatio: 0,
    cacheRatio: 0,
    createCacheRatio: 0,
    audioRatio: 0,
    audioCompletionRatio: 0,
    imageRatio: 0,
    imageCompletionRatio: 0,
    searchUsd: 0,
    groupRatio: 1,
    quotaPerUnit: 1,
    unpriced: false,
  }
}

const tokensMax = 1_000_000_000
const unitsMax = BigInt(Number.MAX_SAFE_INTEGER)

/** What is counted, in the order of the bill. */
const buckets = [
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'audioInput',
  'imageInput',
  'output',
  'audioOutput',
  'imageOutput',
  'searches',
] as const satisfies readonly (keyof Usage)[]

/** Units of one of each bucket, as the digits of decimals with the same number of places. */
type Rate = Readonly<Record<(typeof buckets)[number], bigint>> & { readonly places: number }

const rates = new WeakMap<Price, Rate>()

function rateOf(price: Price): Rate {
  const known = rates.get(price)
  if (known) return known
  const { modelRatio, groupRatio, completionRatio, cacheRatio, createCacheRatio, audioRatio, audioCompletionRatio } = price
  const each: Readonly<Record<(typeof buckets)[number], Decimal>> = {
    input: product(modelRatio, groupRatio),
    cacheRead: product(modelRatio, groupRatio, cacheRatio),
    cacheWrite: product(modelRatio, groupRatio, createCacheRatio),
    cacheWrite1h: product(modelRatio, groupRatio, createCacheRatio, oneHourWriteFactor),
    audioInput: product(modelRatio, groupRatio, audioRatio),
    imageInput: product(modelRatio, groupRatio, price.imageRatio),
    output: product(modelRatio, groupRatio, completionRatio),
    audioOutput: product(modelRatio, groupRatio, audioRatio, audioCompletionRatio),
    imageOutput: product(modelRatio, groupRatio, price.imageCompletionRatio),
    searches: product(price.searchUsd, price.quotaPerUnit, groupRatio),
  }
  const places = Math.max(...Object.values(each).map((decimal) => decimal.places))
  const digits = Object.fromEntries(buckets.map((bucket) => [bucket, digitsAt(each[bucket], places)]))
  // One entry for each bucket was made in the line above.
  const rate = { ...digits, places } as Rate
  rates.set(price, rate)
  return rate
}

function fixedCost({ fixedUsd, quotaPerUnit, groupRatio }: Price, rate: Rate, { calls, searches }: Usage): number {
  if (!(calls >= 0 && calls <= callsMax)) fail('amount_out_of_range', { field: 'n' })
  const searched = { digits: rate.searches * tokens('searches', searches), places: rate.places }
  return wholeUnits(sumOf([product(fixedUsd, quotaPerUnit, groupRatio, calls), searched]))
}

const callsMax = 10_000

function tokens(field: string, count: number): bigint {
  if (!Number.isInteger(count) || count < 0 || count > tokensMax) fail('amount_out_of_range', { field })
  return BigInt(count)
}

function wholeUnits(amount: Decimal): number {
  const units = roundedUp(amount)
  if (units > unitsMax) fail('amount_out_of_range', { field: 'quota' })
  return Number(units)
}
