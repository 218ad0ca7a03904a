import { completionTokens, noUsage, promptTokens, type Usage } from '../../../contract/usage.ts'
import { areCounts, arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * Usage of a response in disjoint buckets, in tokens. `input_tokens` contains what was read from and written to the cache. A host that
 * leaves reasoning out of `output_tokens` is seen by a total that is larger than the sum. What tools of the vendor used stands
 * apart, in `tool_usage`. Undefined when nothing is reported or a number cannot be meant.
 * Source: types of the official SDK 7.51, protocols notes 1.3 and 3.12.
 */
export function readResponseUsage(response: JsonObject): Usage | undefined {
  const usage = objectAt(response, 'usage')
  if (!usage || !areCounts(usage, ['input_tokens', 'output_tokens', 'total_tokens'])) return undefined
  const hasInput = typeof usage.input_tokens === 'number'
  const hasOutput = typeof usage.output_tokens === 'number'
  if (!hasInput && !hasOutput) return undefined

  const total = countAt(usage, 'total_tokens')
  const output = hasOutput ? countAt(usage, 'output_tokens') : Math.max(0, total - countAt(usage, 'input_tokens'))
  const input = hasInput ? countAt(usage, 'input_tokens') : Math.max(0, total - output)
  const details = objectAt(usage, 'input_tokens_details')
  const cached = countAt(details, 'cached_tokens')
  const written = Math.min(countAt(details, 'cache_write_tokens'), Math.max(0, input - cached))
  const writtenLong = Math.min(written, countAt(objectAt(details ?? {}, 'cache_write_tokens_details'), 'ttl_12h_tokens'))
  const reasoning = countAt(objectAt(usage, 'output_tokens_details'), 'reasoning_tokens')
  const splitOut = reasoning > 0 && total === input + output + reasoning
  const drawn = drawingUsage(response)

  // More from the cache than was read means that the host counts the cached tokens beside the input.
  return {
    ...noUsage,
    input: Math.max(0, input - cached - written) + drawn.read,
    cacheRead: cached,
    cacheWrite: written - writtenLong,
    cacheWrite1h: writtenLong,
    imageInput: drawn.seen,
    output: splitOut ? output + reasoning : output,
    imageOutput: drawn.made,
    reasoning,
    searches: searchesOf(response),
  }
}

/** The same as Responses reports it. Strict clients need both objects of details. */
export function writeResponsesUsage(usage: Usage): JsonObject {
  const input = promptTokens(usage)
  const output = completionTokens(usage)
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  }
}

/** Tokens of the tool that makes pictures: its prompt, the pictures that it was given, those that it made. */
function drawingUsage(response: JsonObject): { read: number; seen: number; made: number } {
  const drawing = objectAt(objectAt(response, 'tool_usage') ?? {}, 'image_gen')
  const read = countAt(drawing, 'input_tokens')
  const seen = Math.min(read, countAt(objectAt(drawing ?? {}, 'input_tokens_details'), 'image_tokens'))
  return { read: read - seen, seen, made: countAt(drawing, 'output_tokens') }
}

function searchesOf(response: JsonObject): number {
  const told = countAt(objectAt(objectAt(response, 'tool_usage') ?? {}, 'web_search'), 'num_requests')
  return told || arrayAt(response, 'output').filter(isSearch).length
}

/** Pages that were opened or searched in are not billed. */
function isSearch(item: unknown): boolean {
  if (!isObject(item) || item.type !== 'web_search_call' || item.status === 'failed') return false
  const action = textAt(objectAt(item, 'action') ?? {}, 'type')
  return action === '' || action === 'search'
}
