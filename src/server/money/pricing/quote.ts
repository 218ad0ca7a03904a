import { numberIn } from '../../../contract/by-model.ts'
import { type Decimal, decimalOf, decimalText, digitsAt, product, roundedUp, sumOf, times } from '../../../contract/decimal.ts'
import type { LaterPrice, PriceFactors, PriceSource, PriceStep, PriceWindow } from '../../../contract/model-price.ts'
import { cacheWriteFactors } from '../../../contract/options/extra-prices.ts'
import {
  type Bucket,
  buckets,
  type LongCacheLifetime,
  promptTokens,
  type Tier,
  type ToolCalls,
  type Usage,
} from '../../../contract/usage.ts'
import { fail } from '../../base/lib/failure.ts'

/**
 * Usage times price is money: the only place that computes and rounds an amount. Pure, and exact: every factor counts as the decimal
 * number that it is written as, the product is computed in integers, and the sum is rounded up once to whole units.
 */

/**
 * A price at the time when the request was admitted: every factor that its charge needs. It is stored in the log row, so that the
 * charge can be recomputed from the row alone.
 */
export interface Price extends PriceFactors {
  readonly group: string
  readonly groupRatio: number
  /** Quota units of one US dollar. */
  readonly quotaPerUnit: number
  /** No price was set; the fallback ratio is in use. */
  readonly unpriced: boolean
  /** Absent for the fallback and for free models. */
  readonly source?: PriceSource
  /** The prices of longer prompts, in the same group; see `priceAt`. */
  readonly steps?: readonly PriceStep<Price>[]
  /** When it applies; absent for a price without dates and hours. */
  readonly window?: PriceWindow
  /** The prices that begin before the call must have ended, in ascending order; see `priceMet`. */
  readonly later?: readonly LaterPrice<Price>[]
}

/** A call's usage of a model, and its price. */
export interface PricedUsage {
  readonly price: Price
  readonly usage: Usage
}

/**
 * Cost of one finished call in quota units, rounded up once at the end. Pure: same input, same answer.
 *
 * By tokens, a ratio of 1 is one unit per token whatever QuotaPerUnit is:
 *   (input + cacheRead × cacheRatio + cachedAudio × audioCacheRatio + cachedImage × imageCacheRatio
 *     + (cacheWrite + each longer cache write × its cacheWriteFactor) × createCacheRatio
 *     + audioInput × audioRatio + imageInput × imageRatio
 *     + output × completionRatio + audioOutput × audioRatio × audioCompletionRatio + imageOutput × imageCompletionRatio
 *     + videoOutput × videoCompletionRatio)
 *   × modelRatio × groupRatio × tierFactor
 * A fixed price ignores the tokens: fixedUsd × calls × quotaPerUnit × groupRatio × tierFactor. Both add
 * (searches × searchUsd + each tool call × its toolUsd) × quotaPerUnit × groupRatio. `usage.tier` is the tier that is charged. What
 * `others` did for the call is added by the same formula, each at its own price. A price with steps is that of the prompt's length.
 *
 * Throws `amount_out_of_range` for a count that is no integer from 0 to a billion, and for a cost beyond the exact integers.
 */
export function costOf(price: Price, usage: Usage, others: readonly PricedUsage[] = []): number {
  const amount = amountOf(price, usage)
  return wholeUnits(others.length === 0 ? amount : sumOf([amount, ...others.map((other) => amountOf(other.price, other.usage))]))
}

/** The price of a call whose prompt has this many tokens: that of the highest step that it exceeds. Pure. */
export function priceAt(price: Price, promptTokens: number): Price {
  return price.steps?.findLast(({ above }) => promptTokens > above)?.price ?? price
}

/** The price of a call that ends at this moment, in Unix milliseconds: the last that has begun. Pure. */
export function priceMet(price: Price, endedMs: number): Price {
  return price.later?.findLast(({ at }) => at <= endedMs)?.price ?? price
}

/** All prices that a call can meet before it ends; see `priceMet`. Pure. */
export function pricesToMeet(price: Price): readonly Price[] {
  return price.later ? [price, ...price.later.map((each) => each.price)] : [price]
}

/** The cost of a usage at the dearest price that the call can meet. Pure. Throws as `costOf` does. */
export function dearestCost(price: Price, usage: Usage): number {
  return price.later ? Math.max(...pricesToMeet(price).map((each) => costOf(each, usage))) : costOf(price, usage)
}

/** The factor of a tier on the price of tokens; 1 without one. Pure. */
export function tierFactor(price: Pick<Price, 'tierFactors'>, tier: Tier | undefined): number {
  if (!tier) return 1
  const factors = Object.values(tier).map((value) => decimalOf(numberIn(price.tierFactors, value) ?? 1))
  return Number(decimalText(factors.reduce(times, decimalOf(1))))
}

/** The price of calls that vendors do not charge for. */
export function freePrice(model: string, group: string): Price {
  return {
    model,
    group,
    fixedUsd: 0,
    modelRatio: 0,
    completionRatio: 0,
    cacheRatio: 0,
    createCacheRatio: 0,
    cacheWriteFactors,
    audioRatio: 0,
    audioCompletionRatio: 0,
    audioCacheRatio: 0,
    imageRatio: 0,
    imageCompletionRatio: 0,
    imageCacheRatio: 0,
    videoCompletionRatio: 0,
    searchUsd: 0,
    toolUsd: {},
    tierFactors: {},
    groupRatio: 1,
    quotaPerUnit: 1,
    unpriced: false,
  }
}

const tokensMax = 1_000_000_000
const unitsMax = BigInt(Number.MAX_SAFE_INTEGER)

type Rated = Bucket | 'searches'

/** The price of one unit of each kind, as digits of decimals with the same number of places. */
type Rate = Readonly<Record<Rated, bigint>> & { readonly places: number }

const rates = new WeakMap<Price, Rate>()

function rateOf(price: Price): Rate {
  const known = rates.get(price)
  if (known) return known
  const { modelRatio, groupRatio, completionRatio, cacheRatio, createCacheRatio, audioRatio, audioCompletionRatio } = price
  const written = (lifetime: LongCacheLifetime) =>
    product(modelRatio, groupRatio, createCacheRatio, price.cacheWriteFactors[lifetime])
  const each: Readonly<Record<Rated, Decimal>> = {
    input: product(modelRatio, groupRatio),
    cacheRead: product(modelRatio, groupRatio, cacheRatio),
    cachedAudio: product(modelRatio, groupRatio, price.audioCacheRatio),
    cachedImage: product(modelRatio, groupRatio, price.imageCacheRatio),
    cacheWrite: product(modelRatio, groupRatio, createCacheRatio),
    cacheWrite30m: written('30m'),
    cacheWrite1h: written('1h'),
    cacheWrite12h: written('12h'),
    audioInput: product(modelRatio, groupRatio, audioRatio),
    imageInput: product(modelRatio, groupRatio, price.imageRatio),
    output: product(modelRatio, groupRatio, completionRatio),
    audioOutput: product(modelRatio, groupRatio, audioRatio, audioCompletionRatio),
    imageOutput: product(modelRatio, groupRatio, price.imageCompletionRatio),
    videoOutput: product(modelRatio, groupRatio, price.videoCompletionRatio),
    searches: product(price.searchUsd, price.quotaPerUnit, groupRatio),
  }
  const places = Math.max(...Object.values(each).map((decimal) => decimal.places))
  const digits = Object.fromEntries(Object.entries(each).map(([name, decimal]) => [name, digitsAt(decimal, places)]))
  // One entry for each of them was made in the line above.
  const rate = { ...digits, places } as Rate
  rates.set(price, rate)
  return rate
}

function amountOf(base: Price, usage: Usage): Decimal {
  const price = base.steps ? priceAt(base, promptTokens(usage)) : base
  const rate = rateOf(price)
  const plain = price.fixedUsd >= 0 ? fixedAmount(price, usage) : tokenAmount(rate, usage)
  const { tier, searches, toolCalls } = usage
  const tiered = tier ? times(plain, decimalOf(tierFactor(price, tier))) : plain
  if (searches === 0 && !toolCalls) return tiered
  const searched = { digits: rate.searches * tokens('searches', searches), places: rate.places }
  return sumOf([tiered, searched, ...toolAmounts(price, toolCalls ?? {})])
}

function tokenAmount(rate: Rate, usage: Usage): Decimal {
  let digits = 0n
  for (const bucket of buckets) {
    const count = usage[bucket]
    if (count !== 0) digits += rate[bucket] * tokens(bucket, count)
  }
  return { digits, places: rate.places }
}

function fixedAmount({ fixedUsd, quotaPerUnit, groupRatio }: Price, { calls }: Usage): Decimal {
  if (!(calls >= 0 && calls <= callsMax)) fail('amount_out_of_range', { field: 'n' })
  return product(fixedUsd, quotaPerUnit, groupRatio, calls)
}

function toolAmounts({ toolUsd, quotaPerUnit, groupRatio }: Price, calls: ToolCalls): Decimal[] {
  return Object.entries(calls).map(([name, count]) => {
    const { digits, places } = product(numberIn(toolUsd, name) ?? 0, quotaPerUnit, groupRatio)
    return { digits: digits * tokens(name, count), places }
  })
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
