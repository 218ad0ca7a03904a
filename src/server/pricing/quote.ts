import type { Usage } from '../../contract/usage.ts'

/**
 * A price as it stood when the request was admitted: every factor that its charge needs. It is stored in the log row, so that the
 * charge can be recomputed from the row alone.
 */
export interface Price {
  readonly model: string
  readonly group: string
  /** USD per call; -1 when the charge is by tokens. */
  readonly fixedUsd: number
  readonly modelRatio: number
  readonly completionRatio: number
  readonly cacheRatio: number
  readonly createCacheRatio: number
  readonly groupRatio: number
  /** Quota units of one US dollar. */
  readonly quotaPerUnit: number
  /** No price was set; the fallback ratio is in use. */
  readonly unpriced: boolean
}

export declare function costOf(price: Price, usage: Usage): number
