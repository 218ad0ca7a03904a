import { familyAudioRatio } from '../../contract/completion-rules.ts'
import { type ModelPrice, type PriceFactors, type PriceOptions, ratioPriceOf } from '../../contract/model-price.ts'
import type { OptionValues } from '../../contract/options/index.ts'
import type { TokenPrices } from '../../contract/routes/pricing.ts'
import type { PriceData, PublicPrice, Uncovered } from './price-data.ts'
import { ratiosOf } from './ratios-of.ts'

/** The vendors that sell a model through the channels of this site. A new object whenever a channel changes. */
export interface Vendors {
  /** Ids in the price data, each once. Empty for a model that no channel serves. */
  vendorsOf(model: string): readonly string[]
}

/** The public price of a model, or why it is not used. */
export type PublicModel = { readonly price: ModelPrice } | { readonly uncovered: Uncovered }

/**
 * The public prices of models by the vendors of the channels that serve them: if vendors differ, the most expensive is used. Each name
 * is looked up once; rebuild it when the options, the channels or the day change. Undefined for models without a price in the data.
 */
export function publicPrices(
  options: OptionValues,
  { data, vendors, nowMs }: { readonly data: PriceData; readonly vendors: Vendors; readonly nowMs: number },
): (model: string) => PublicModel | undefined {
  const known = new Map<string, PublicModel | undefined>()

  function find(model: string): PublicModel | undefined {
    const found = vendors.vendorsOf(model).flatMap((vendor) => data.of(vendor, model, nowMs) ?? [])
    const [dearest, ...others] = found.filter(({ uncovered }) => !uncovered).sort((a, b) => plainCost(b) - plainCost(a))
    if (!dearest) return found[0]?.uncovered && { uncovered: found[0].uncovered }
    const cheaper = others.filter((other) => plainCost(other) < plainCost(dearest)).map(({ vendor }) => vendor)
    const source = { vendor: dearest.vendor, date: data.date, ...(cheaper.length > 0 ? { cheaper } : {}) }
    const steps = dearest.steps.map(({ above, prices }) => ({ above, price: factorsOf(options, model, prices) }))
    const price = { ...factorsOf(options, model, dearest.prices), source, ...(steps.length > 0 ? { steps } : {}) }
    return { price: Object.freeze(price) }
  }

  return (model) => {
    if (known.has(model)) return known.get(model)
    // Callers make up names where a channel serves patterns.
    if (known.size >= knownMax) known.clear()
    const found = find(model)
    known.set(model, found)
    return found
  }
}

const knownMax = 5_000

/** The price of equal parts of input and output, averaged over all prompt lengths. */
function plainCost({ prices, steps }: PublicPrice): number {
  return (
    [prices, ...steps.map((step) => step.prices)].reduce((sum, { input, output }) => sum + input + output, 0) / (steps.length + 1)
  )
}

/** An administrator's value takes precedence over the data, and the data over the default of its family. */
function factorsOf(options: PriceOptions & Pick<OptionValues, 'QuotaPerUnit'>, model: string, prices: TokenPrices): PriceFactors {
  const { ModelRatio, ...ratios } = ratiosOf(withSound(model, prices), options.QuotaPerUnit)
  const maps = Object.entries(ratios).map(([name, ratio]) => {
    // The names of the ratios are those of the options.
    const set = options[name as keyof typeof ratios]
    return [name, Object.hasOwn(set, model) ? set : { [model]: ratio }]
  })
  return ratioPriceOf({ ...options, ...Object.fromEntries(maps) }, model, ModelRatio)
}

/** Audio output costs as much as text if neither the data nor the family has an audio price. */
function withSound(model: string, prices: TokenPrices): TokenPrices {
  if (prices.audio_input !== null || prices.audio_output !== null || familyAudioRatio(model) !== 1) return prices
  return { ...prices, audio_output: Math.max(prices.output, prices.input * 2) }
}
