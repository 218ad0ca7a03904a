import type { Usage } from '../../contract/usage.ts'

/** Totals as a vendor reports them, in tokens. `completion` has the reasoning in it. */
interface Totals {
  readonly prompt: number
  readonly completion: number
  /** 0 when it is not reported. */
  readonly total: number
}

/**
 * The part of a reported prompt that came from the cache, where cached tokens are part of the prompt. A host that counts them beside it shows
 * so by a total that has both. More than the prompt without such a total cannot be meant: it is cut off, and `cacheExcess` says how much.
 */
export function cachedPart(cached: number, { prompt, completion, total }: Totals): Pick<Usage, 'cacheRead' | 'cacheExcess'> {
  if (cached <= prompt || total === prompt + cached + completion) return { cacheRead: cached }
  return { cacheRead: prompt, cacheExcess: cached - prompt }
}
