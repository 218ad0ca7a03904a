import { completionTokens, type Usage } from '../../../contract/usage.ts'
import { areCounts, arrayAt, countAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'

/**
 * Usage as a Messages reply tells it: the input without what came from or went into the cache. The split of cache writes stands in the
 * last event as well, where the vendor has it only in the first, so that a stream through two gateways keeps it.
 */
export function writeUsage(usage: Usage): JsonObject {
  const { input, audioInput, imageInput, cacheRead, cacheWrite, cacheWrite1h, reasoning, searches } = usage
  return {
    input_tokens: input + audioInput + imageInput,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: completionTokens(usage),
    output_tokens_details: reasoning > 0 ? { thinking_tokens: reasoning } : null,
    server_tool_use: searches > 0 ? { web_search_requests: searches, web_fetch_requests: 0 } : null,
  }
}

/**
 * Usage with all that the vendor did for one reply. The totals leave out some of it, such as the summary that shortens a conversation,
 * while `iterations` lists every part: where these are more together, they count. Source: types of the official SDK 1.10, 2026-11.
 */
export function withIterations(usage: Usage, reported: JsonObject): Usage {
  const parts = arrayAt(reported, 'iterations').filter(isObject)
  if (parts.length === 0 || !parts.every((part) => areCounts(part, counted))) return usage
  const sum = (count: (part: JsonObject) => number) => parts.reduce((total, part) => total + count(part), 0)
  const hour = (part: JsonObject) => countAt(objectAt(part, 'cache_creation'), 'ephemeral_1h_input_tokens')
  return {
    ...usage,
    input: Math.max(
      usage.input,
      sum((part) => countAt(part, 'input_tokens')),
    ),
    cacheRead: Math.max(
      usage.cacheRead,
      sum((part) => countAt(part, 'cache_read_input_tokens')),
    ),
    cacheWrite: Math.max(
      usage.cacheWrite,
      sum((part) => Math.max(0, countAt(part, 'cache_creation_input_tokens') - hour(part))),
    ),
    cacheWrite1h: Math.max(usage.cacheWrite1h, sum(hour)),
    output: Math.max(
      usage.output,
      sum((part) => countAt(part, 'output_tokens')),
    ),
  }
}

const counted = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']
