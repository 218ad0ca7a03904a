import type { Usage } from '../../contract/usage.ts'

/** Totals as a vendor reports them, in tokens. `completion` includes reasoning. */
interface Totals {
  readonly prompt: number
  readonly completion: number
  /** 0 when it is not reported. */
  readonly total: number
}

/** Cached tokens as a vendor reports them; `audio` and `image` are parts of `tokens` where they are reported. */
interface Cached {
  readonly tokens: number
  readonly audio?: number
  readonly image?: number
}

/**
 * The part of a reported prompt that came from the cache, if cached tokens are part of the prompt. A host that counts them
 * separately has a total that includes both. A number above the prompt without such a total is invalid: it is reduced to the
 * prompt, and `cacheExcess` is the difference.
 */
export function cachedPart(
  { tokens, audio = 0, image = 0 }: Cached,
  { prompt, completion, total }: Totals,
): Pick<Usage, 'cacheRead' | 'cachedAudio' | 'cachedImage' | 'cacheExcess'> {
  const isMeant = tokens <= prompt || total === prompt + tokens + completion
  const cached = isMeant ? tokens : prompt
  const cachedAudio = Math.min(cached, audio)
  const cachedImage = Math.min(cached - cachedAudio, image)
  const cacheRead = cached - cachedAudio - cachedImage
  return { cacheRead, cachedAudio, cachedImage, ...(isMeant ? {} : { cacheExcess: tokens - prompt }) }
}
