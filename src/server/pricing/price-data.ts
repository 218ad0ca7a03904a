import type { ModelInfo, ModelPrice, PriceCalculation } from '@pydantic/genai-prices'
import { LRUCache } from 'lru-cache'
import { cacheWriteFactors } from '../../contract/options/extra-prices.ts'
import type { TokenPrices } from '../../contract/routes/pricing.ts'
import { upTo } from '../lib/cache-size.ts'

/**
 * Public prices of models, out of the data of `@pydantic/genai-prices`. Loaded once when the server starts (about 60 ms and 8 MB),
 * read without I/O after that. Charged by `catalog.ts` and proposed by `proposals.ts`.
 */
export interface PriceData {
  /** The day of the newest price in the data that is in force, as `2026-09-22`: how old the data is. */
  readonly date: string
  /**
   * A vendor's (`Provider.priceVendor`) price of a model at a moment. Undefined for unknown models. Takes up to a third of a
   * millisecond: cache the result.
   */
  of(vendor: string, model: string, nowMs: number): PublicPrice | undefined
  /** As above under the model's own vendor, regardless of the serving channels. Resellers list the same names at their own prices. */
  ofOwnVendor(model: string, nowMs: number): PublicPrice | undefined
  /** When a model was released, in Unix seconds, as far as it has a dated name. */
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

/** Reads the data. Called once for each process. */
export async function loadPriceData(): Promise<PriceData> {
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices')
  const find = (model: string, nowMs: number, providerId?: string) => {
    const at = (timestamp: Date) => calcPrice(noTokens, model, { timestamp, ...(providerId ? { providerId } : {}) }) ?? undefined
    const found = at(new Date(nowMs))
    return found && publicPrice(dearestOfDay(found, at, nowMs))
  }
  return {
    date: newestPrice(
      datedVendors.flatMap((id) => findProvider({ providerId: id })?.models ?? []),
      new Date().toISOString(),
    ),
    of: (vendor, model, nowMs) => (findProvider({ providerId: vendor }) ? find(model, nowMs, vendor) : undefined),
    ofOwnVendor: (model, nowMs) => find(model, nowMs),
    releasedAt: remembered((model) => dayIn(model) ?? oldestDay(calcPrice(noTokens, model)?.model)),
  }
}

/** Keeps answers for as many names as a site has. */
function remembered<Value>(find: (name: string) => Value): (name: string) => Value {
  const known = new LRUCache<string, { readonly value: Value }>(upTo(5_000))
  return (name) => {
    const found = known.get(name) ?? { value: find(name) }
    known.set(name, found)
    return found.value
  }
}

const noTokens = { input_tokens: 0, output_tokens: 0 }

/** Vendors whose prices the data gives a beginning, the largest of them. */
const datedVendors = ['anthropic', 'aws', 'deepseek', 'google', 'mistral', 'openai', 'openrouter', 'x-ai']

function newestPrice(models: readonly ModelInfo[], now: string): string {
  const days = models.flatMap(({ prices }) =>
    Array.isArray(prices)
      ? prices.flatMap(({ constraint }) => (constraint?.type === 'start_date' ? [constraint.start_date] : []))
      : [],
  )
  return days.filter((day) => day <= now).reduce((newest, day) => (day > newest ? day : newest), '')
}

/** Prices that change with the time of the day count at their dearest, so that a price holds for the whole day. */
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

/** The prices of a prompt of so many tokens. */
function tokenPrices(price: ModelPrice, promptTokens: number): TokenPrices {
  const of = (key: string) => priceOf(price, key, promptTokens)
  const hourWrite = of('cache_write_1h_mtok')
  const write = of('cache_write_mtok')
  return {
    input: of('input_mtok') ?? 0,
    output: of('output_mtok') ?? 0,
    cache_read: of('cache_read_mtok'),
    // The write of an hour is charged as a multiple of the one of five minutes.
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

/** `gpt-5.4-2026-03-05` and `claude-opus-4-5-20251101` bear the day of their release. */
const dated = /(?<!\d)(20[2-4]\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)/g

function dayIn(name: string): number | undefined {
  const days = [...name.matchAll(dated)].map(([, year, month, day]) => Date.parse(`${year}-${month}-${day}`) / 1000)
  return days.length > 0 ? Math.min(...days) : undefined
}

/** Of the names that the data knows a model by. */
function oldestDay(model: ModelInfo | undefined): number | undefined {
  return model && dayIn(JSON.stringify([model.id, model.match]))
}
