import { LRUCache } from 'lru-cache'
import { cacheWriteFactors } from '../../../contract/options/extra-prices.ts'
import type { TokenPrices } from '../../../contract/routes/pricing.ts'
import { upTo } from '../../base/lib/collections/cache-size.ts'
import { changesAfter, inForce, pricesIn, startOf } from './price-times.ts'
import { tierFactorsIn } from './price-variants.ts'
import { entryAt, matches, type PriceEntry, type PriceVendor, type PriceVendors, type UnitPrices } from './vendor-prices.ts'

/**
 * Public prices of models, from data in the form of genai-prices: that of this version (`shipped-prices.ts`), or newer data that was
 * applied (`price-book.ts`). Read without I/O. Charged by `catalog.ts` and proposed by `proposals.ts`.
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
  entryOf(vendor: string, model: string): PriceEntry | undefined
  /** When a model was released, in Unix seconds, if one of its names is dated. */
  releasedAt(model: string): number | undefined
}

export interface PublicPrice {
  /** The name of the vendor, for people. */
  readonly vendor: string
  readonly prices: TokenPrices
  /** The prices of the whole call where its prompt has more than `above` tokens; in ascending order, usually none. */
  readonly steps: readonly { readonly above: number; readonly prices: TokenPrices }[]
  /** Multiples of these prices by service tier or speed, where the data has them. */
  readonly tiers: Readonly<Record<string, number>>
  /** Why it is not charged without an administrator's consent. */
  readonly uncovered: Uncovered | undefined
  /** The day since which it applies, and the hours of a day in which it does; see `InForce`. */
  readonly from: string
  readonly hours: string
  /** The next moments at which another price begins, in Unix milliseconds; see `changesAfter`. */
  readonly changes: readonly number[]
}

/** `unit`: part of it is sold by something that is not counted here, such as hours or pages. `free`: the data says that it costs nothing. */
export type Uncovered = 'unit' | 'free'

/** The price data of this version of the program. */
export interface ShippedPrices {
  readonly vendors: PriceVendors
  /** Where its source publishes newer data. */
  readonly updateUrl: string
}

/** Loads it: once for each process, about 10 ms. */
export async function loadShippedPrices(): Promise<ShippedPrices> {
  const { shippedPrices } = await import('./shipped-prices.ts')
  // Generated, and checked by a test as newer data is.
  return { vendors: JSON.parse(shippedPrices.json) as PriceVendors, updateUrl: shippedPrices.updateUrl }
}

/** Reads the data of this version, or data that `published-data.ts` has accepted. */
export function readPrices(vendors: PriceVendors): PriceData {
  const known = new Map(vendors.map((vendor) => [vendor.id, vendor]))
  const find = (model: string, nowMs: number, vendor: PriceVendor | undefined) => {
    const entry = entryAt(vendor, model, vendors)
    return vendor && entry && publicPrice(vendor.name, entry, nowMs)
  }
  const own = (model: string) => {
    const name = model.toLowerCase()
    return vendors.find(({ model_match: match }) => match && matches(match, name))
  }
  return {
    date: newestPrice(vendors, new Date().toISOString()),
    of: (vendor, model, nowMs) => find(model, nowMs, known.get(vendor)),
    ofOwnVendor: (model, nowMs) => find(model, nowMs, own(model)),
    entryOf: (vendor, model) => entryAt(known.get(vendor), model, vendors),
    releasedAt: remembered((model) => dayIn(model) ?? oldestDay(entryAt(own(model), model, vendors))),
  }
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

function newestPrice(vendors: PriceVendors, now: string): string {
  const days = vendors.flatMap(({ models }) => models.flatMap(pricesIn)).flatMap((each) => startOf(each) ?? [])
  return days.filter((day) => day <= now).reduce((newest, day) => (day > newest ? day : newest), '')
}

function publicPrice(vendor: string, entry: PriceEntry, nowMs: number): PublicPrice | undefined {
  const { prices: units, from, hours } = inForce(entry, nowMs)
  if (units.input_mtok === undefined) return undefined
  const prices = tokenPrices(units, 0)
  const starts = Object.values(units).flatMap((value) => (typeof value === 'object' ? value.tiers.map(({ start }) => start) : []))
  const steps = [...new Set(starts)].sort((a, b) => a - b).map((above) => ({ above, prices: tokenPrices(units, above + 1) }))
  const tiers = tierFactorsIn(entry, units, nowMs)
  return { vendor, prices, steps, tiers, uncovered: uncoveredIn(units, prices), from, hours, changes: changesAfter(entry, nowMs) }
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

/** Kinds of tokens that are counted as text: covered unless they cost more. */
const countedAsText: Readonly<Record<string, string>> = { input_video_mtok: 'input_mtok', output_reasoning_mtok: 'output_mtok' }

function uncoveredIn(price: UnitPrices, { input, output }: TokenPrices): Uncovered | undefined {
  const isCovered = (key: string) => countedKeys.has(key) || isNoDearer(price[key], price[countedAsText[key] ?? ''])
  // Without a price of input there is nothing that the other ratios could multiply.
  if (Object.keys(price).some((key) => !isCovered(key)) || (input === 0 && output > 0)) return 'unit'
  return input === 0 ? 'free' : undefined
}

function isNoDearer(price: UnitPrices[string] | undefined, text: UnitPrices[string] | undefined): boolean {
  return typeof price === 'number' && typeof text === 'number' ? price <= text : JSON.stringify(price) === JSON.stringify(text)
}

/** The prices of a call whose prompt has this many tokens. */
function tokenPrices(price: UnitPrices, promptTokens: number): TokenPrices {
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

function priceOf(price: UnitPrices, key: string, promptTokens: number): number | null {
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
function oldestDay(model: PriceEntry | undefined): number | undefined {
  return model && dayIn(JSON.stringify([model.id, model.match]))
}
