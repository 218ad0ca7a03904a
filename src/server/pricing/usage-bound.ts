import type { LongCacheLifetime } from '../../contract/usage.ts'

/**
 * The most that the usage of an admitted request can be, in tokens, which are safe integers. A reported usage above it is charged at the
 * bound (`plausible.ts`).
 */
export interface UsageBound {
  /** Everything that the model reads, cached input included, with the vendor's own additions to the prompt. */
  readonly promptTokens: number
  /** Everything that the model writes, reasoning included, over all choices. */
  readonly outputTokens: number
  /** The longest lifetime that cache writes of the request can have, where that is beyond five minutes. */
  readonly cacheLifetime?: LongCacheLifetime | undefined
}
