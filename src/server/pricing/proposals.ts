import type { ModelPrice } from '../../contract/model-price.ts'
import type { OptionValues } from '../../contract/options/index.ts'
import { ratioToUsdPerMillion, usdPerMillionAtRatioOne } from '../../contract/quota.ts'
import type { PriceProposal, TokenPrices } from '../../contract/routes/pricing.ts'
import type { Caller, Core } from '../options/core.ts'
import type { Catalog } from './catalog.ts'

/**
 * Prices out of the public price data of `@pydantic/genai-prices`, as proposals: an admin sees what differs and accepts what is right.
 * Nothing is charged by them before that. Tiers are proposed at their base price.
 */
type Parts = Pick<Core, 'options'> & { readonly catalog: Catalog }

/** Of these models, those for which the price data has another price. */
export async function proposePrices({ catalog }: Parts, models: readonly string[]): Promise<PriceProposal[]> {
  const { calcPrice } = await import('@pydantic/genai-prices')
  return [...new Set(models)].sort().flatMap((model) => {
    const found = priceIn(calcPrice, model)
    if (!found) return []
    const set = catalog.modelPriceOf(model)
    const isPerCall = set !== undefined && set.fixedUsd >= 0
    const current = set && !isPerCall ? pricesOf(set) : null
    if (current && isSame(current, found.prices)) return []
    return [{ model, vendor: found.vendor, current, current_per_call: isPerCall ? set.fixedUsd : null, proposed: found.prices }]
  })
}

/** Writes the ratios of the proposed prices of these models, all at once. Answers how many models had one. */
export async function acceptPrices(app: Parts, models: readonly string[], caller: Caller): Promise<number> {
  const proposals = await proposePrices(app, models)
  if (proposals.length === 0) return 0
  await app.options.edit(caller, (values) =>
    Object.fromEntries(Object.entries(ratioMaps(values, proposals)).map(([key, map]) => [key, JSON.stringify(map)])),
  )
  return proposals.length
}

type PriceOf = typeof import('@pydantic/genai-prices').calcPrice

/** The price under the model's own vendor. Resellers list the same names at prices of their own, and are not asked. */
function priceIn(calcPrice: PriceOf, model: string): { vendor: string; prices: TokenPrices } | undefined {
  const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, model)
  const input = baseOf(found?.model_price.input_mtok)
  if (!found || input === null) return undefined
  const price = (key: string) => baseOf(found.model_price[key])
  return {
    vendor: found.provider.name,
    prices: {
      input,
      output: price('output_mtok') ?? 0,
      cache_read: price('cache_read_mtok'),
      cache_write: price('cache_write_mtok'),
      audio_input: price('input_audio_mtok'),
      audio_output: price('output_audio_mtok'),
    },
  }
}

function baseOf(price: number | { base: number } | undefined): number | null {
  if (price === undefined) return null
  return typeof price === 'number' ? price : price.base
}

function pricesOf({ modelRatio, completionRatio, cacheRatio, createCacheRatio, ...audio }: ModelPrice): TokenPrices {
  const input = ratioToUsdPerMillion(modelRatio)
  return {
    input,
    output: tidy(input * completionRatio),
    cache_read: tidy(input * cacheRatio),
    cache_write: tidy(input * createCacheRatio),
    audio_input: tidy(input * audio.audioRatio),
    audio_output: tidy(input * audio.audioRatio * audio.audioCompletionRatio),
  }
}

/** What the price data does not say is no difference. */
function isSame(current: TokenPrices, proposed: TokenPrices): boolean {
  return Object.entries(proposed).every(([key, value]) => {
    // Both have the same members.
    const now = current[key as keyof TokenPrices]
    return value === null || (now !== null && Math.abs(now - value) < 1e-6 * Math.max(1, value))
  })
}

function ratioMaps(options: OptionValues, proposals: readonly PriceProposal[]) {
  const ModelPrice = { ...options.ModelPrice }
  const ModelRatio = { ...options.ModelRatio }
  const CompletionRatio = { ...options.CompletionRatio }
  const CacheRatio = { ...options.CacheRatio }
  const CreateCacheRatio = { ...options.CreateCacheRatio }
  const AudioRatio = { ...options.AudioRatio }
  const AudioCompletionRatio = { ...options.AudioCompletionRatio }

  for (const { model, proposed } of proposals) {
    const { input, output, cache_read, cache_write, audio_input, audio_output } = proposed
    delete ModelPrice[model]
    ModelRatio[model] = quotient(input, usdPerMillionAtRatioOne)
    // Without a price of its input there is nothing that the other ratios could multiply.
    if (input === 0) continue
    CompletionRatio[model] = quotient(output, input)
    if (cache_read !== null) CacheRatio[model] = quotient(cache_read, input)
    if (cache_write !== null) CreateCacheRatio[model] = quotient(cache_write, input)
    if (audio_input !== null) AudioRatio[model] = quotient(audio_input, input)
    if (audio_input !== null && audio_input > 0 && audio_output !== null)
      AudioCompletionRatio[model] = quotient(audio_output, audio_input)
  }
  return { ModelPrice, ModelRatio, CompletionRatio, CacheRatio, CreateCacheRatio, AudioRatio, AudioCompletionRatio }
}

/** As many digits as ratios are written with. */
function quotient(dividend: number, divisor: number): number {
  return tidy(dividend / divisor)
}

function tidy(value: number): number {
  return Number(value.toPrecision(10))
}
