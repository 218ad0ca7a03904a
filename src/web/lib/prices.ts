import type { PriceFigures } from '../../contract/model-price.ts'
import { ratioToUsdPerMillion } from '../../contract/quota.ts'

/** Prices as people read them: US dollars per million tokens or per call, with the ratio of a group. */
export interface Prices {
  readonly isPerCall: boolean
  readonly call: number
  readonly input: number
  readonly output: number
  /** Undefined where cached input costs as much as other input. */
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
  /** Undefined where they cost what text does. */
  readonly audioInput: number | undefined
  readonly audioOutput: number | undefined
  readonly imageInput: number | undefined
  readonly imageOutput: number | undefined
  readonly videoOutput: number | undefined
  /** Undefined where they cost what cached text does. */
  readonly cachedAudio: number | undefined
  readonly cachedImage: number | undefined
}

export function pricesOf(row: PriceFigures, groupRatio: number, perUsd: number): Prices {
  const input = ratioToUsdPerMillion(row.model_ratio, perUsd) * groupRatio
  const isPerCall = row.quota_type === 1
  const apart = (ratio: number, usual: number, price: number) => (isPerCall || ratio === usual ? undefined : price)
  const audioInput = input * row.audio_ratio
  return {
    isPerCall,
    call: row.model_price * groupRatio,
    input,
    output: input * row.completion_ratio,
    cacheRead: apart(row.cache_ratio, 1, input * row.cache_ratio),
    cacheWrite: apart(row.cache_ratio, 1, input * row.create_cache_ratio),
    audioInput: apart(row.audio_ratio, 1, audioInput),
    audioOutput: apart(row.audio_ratio, 1, audioInput * row.audio_completion_ratio),
    imageInput: apart(row.image_ratio, 1, input * row.image_ratio),
    imageOutput: apart(row.image_completion_ratio, row.completion_ratio, input * row.image_completion_ratio),
    cachedAudio: apart(row.audio_cache_ratio, row.cache_ratio, input * row.audio_cache_ratio),
    cachedImage: apart(row.image_cache_ratio, row.cache_ratio, input * row.image_cache_ratio),
    videoOutput: apart(row.video_completion_ratio, row.completion_ratio, input * row.video_completion_ratio),
  }
}

/** $2.50, $0.00015: cents at least, six significant digits at most, never a raw float. */
export function usdText(usd: number): string {
  return `$${Number(usd.toPrecision(6)).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 10 })}`
}
