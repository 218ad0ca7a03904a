import type { ModelInfo, ModelPrice, PriceCalculation, Provider } from '@pydantic/genai-prices'
import { LRUCache } from 'lru-cache'
import { cacheWriteFactors } from '../../contract/options/extra-prices.ts'
import type { TokenPrices } from '../../contract/routes/pricing.ts'
import { upTo } from '../lib/cache-size.ts'

/**
 * Public prices of models, from data in the form of `@pydantic/genai-prices`: the data in the package, or newer data that was applied
 * (`price-book.ts`). Read without I/O. Charged by `catalog.ts` and proposed by `proposals.ts`.
 */
export interface PriceData {
  /** The date of the newest price in force in the data, as `2026-09-22`: the age of the data. */
  readonly date: string
  /**
   * A vendor's (`Provider.priceVendor`) price of a model at a moment. Undefined for unknown models. Takes up to a third of a
   * millisecond: cache the result.
   */
  of(vendor: string, model: string, nowMs: number): PublicPrice | undefined
  /**
   * Like `of`, at the model's own vendor, regardless of the serving channels. Resellers list the same names at their own prices.
   */
  ofOwnVendor(model: string, nowMs: number): PublicPrice | undefined
  /** The entry of a vendor that matches a model name, with its prices at all times. */
  entryOf(vendor: string, model: string): ModelInfo | undefined
  /** When a model was released, in Unix seconds, if one of its names is dated. */
  releasedAt(model: string): number | undefined
}

export interface PublicPrice {
  /** The name of the vendor, for people. */
  readonly vendor: string
  readonly prices: TokenPrices
  /** The prices of the whole call where its prompt has more than `above` tokens; in ascending order, usually none. */
  readonly steps: readonly { readonly above: number; readonly prices: TokenPrices }[]
  /** Why it is not charged without an administrator's consent. */
  readonly uncovered: Uncovered | undefined
}

/** `unit`: part of it is sold by something that is not counted here, such as hours or pages. `free`: the data says that it costs nothing. */
export type Uncovered = 'unit' | 'free'

/** The vendors that price data consists of, each with its models. */
export type PriceVendors = readonly Provider[]

/** The package: its data, the address of newer data, and its reader. */
export interface PricePackage {
  readonly vendors: PriceVendors
  readonly updateUrl: string
  /** Reads data that `published-data.ts` has accepted, or that of the package. Its only state is a cache of the given vendors. */
  read(vendors: PriceVendors): PriceData
  /** Throws where the package cannot compute a price of this model. */
  requireReadable(model: ModelInfo): void
}

/** Loads the package: once for each process, about 60 ms and 8 MB. */
export async function loadPricePackage(): Promise<PricePackage> {
  const { calcPrice, REMOTE_DATA_JSON_URL, waitForUpdate } = await import('@pydantic/genai-prices')
  const vendors = (await waitForUpdate()) ?? []

  function read(given: PriceVendors): PriceData {
    const known = new Map(given.map((vendor) => [vendor.id, vendorOf(vendor, given)]))
    const matching = vendorsByModel(given)
    const find = (model: string, nowMs: number, provider: Provider | undefined) => {
      if (!provider) return undefined
      const at = (timestamp: Date) => calcPrice(noTokens, model, { timestamp, provider }) ?? undefined
      const found = at(new Date(nowMs))
      return found && publicPrice(dearestOfDay(found, at, nowMs))
    }
    const own = (model: string) => known.get(calcPrice(noTokens, model, { provider: matching })?.model.id ?? '')
    const entryOf = (model: string, provider: Provider | undefined) => provider && calcPrice(noTokens, model, { provider })?.model
    return {
      date: newestPrice(given, new Date().toISOString()),
      of: (vendor, model, nowMs) => find(model, nowMs, known.get(vendor)),
      ofOwnVendor: (model, nowMs) => find(model, nowMs, own(model)),
      entryOf: (vendor, model) => entryOf(model, known.get(vendor)),
      releasedAt: remembered((model) => dayIn(model) ?? oldestDay(entryOf(model, own(model)))),
    }
  }

  return {
    vendors,
    updateUrl: REMOTE_DATA_JSON_URL,
    read,
    requireReadable: (model) => {
      for (const { prices } of pricesIn(model))
        calcPrice(noTokens, 'm', { provider: sellerOf([{ id: 'm', match: { equals: 'm' }, prices }]) })
    },
  }
}

/** The prices of a model at all times, each with its first day if it has one. */
export function pricesIn({ prices }: ModelInfo): { readonly prices: ModelPrice; readonly from?: string }[] {
  if (!Array.isArray(prices)) return [{ prices }]
  return prices.map((each) => ({
    prices: each.prices,
    ...(each.constraint?.type === 'start_date' ? { from: each.constraint.start_date } : {}),
  }))
}

const sellerOf = (models: ModelInfo[]): Provider => ({ id: '', name: '', api_pattern: '', models })

/** A vendor without its fallbacks: the package would look for those in its own data. */
function vendorOf({ id, name, models, fallback_model_providers: others = [] }: Provider, all: PriceVendors): Provider {
  const fallbacks = others.flatMap((other) => all.find((vendor) => vendor.id === other)?.models ?? [])
  return {
    ...sellerOf([...models, ...fallbacks].map((model) => ({ id: model.id, match: model.match, prices: model.prices }))),
    id,
    name,
  }
}

/** Finds the own vendor of a model: vendors take the place of models here, so that the package compares the names. */
function vendorsByModel(all: PriceVendors): Provider {
  return sellerOf(all.flatMap(({ id, model_match }) => (model_match ? [{ id, match: model_match, prices: {} }] : [])))
}

/** Caches results for as many names as a site has. */
function remembered<Value>(find: (name: string) => Value): (name: string) => Value {
  const known = new LRUCache<string, { readonly value: Value }>(upTo(5_000))
  return (name) => {
    const found = known.get(name) ?? { value: find(name) }
    known.set(name, found)
    return found.value
  }
}

const noTokens = { input_tokens: 0, output_tokens: 0 }

function newestPrice(vendors: PriceVendors, now: string): string {
  const days = vendors.flatMap(({ models }) => models.flatMap(pricesIn)).flatMap(({ from }) => from ?? [])
  return days.filter((day) => day <= now).reduce((newest, day) => (day > newest ? day : newest), '')
}

/** Prices that change with the time of the day count at their highest, so that a price holds for the whole day. */
function dearestOfDay(
  found: PriceCalculation,
  at: (time: Date) => PriceCalculation | undefined,
  nowMs: number,
): PriceCalculation {
  const { prices } = found.model
  if (!Array.isArray(prices) || !prices.some(({ constraint }) => constraint?.type === 'time_of_date')) return found
  const midnight = nowMs - (nowMs % dayMs)
  const halfHours = Array.from({ length: 48 }, (_, index) => at(new Date(midnight + (index * dayMs) / 48)) ?? found)
  return halfHours.reduce((dearest, other) => (plainCost(other) > plainCost(dearest) ? other : dearest))
}

const dayMs = 86_400_000

function plainCost({ model_price: price }: PriceCalculation): number {
  return (priceOf(price, 'input_mtok', 0) ?? 0) + (priceOf(price, 'output_mtok', 0) ?? 0)
}

function publicPrice({ model_price: price, provider }: PriceCalculation): PublicPrice | undefined {
  if (price.input_mtok === undefined) return undefined
  const prices = tokenPrices(price, 0)
  const starts = Object.values(price).flatMap((value) => (typeof value === 'object' ? value.tiers.map(({ start }) => start) : []))
  const steps = [...new Set(starts)].sort((a, b) => a - b).map((above) => ({ above, prices: tokenPrices(price, above + 1) }))
  return { vendor: provider.name, prices, steps, uncovered: uncoveredIn(price, prices) }
}

/** Units that are counted here, or have prices in `ToolPrice`. */
const countedKeys: ReadonlySet<string> = new Set([
  'input_mtok',
  'output_mtok',
  'cache_read_mtok',
  'cache_write_mtok',
  'cache_write_1h_mtok',
  'input_audio_mtok',
  'output_audio_mtok',
  'input_image_mtok',
  'output_image_mtok',
  'cache_audio_read_mtok',
  'cache_image_read_mtok',
  'output_video_mtok',
  'web_searches_kcount',
  'storage_searches_kcount',
])

function uncoveredIn(price: ModelPrice, { input, output }: TokenPrices): Uncovered | undefined {
  // Without a price of input there is nothing that the other ratios could multiply.
  if (Object.keys(price).some((key) => !countedKeys.has(key)) || (input === 0 && output > 0)) return 'unit'
  return input === 0 ? 'free' : undefined
}

/** The prices of a call whose prompt has this many tokens. */
function tokenPrices(price: ModelPrice, promptTokens: number): TokenPrices {
  const of = (key: string) => priceOf(price, key, promptTokens)
  const hourWrite = of('cache_write_1h_mtok')
  const write = of('cache_write_mtok')
  return {
    input: of('input_mtok') ?? 0,
    output: of('output_mtok') ?? 0,
    cache_read: of('cache_read_mtok'),
    // A one-hour cache write is charged as a multiple of a five-minute one.
    cache_write: write !== null && hourWrite !== null ? Math.max(write, hourWrite / cacheWriteFactors['1h']) : write,
    audio_input: of('input_audio_mtok'),
    audio_output: of('output_audio_mtok'),
    image_input: of('input_image_mtok'),
    image_output: of('output_image_mtok'),
    cache_audio_read: of('cache_audio_read_mtok'),
    cache_image_read: of('cache_image_read_mtok'),
    video_output: of('output_video_mtok'),
  }
}

function priceOf(price: ModelPrice, key: string, promptTokens: number): number | null {
  const value = price[key]
  if (value === undefined) return null
  if (typeof value === 'number') return value
  return value.tiers.findLast(({ start }) => promptTokens > start)?.price ?? value.base
}

/** `gpt-5.4-2026-03-05` and `claude-opus-4-5-20251101` contain their release dates. */
const dated = /(?<!\d)(20[2-4]\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)/g

function dayIn(name: string): number | undefined {
  const days = [...name.matchAll(dated)].map(([, year, month, day]) => Date.parse(`${year}-${month}-${day}`) / 1000)
  return days.length > 0 ? Math.min(...days) : undefined
}

/** The oldest date in the names under which the data lists a model. */
function oldestDay(model: ModelInfo | undefined): number | undefined {
  return model && dayIn(JSON.stringify([model.id, model.match]))
}
