/** Input buckets, in the order of the bill. `cacheRead` is cached text, or cached input of unknown kind. */
export const promptBuckets = [
  'input',
  'cacheRead',
  'cachedAudio',
  'cachedImage',
  'cacheWrite',
  'cacheWrite30m',
  'cacheWrite1h',
  'cacheWrite12h',
  'audioInput',
  'imageInput',
] as const
/** Output buckets, in the order of the bill. */
export const outputBuckets = ['output', 'audioOutput', 'imageOutput', 'videoOutput'] as const
/** Every kind of token that has a price. */
export const buckets = [...promptBuckets, ...outputBuckets] as const

export type PromptBucket = (typeof promptBuckets)[number]
export type OutputBucket = (typeof outputBuckets)[number]
export type Bucket = PromptBucket | OutputBucket

/**
 * The lifetimes of cache writes that vendors sell, shortest first, each with the bucket of its tokens. Usage readers, prices, log
 * rows and bills use this table. Writes of an unknown lifetime count as writes of five minutes.
 */
export const cacheWriteBuckets = {
  '5m': 'cacheWrite',
  '30m': 'cacheWrite30m',
  '1h': 'cacheWrite1h',
  '12h': 'cacheWrite12h',
} as const satisfies Record<string, PromptBucket>

export type CacheLifetime = keyof typeof cacheWriteBuckets
/** The lifetimes whose price is a multiple of that of five minutes. */
export type LongCacheLifetime = Exclude<CacheLifetime, '5m'>
// The names of an object are its keys.
export const cacheLifetimes = Object.keys(cacheWriteBuckets) as CacheLifetime[]
export const longCacheLifetimes = cacheLifetimes.filter((lifetime) => lifetime !== '5m')

export type CacheWrites = Pick<Usage, (typeof cacheWriteBuckets)[CacheLifetime] | 'cacheLifetimeUnknown'>

/**
 * The buckets of cache writes of a report: `total` tokens, of which `countOf` returns those with a lifetime beyond five minutes;
 * without it the report has no lifetimes. The parts never exceed the total: the longest lifetimes count first.
 */
export function cacheWritesOf(total: number, countOf?: (lifetime: LongCacheLifetime) => number): CacheWrites {
  if (!countOf) return { ...noWrites, cacheWrite: total, ...(total > 0 ? { cacheLifetimeUnknown: true } : {}) }
  const writes = { ...noWrites, cacheWrite: total }
  for (const lifetime of longCacheLifetimes.toReversed()) {
    const written = Math.min(writes.cacheWrite, countOf(lifetime))
    writes[cacheWriteBuckets[lifetime]] = written
    writes.cacheWrite -= written
  }
  return writes
}

const noWrites = { cacheWrite: 0, cacheWrite30m: 0, cacheWrite1h: 0, cacheWrite12h: 0 }

/**
 * The usage of one finished call, as disjoint buckets of tokens: the sum of the input buckets is the whole input, the sum of the output
 * buckets the whole output. `reasoning` is the part of `output` that was reasoning, for information only. Every reader of a
 * wire format returns `{ ...noUsage, … }`, with a source for each number beside it.
 *
 * | bucket        | OpenAI Chat                                             | Anthropic Messages                                   |
 * |---------------|---------------------------------------------------------|------------------------------------------------------|
 * | input         | prompt_tokens without all that is below                 | input_tokens                                         |
 * | cacheRead     | prompt_tokens_details.cached_tokens, or another name    | cache_read_input_tokens                              |
 * | cachedAudio   | –                                                       | –                                                    |
 * | cachedImage   | –                                                       | –                                                    |
 * | cacheWrite    | prompt_tokens_details.cache_write_tokens                | cache_creation.ephemeral_5m_input_tokens, or all     |
 * | cacheWrite…   | –                                                       | cache_creation.ephemeral_…_input_tokens              |
 * | audioInput    | prompt_tokens_details.audio_tokens                      | –                                                    |
 * | imageInput    | prompt_tokens_details.image_tokens                      | –                                                    |
 * | output        | completion_tokens without all that is below             | output_tokens                                        |
 * | audioOutput   | completion_tokens_details.audio_tokens                  | –                                                    |
 * | imageOutput   | completion_tokens_details.image_tokens                  | –                                                    |
 * | videoOutput   | –                                                       | –                                                    |
 * | reasoning     | completion_tokens_details.reasoning_tokens              | output_tokens_details.thinking_tokens                |
 */
export interface Usage extends Readonly<Record<Bucket, number>> {
  readonly reasoning: number
  /** The number of times a price per call is charged: images, weighted by size and quality. A decimal; token prices ignore it. */
  readonly calls: number
  /** Web searches that the vendor made for the call and bills apart. */
  readonly searches: number
  /** Tokens reported as cached beyond the whole prompt, which is raised to them within the bound of the request. */
  readonly cacheExcess?: number
  /**
   * What the reported total has beyond its parts, included in `output`; below 0 when the total is less than its parts, which is not
   * charged.
   */
  readonly unexplained?: number
  /** The report has no lifetime of the tokens of `cacheWrite`. */
  readonly cacheLifetimeUnknown?: true
  /** Calls of other hosted tools with a price for each call, by their name in `ToolPrice`. */
  readonly toolCalls?: ToolCalls
  /** The tier reported by the reply; absent members were not reported. */
  readonly tier?: Tier
  /** Other models' usage for the call, such as an adviser's: not part of the buckets above. */
  readonly byOthers?: readonly OtherUsage[]
}

export type ToolCalls = Readonly<Record<string, number>>

/**
 * The service tier, which changes the price: the members of a request that select it, each with its value, as `{ service_tier:
 * 'priority' }` or `{ speed: 'fast', inference_geo: 'us' }`.
 */
export type Tier = Readonly<Partial<Record<TierMember, string>>>

export type TierMember = 'service_tier' | 'speed' | 'inference_geo' | 'background_options'

/** The usage of a call by another model than the requested one. */
export interface OtherUsage {
  readonly model: string
  readonly usage: Usage
}

export const noUsage: Usage = Object.freeze({
  input: 0,
  cacheRead: 0,
  cachedAudio: 0,
  cachedImage: 0,
  cacheWrite: 0,
  cacheWrite30m: 0,
  cacheWrite1h: 0,
  cacheWrite12h: 0,
  audioInput: 0,
  imageInput: 0,
  output: 0,
  audioOutput: 0,
  imageOutput: 0,
  videoOutput: 0,
  reasoning: 0,
  calls: 1,
  searches: 0,
})

export function promptTokens(usage: Usage): number {
  return promptBuckets.reduce((sum, bucket) => sum + usage[bucket], 0)
}

export function completionTokens(usage: Usage): number {
  return outputBuckets.reduce((sum, bucket) => sum + usage[bucket], 0)
}

/** Reasoning as a part of all output: hosts may report more of it than output. */
export function reasoningTokens(usage: Usage): number {
  return Math.min(usage.reasoning, completionTokens(usage))
}

/** All cached input, as vendors report it in one number. */
export function cachedTokens(usage: Usage): number {
  return usage.cacheRead + usage.cachedAudio + usage.cachedImage
}

/** All cache writes, of any lifetime. */
export function writtenTokens(usage: CacheWrites): number {
  return cacheLifetimes.reduce((sum, lifetime) => sum + usage[cacheWriteBuckets[lifetime]], 0)
}
