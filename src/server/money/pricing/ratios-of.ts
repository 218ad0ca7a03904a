import { usdPerMillionToRatio } from '../../../contract/quota.ts'
import type { TokenPrices } from '../../../contract/routes/pricing.ts'

/** The entries that the price options have for a model; absent for prices that the dollar prices do not include. */
interface ModelRatios {
  readonly ModelRatio: number
  readonly CompletionRatio?: number
  readonly CacheRatio?: number
  readonly CreateCacheRatio?: number
  readonly AudioRatio?: number
  readonly AudioCompletionRatio?: number
  readonly AudioCacheRatio?: number
  readonly ImageRatio?: number
  readonly ImageCompletionRatio?: number
  readonly ImageCacheRatio?: number
  readonly VideoCompletionRatio?: number
}

/** Prices in dollars as the ratios that charge them, to the unit. Pure. */
export function ratiosOf(prices: TokenPrices, quotaPerUnit: number): ModelRatios {
  const { input, output, cache_read, cache_write, audio_input, audio_output, image_input, image_output } = prices
  const { cache_audio_read, cache_image_read, video_output } = prices
  const ModelRatio = quotient(usdPerMillionToRatio(input, quotaPerUnit), 1)
  // Without a price of its input there is nothing that the other ratios could multiply.
  if (input === 0) return { ModelRatio }
  const audio = audio_input ?? (audio_output === null ? null : input)
  return {
    ModelRatio,
    CompletionRatio: quotient(output, input),
    ...(cache_read === null ? {} : { CacheRatio: quotient(cache_read, input) }),
    ...(cache_write === null ? {} : { CreateCacheRatio: quotient(cache_write, input) }),
    ...(audio === null ? {} : { AudioRatio: quotient(audio, input) }),
    ...(audio === null || audio === 0 || audio_output === null ? {} : { AudioCompletionRatio: quotient(audio_output, audio) }),
    ...(image_input === null ? {} : { ImageRatio: quotient(image_input, input) }),
    ...(image_output === null ? {} : { ImageCompletionRatio: quotient(image_output, input) }),
    ...(cache_audio_read === null ? {} : { AudioCacheRatio: quotient(cache_audio_read, input) }),
    ...(cache_image_read === null ? {} : { ImageCacheRatio: quotient(cache_image_read, input) }),
    ...(video_output === null ? {} : { VideoCompletionRatio: quotient(video_output, input) }),
  }
}

/**
 * As many digits as ratios are written with. Further digits are cut off, not rounded: a cost is rounded up at its end, and a slightly too
 * high ratio would make it one unit more expensive than the price in dollars.
 */
function quotient(dividend: number, divisor: number): number {
  const exact = dividend / divisor
  const rounded = Number(exact.toPrecision(digits))
  if (rounded <= exact * (1 + Number.EPSILON * 4)) return rounded
  return Number((rounded - 10 ** (Math.floor(Math.log10(exact)) + 1 - digits)).toPrecision(digits))
}

const digits = 10
