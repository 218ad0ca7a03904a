import { entriesFor, numberIn } from '../../../contract/by-model.ts'
import { familyAudioRatio } from '../../../contract/completion-rules.ts'
import {
  type ModelPrice,
  type PriceFactors,
  type PriceOptions,
  type PublicPriceSource,
  ratioPriceOf,
} from '../../../contract/model-price.ts'
import { defaults } from '../../../contract/options/defaults.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import type { TokenPrices } from '../../../contract/routes/pricing.ts'
import type { PriceData, PublicPrice, Uncovered } from './price-data.ts'
import { ratiosOf } from './ratios-of.ts'

/** The vendors that sell a model through the channels of this site. A new object whenever a channel changes. */
export interface Vendors {
  /** Ids in the price data, each once. Empty for a model that no channel serves. */
  vendorsOf(model: string): readonly string[]
}

/** The public price of a model, or why it is not used. */
export type PublicModel = PricedPublicly | { readonly uncovered: Uncovered }

export interface PricedPublicly {
  readonly price: ModelPrice
  /** How many of `price.later` a call that begins now can meet. */
  readonly soon: number
}

/** How long a call is expected to last: its hold covers every price that begins meanwhile. */
const callMs = 3_600_000

/**
 * The public prices of models at a moment, by the vendors of the channels that serve them: if vendors differ, the most expensive is used.
 * Each name is looked up once until its price changes; rebuild it when the options or the channels change. Undefined for models without a
 * price in the data.
 */
export function publicPrices(
  options: OptionValues,
  { data, vendors }: { readonly data: PriceData; readonly vendors: Vendors },
): (model: string, nowMs: number) => PublicModel | undefined {
  const known = new Map<string, { found: PublicModel | undefined; sinceMs: number; untilMs: number }>()

  /** The price that is charged at a moment, with all moments at which a vendor's price changes. */
  function at(model: string, ms: number): { found: ModelPrice | Uncovered | undefined; changes: readonly number[] } {
    const offers = vendors.vendorsOf(model).flatMap((vendor) => data.of(vendor, model, ms) ?? [])
    const changes = [...new Set(offers.flatMap((offer) => offer.changes))].sort((a, b) => a - b)
    const [dearest, ...others] = offers.filter(({ uncovered }) => !uncovered).sort((a, b) => plainCost(b) - plainCost(a))
    if (!dearest) return { found: offers[0]?.uncovered, changes }
    const cheaper = others.filter((other) => plainCost(other) < plainCost(dearest)).map(({ vendor }) => vendor)
    const source = { vendor: dearest.vendor, date: data.date, ...(cheaper.length > 0 ? { cheaper } : {}) }
    return { found: priceOf(options, model, { offer: dearest, source }), changes }
  }

  function find(model: string, nowMs: number) {
    const { found, changes } = at(model, nowMs)
    const begins = changes.map((ms) => (ms - callMs > nowMs ? ms - callMs : ms))
    const kept = { sinceMs: nowMs, untilMs: Math.min(...begins, Number.POSITIVE_INFINITY) }
    if (typeof found !== 'object') return { ...kept, found: found && { uncovered: found } }
    const later = changes.flatMap((ms) => {
      const next = at(model, ms).found
      return typeof next === 'object' ? [{ at: ms, price: next }] : []
    })
    const price = Object.freeze({ ...found, ...(later.length > 0 ? { later } : {}) })
    return { ...kept, found: { price, soon: later.filter((next) => next.at <= nowMs + callMs).length } }
  }

  return (model, nowMs) => {
    const kept = known.get(model)
    if (kept && kept.sinceMs <= nowMs && nowMs < kept.untilMs) return kept.found
    // Callers make up names where a channel serves patterns.
    if (known.size >= knownMax) known.clear()
    const next = find(model, nowMs)
    known.set(model, next)
    return next.found
  }
}

const knownMax = 5_000

function priceOf(
  options: OptionValues,
  model: string,
  { offer, source }: { readonly offer: PublicPrice; readonly source: PublicPriceSource },
): ModelPrice {
  const { prices, steps, tiers, from, hours } = offer
  const factors = (of: TokenPrices) => factorsOf(options, model, { prices: of, tiers })
  const inSteps = steps.map((step) => ({ above: step.above, price: factors(step.prices) }))
  return {
    ...factors(prices),
    source,
    ...(inSteps.length > 0 ? { steps: inSteps } : {}),
    ...(from !== '' || hours !== '' ? { window: { from, hours } } : {}),
  }
}

/** The price of equal parts of input and output, averaged over all prompt lengths. */
function plainCost({ prices, steps }: PublicPrice): number {
  return (
    [prices, ...steps.map((step) => step.prices)].reduce((sum, { input, output }) => sum + input + output, 0) / (steps.length + 1)
  )
}

/** An administrator's value takes precedence over the data, and the data over the defaults of the site and of the model's family. */
function factorsOf(
  options: PriceOptions & Pick<OptionValues, 'QuotaPerUnit'>,
  model: string,
  { prices, tiers }: Pick<PublicPrice, 'prices' | 'tiers'>,
): PriceFactors {
  const { ModelRatio, ...ratios } = ratiosOf(withSound(model, prices), options.QuotaPerUnit)
  const maps = Object.entries(ratios).map(([name, ratio]) => {
    // The names of the ratios are those of the options.
    const set = options[name as keyof typeof ratios]
    return [name, Object.hasOwn(set, model) ? set : { [model]: ratio }]
  })
  const price = ratioPriceOf({ ...options, ...Object.fromEntries(maps) }, model, ModelRatio)
  return { ...price, tierFactors: { ...price.tierFactors, ...withoutOwn(tiers, price.tierFactors, model) } }
}

/** The factors of tiers that no administrator has set for the model. */
function withoutOwn(tiers: PublicPrice['tiers'], set: PublicPrice['tiers'], model: string): PublicPrice['tiers'] {
  const byDefault = entriesFor(defaults.TierFactor, model)
  return Object.fromEntries(Object.entries(tiers).filter(([tier]) => numberIn(set, tier) === numberIn(byDefault, tier)))
}

/** Audio output costs as much as text if neither the data nor the family has an audio price. */
function withSound(model: string, prices: TokenPrices): TokenPrices {
  if (prices.audio_input !== null || prices.audio_output !== null || familyAudioRatio(model) !== 1) return prices
  return { ...prices, audio_output: Math.max(prices.output, prices.input * 2) }
}
