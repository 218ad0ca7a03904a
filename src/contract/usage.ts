/**
 * What one finished call used, as disjoint buckets of tokens: the sum of the input buckets is everything the model read, the sum of the
 * output buckets everything it produced. `reasoning` is the part of `output` that was reasoning, for information only. Every reader of a
 * wire format gives `{ ...noUsage, … }`, with a source for each number beside it.
 *
 * | bucket        | OpenAI Chat                                             | Anthropic Messages                                   |
 * |---------------|---------------------------------------------------------|------------------------------------------------------|
 * | input         | prompt_tokens without all that is below                 | input_tokens                                         |
 * | cacheRead     | prompt_tokens_details.cached_tokens                     | cache_read_input_tokens                              |
 * | cacheWrite    | prompt_tokens_details.cache_write_tokens                | cache_creation.ephemeral_5m_input_tokens, or all     |
 * | cacheWrite1h  | –                                                       | cache_creation.ephemeral_1h_input_tokens             |
 * | audioInput    | prompt_tokens_details.audio_tokens                      | –                                                    |
 * | imageInput    | prompt_tokens_details.image_tokens                      | –                                                    |
 * | output        | completion_tokens without all that is below             | output_tokens                                        |
 * | audioOutput   | completion_tokens_details.audio_tokens                  | –                                                    |
 * | imageOutput   | completion_tokens_details.image_tokens                  | –                                                    |
 * | reasoning     | completion_tokens_details.reasoning_tokens              | output_tokens_details.thinking_tokens                |
 */
export interface Usage {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cacheWrite1h: number
  readonly audioInput: number
  readonly imageInput: number
  readonly output: number
  readonly audioOutput: number
  readonly imageOutput: number
  readonly reasoning: number
  /** How often a price per call is due: images, weighted by size and quality. A decimal; token prices ignore it. */
  readonly calls: number
  /** Web searches that the vendor made for the call and bills apart. */
  readonly searches: number
  /** Tokens that were reported as cached beyond the whole prompt: nobody pays for them, and they make the report implausible. */
  readonly cacheExcess?: number
  /** Calls of other tools that the vendor runs and bills by the piece, by the name that `ToolPrice` has for each. */
  readonly toolCalls?: ToolCalls
  /** How the reply says that it was served; a member that the reply does not tell is absent. */
  readonly tier?: Tier
  /** What other models did for the call, such as an adviser: not part of the buckets above. */
  readonly byOthers?: readonly OtherUsage[]
}

export type ToolCalls = Readonly<Record<string, number>>

/**
 * The ways of being served that cost more or less than the ordinary one: the members of a request that choose one, each with its value,
 * as `{ service_tier: 'priority' }` or `{ speed: 'fast', inference_geo: 'us' }`.
 */
export type Tier = Readonly<Partial<Record<TierMember, string>>>

export type TierMember = 'service_tier' | 'speed' | 'inference_geo'

/** Tokens of a call that another model than the one asked for read and wrote. */
export interface OtherUsage {
  readonly model: string
  readonly usage: Usage
}

export const noUsage: Usage = Object.freeze({
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  audioInput: 0,
  imageInput: 0,
  output: 0,
  audioOutput: 0,
  imageOutput: 0,
  reasoning: 0,
  calls: 1,
  searches: 0,
})

export function promptTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite + usage.cacheWrite1h + usage.audioInput + usage.imageInput
}

export function completionTokens(usage: Usage): number {
  return usage.output + usage.audioOutput + usage.imageOutput
}
