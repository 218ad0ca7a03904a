import { entriesFor } from './by-model.ts'
import { cachesAudioAsText, familyAudioRatio, familyCompletionRatio } from './completion-rules.ts'
import { decimalText, product } from './decimal.ts'
import { cacheWriteFactors } from './options/extra-prices.ts'
import type { OptionValues } from './options/index.ts'
import type { PriceRow } from './routes/pricing.ts'
import type { LongCacheLifetime } from './usage.ts'

/** The figures of a price before the factor of a group. */
export interface PriceFactors {
  readonly model: string
  /** USD per call; -1 when the charge is by tokens. */
  readonly fixedUsd: number
  readonly modelRatio: number
  readonly completionRatio: number
  readonly cacheRatio: number
  /** A cache write of five minutes; `cacheWriteFactors` are its multiples for the longer lifetimes. */
  readonly createCacheRatio: number
  readonly cacheWriteFactors: Readonly<Record<LongCacheLifetime, number>>
  /** Audio input relative to text input, and audio output relative to audio input. */
  readonly audioRatio: number
  readonly audioCompletionRatio: number
  /** Cached audio and cached images, relative to text input. */
  readonly audioCacheRatio: number
  readonly imageCacheRatio: number
  /** Image input and image output, both relative to text input. */
  readonly imageRatio: number
  readonly imageCompletionRatio: number
  /** Video output, relative to text input. */
  readonly videoCompletionRatio: number
  /** USD of one web search that the vendor makes. */
  readonly searchUsd: number
  /** USD of one call of each other tool that the vendor runs. A tool that is not named here has no price. */
  readonly toolUsd: Readonly<Record<string, number>>
  /** Multiples of the ordinary token price in each tier. A tier that is not listed here has no factor. */
  readonly tierFactors: Readonly<Record<string, number>>
}

/** A model's price before the group ratio. Charges, price lists and examples are computed from it. */
export interface ModelPrice extends PriceFactors {
  /** The source of the price; absent for unpriced models. */
  readonly source?: PriceSource
  /**
   * The prices of longer prompts, which apply to the whole call; in ascending order. Absent if the prompt length does not affect the
   * price.
   */
  readonly steps?: readonly PriceStep<PriceFactors>[]
  /** When it applies; absent for a price without dates and hours. */
  readonly window?: PriceWindow
  /** The prices that follow: those of later days, and of the hours of the next two days; in ascending order. Absent if none is known. */
  readonly later?: readonly LaterPrice<ModelPrice>[]
}

/** When a price applies, in UTC. */
export interface PriceWindow {
  /** The day since which it does, as `2026-12-01`; '' where that is not known. */
  readonly from: string
  /** The hours of a day in which it does, as `01:00–04:00, 06:00–10:00`; '' for the whole day. */
  readonly hours: string
}

/** A price from a moment on, in Unix milliseconds. */
export interface LaterPrice<Price> {
  readonly at: number
  readonly price: Price
}

/** The price of a call whose prompt has more than `above` tokens. */
export interface PriceStep<Price> {
  readonly above: number
  readonly price: Price
}

/** `own`: an administrator's. `default`: the table of a fresh site. Otherwise public price data: its vendor and date. */
export type PriceSource = 'own' | 'default' | PublicPriceSource

export interface PublicPriceSource {
  readonly vendor: string
  readonly date: string
  /** Other vendors of channels that serve the model at another price; the most expensive is used. Absent when there are none. */
  readonly cheaper?: readonly string[]
}

/** The options that price models. */
export const priceMaps = [
  'ModelPrice',
  'ModelRatio',
  'CompletionRatio',
  'CacheRatio',
  'CreateCacheRatio',
  'AudioRatio',
  'AudioCompletionRatio',
  'AudioCacheRatio',
  'ImageRatio',
  'ImageCompletionRatio',
  'ImageCacheRatio',
  'VideoCompletionRatio',
] as const

/** The options whose entries may apply to a pattern of models; see `by-model.ts`. */
export const patternMaps = ['CacheWriteFactor', 'ToolPrice', 'TierFactor'] as const

export type PriceOptions = Pick<OptionValues, (typeof priceMaps)[number] | (typeof patternMaps)[number] | 'WebSearchPrice'>

const cacheRatioDefault = 1
const createCacheRatioDefault = 1.25
/** Audio output costs twice as much as audio input, with every vendor that sold both in April 2025. */
const audioCompletionRatioDefault = 2

/** Undefined when neither a price nor a ratio is set. A fixed price takes precedence over a ratio. */
export function modelPriceOf(options: PriceOptions, name: string): PriceFactors | undefined {
  const fixedUsd = options.ModelPrice[name]
  const modelRatio = options.ModelRatio[name]
  if (fixedUsd !== undefined) return { ...ratioPriceOf(options, name, modelRatio ?? 0), fixedUsd }
  return modelRatio === undefined ? undefined : ratioPriceOf(options, name, modelRatio)
}

/** The price by tokens at a ratio, with the other ratios from the options or its family. */
export function ratioPriceOf(options: PriceOptions, name: string, modelRatio: number): PriceFactors {
  const completionRatio = options.CompletionRatio[name] ?? familyCompletionRatio(name)
  const cacheRatio = options.CacheRatio[name] ?? cacheRatioDefault
  const audioRatio = options.AudioRatio[name] ?? familyAudioRatio(name)
  const imageRatio = options.ImageRatio[name] ?? 1
  const { web_search: searchUsd = options.WebSearchPrice, ...toolUsd } = entriesFor(options.ToolPrice, name)
  return {
    model: name,
    fixedUsd: -1,
    modelRatio,
    completionRatio,
    cacheRatio,
    createCacheRatio: options.CreateCacheRatio[name] ?? createCacheRatioDefault,
    cacheWriteFactors: { ...cacheWriteFactors, ...entriesFor(options.CacheWriteFactor, name) },
    audioRatio,
    audioCompletionRatio: options.AudioCompletionRatio[name] ?? audioCompletionRatioDefault,
    audioCacheRatio: options.AudioCacheRatio[name] ?? exactly(cachesAudioAsText(name) ? 1 : audioRatio, cacheRatio),
    imageRatio,
    imageCompletionRatio: options.ImageCompletionRatio[name] ?? completionRatio,
    imageCacheRatio: options.ImageCacheRatio[name] ?? exactly(imageRatio, cacheRatio),
    videoCompletionRatio: options.VideoCompletionRatio[name] ?? completionRatio,
    searchUsd,
    toolUsd,
    tierFactors: entriesFor(options.TierFactor, name),
  }
}

/** The product of two decimals without the rounding errors of binary fractions. */
function exactly(one: number, other: number): number {
  return Number(decimalText(product(one, other)))
}

export type PriceFigures = Omit<
  PriceRow,
  | 'model_name'
  | 'owner_by'
  | 'enable_groups'
  | `price_${'source' | 'vendor' | 'date' | 'from' | 'hours'}`
  | 'clips'
  | 'steps'
  | 'later'
  | 'end'
  | 'redirect'
>

/** The figures of a price as price lists have them. */
export function figuresOf(price: PriceFactors): PriceFigures {
  const isPerCall = price.fixedUsd >= 0
  return {
    quota_type: isPerCall ? 1 : 0,
    model_ratio: isPerCall ? 0 : price.modelRatio,
    model_price: isPerCall ? price.fixedUsd : 0,
    completion_ratio: price.completionRatio,
    cache_ratio: price.cacheRatio,
    create_cache_ratio: price.createCacheRatio,
    audio_ratio: price.audioRatio,
    audio_completion_ratio: price.audioCompletionRatio,
    audio_cache_ratio: price.audioCacheRatio,
    image_ratio: price.imageRatio,
    image_completion_ratio: price.imageCompletionRatio,
    image_cache_ratio: price.imageCacheRatio,
    video_completion_ratio: price.videoCompletionRatio,
  }
}
