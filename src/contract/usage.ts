/**
 * What one finished call used, in tokens, as disjoint buckets: the sum of the input buckets is everything the model read, `output`
 * is everything it produced. `reasoning` is the part of `output` that was reasoning, for information only.
 *
 * | bucket        | OpenAI Chat                                            | Anthropic Messages                                   |
 * |---------------|--------------------------------------------------------|------------------------------------------------------|
 * | input         | prompt_tokens − cached_tokens − cache_write_tokens      | input_tokens                                         |
 * | cacheRead     | prompt_tokens_details.cached_tokens                    | cache_read_input_tokens                              |
 * | cacheWrite    | prompt_tokens_details.cache_write_tokens               | cache_creation.ephemeral_5m_input_tokens, or all     |
 * | cacheWrite1h  | –                                                      | cache_creation.ephemeral_1h_input_tokens             |
 * | output        | completion_tokens                                      | output_tokens                                        |
 * | reasoning     | completion_tokens_details.reasoning_tokens             | output_tokens_details.thinking_tokens                |
 */
export interface Usage {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cacheWrite1h: number
  readonly output: number
  readonly reasoning: number
}

export const noUsage: Usage = Object.freeze({ input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 })

export function promptTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite + usage.cacheWrite1h
}
