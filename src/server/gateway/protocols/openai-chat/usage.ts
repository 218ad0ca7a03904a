import {
  cachedTokens,
  completionTokens,
  promptTokens,
  reasoningTokens,
  type Usage,
  writtenTokens,
} from '../../../../contract/usage.ts'
import type { JsonObject } from '../wire-format.ts'

/** Usage in Chat's form, which has totals with details. Source: protocols notes 3.12. */
export function writeChatUsage(usage: Usage): JsonObject {
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  const written = writtenTokens(usage)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cachedTokens(usage),
      audio_tokens: usage.audioInput,
      ...(written > 0 ? { cache_write_tokens: written } : {}),
      ...(usage.imageInput > 0 ? { image_tokens: usage.imageInput } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens(usage),
      audio_tokens: usage.audioOutput,
      ...(usage.imageOutput > 0 ? { image_tokens: usage.imageOutput } : {}),
    },
  }
}
