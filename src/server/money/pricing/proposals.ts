import type { ModelPrice, PriceFactors, PublicPriceSource } from '../../../contract/model-price.ts'
import type { OptionKey, OptionValues } from '../../../contract/options/index.ts'
import { ratioToUsdPerMillion } from '../../../contract/quota.ts'
import type { PricedModel, PriceProposal, TokenPrices } from '../../../contract/routes/pricing.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import type { Catalog } from './catalog.ts'
import type { PriceBook } from './price-book.ts'
import { ratiosOf } from './ratios-of.ts'

/**
 * Proposals from the public price data: an admin sees the differences and accepts some, which become the site's own prices. If a price
 * rises with the length of the prompt, the price of the longest prompts is proposed.
 */
type Parts = Pick<Core, 'options' | 'now'> & { readonly catalog: Catalog; readonly priceBook: PriceBook }

/** The models with another price in the price data. Models that are charged by that data already are left out. */
export function proposePrices({ catalog, options, priceBook, now }: Parts, models: readonly string[]): PriceProposal[] {
  const nowMs = now()
  return [...new Set(models)].sort().flatMap((model) => {
    const set = catalog.modelPriceOf(model)
    if (typeof set?.source === 'object') return []
    const found = priceBook.current.ofOwnVendor(model, nowMs)
    if (!found) return []
    const proposed = found.steps.at(-1)?.prices ?? found.prices
    const isPerCall = set !== undefined && set.fixedUsd >= 0
    const current = set && !isPerCall ? pricesOf(set, options.current.QuotaPerUnit) : null
    if (current && isSame(current, proposed)) return []
    return [
      {
        ...{ model, vendor: found.vendor, current, current_per_call: isPerCall ? set.fixedUsd : null },
        ...{ proposed, steps_above: found.steps[0]?.above ?? null },
      },
    ]
  })
}

/** The source of each model's price. Served models may have a proposal. */
export function pricedModels(
  app: Parts,
  { served, others }: { served: readonly string[]; others: readonly string[] },
): PricedModel[] {
  const isServed = new Set(served)
  const unpriced = served.filter((model) => app.catalog.modelPriceOf(model) === undefined)
  const proposals = new Map(proposePrices(app, unpriced).map((proposal) => [proposal.model, proposal]))
  return [...new Set([...served, ...others])].sort().map((model) => {
    const price = app.catalog.modelPriceOf(model)
    const { source } = price ?? {}
    return {
      ...{ model, served: isServed.has(model) },
      source: typeof source === 'object' ? 'public' : (source ?? null),
      charged: price && typeof source === 'object' ? chargedBy(app, price, source) : null,
      uncovered: price ? null : (app.catalog.uncovered(model) ?? null),
      proposal: proposals.get(model) ?? null,
    }
  })
}

function chargedBy({ options }: Parts, price: ModelPrice, { vendor, cheaper = [] }: PublicPriceSource): PricedModel['charged'] {
  const { QuotaPerUnit } = options.current
  const steps = (price.steps ?? []).map((step) => ({ above: step.above, prices: pricesOf(step.price, QuotaPerUnit) }))
  return { vendor, cheaper: [...cheaper], prices: pricesOf(price, QuotaPerUnit), steps }
}

/** Writes the ratios of the proposed prices of these models, all at once. Returns how many models had one. */
export async function acceptPrices(app: Parts, models: readonly string[], caller: Caller): Promise<number> {
  const proposals = proposePrices(app, models)
  if (proposals.length === 0) return 0
  await app.options.edit(caller, (values) =>
    Object.fromEntries(Object.entries(ratioMaps(values, proposals)).map(([key, map]) => [key, JSON.stringify(map)])),
  )
  return proposals.length
}

function pricesOf(price: PriceFactors, quotaPerUnit: number): TokenPrices {
  const input = tidy(ratioToUsdPerMillion(price.modelRatio, quotaPerUnit))
  return {
    input,
    output: tidy(input * price.completionRatio),
    cache_read: tidy(input * price.cacheRatio),
    cache_write: tidy(input * price.createCacheRatio),
    audio_input: tidy(input * price.audioRatio),
    audio_output: tidy(input * price.audioRatio * price.audioCompletionRatio),
    image_input: tidy(input * price.imageRatio),
    image_output: tidy(input * price.imageCompletionRatio),
    cache_audio_read: tidy(input * price.audioCacheRatio),
    cache_image_read: tidy(input * price.imageCacheRatio),
    video_output: tidy(input * price.videoCompletionRatio),
  }
}

/** A value that the price data lacks is no difference. */
function isSame(current: TokenPrices, proposed: TokenPrices): boolean {
  return Object.entries(proposed).every(([key, value]) => {
    // Both have the same members.
    const now = current[key as keyof TokenPrices]
    return value === null || (now !== null && Math.abs(now - value) < 1e-6 * Math.max(1, value))
  })
}

/** The price options with the entries of these proposals. */
function ratioMaps(
  options: OptionValues,
  proposals: readonly PriceProposal[],
): Partial<Record<OptionKey, Record<string, number>>> {
  const ModelPrice = { ...options.ModelPrice }
  const maps = {
    ModelRatio: { ...options.ModelRatio },
    CompletionRatio: { ...options.CompletionRatio },
    CacheRatio: { ...options.CacheRatio },
    CreateCacheRatio: { ...options.CreateCacheRatio },
    AudioRatio: { ...options.AudioRatio },
    AudioCompletionRatio: { ...options.AudioCompletionRatio },
    AudioCacheRatio: { ...options.AudioCacheRatio },
    ImageRatio: { ...options.ImageRatio },
    ImageCompletionRatio: { ...options.ImageCompletionRatio },
    ImageCacheRatio: { ...options.ImageCacheRatio },
    VideoCompletionRatio: { ...options.VideoCompletionRatio },
  }
  for (const { model, proposed } of proposals) {
    delete ModelPrice[model]
    const ratios: Partial<Record<keyof typeof maps, number>> = ratiosOf(proposed, options.QuotaPerUnit)
    for (const [name, map] of Object.entries(maps)) {
      // The names of the maps are those of the ratios.
      const ratio = ratios[name as keyof typeof maps]
      if (ratio !== undefined) map[model] = ratio
    }
  }
  return { ModelPrice, ...maps }
}

function tidy(value: number): number {
  return Number(value.toPrecision(10))
}
