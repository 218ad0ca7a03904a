import type { LongCacheLifetime } from '../../../contract/usage.ts'

/**
 * The maximum usage of an admitted request, in tokens, which are safe integers. A reported usage above it is charged at the bound
 * (`plausible.ts`).
 */
export interface UsageBound {
  /** All input, cached input included, with the vendor's own additions to the prompt. */
  readonly promptTokens: number
  /** The same at an upstream that may add to prompts, where the hold bounds the charge. */
  readonly promptTokensOpen?: number
  /** All output, reasoning included, over all choices. */
  readonly outputTokens: number
  /** The longest possible lifetime of the request's cache writes, if it exceeds five minutes. */
  readonly cacheLifetime?: LongCacheLifetime | undefined
}
