import {
  cachedTokens,
  cacheWriteBuckets,
  completionTokens,
  noUsage,
  promptTokens,
  reasoningTokens,
  type Usage,
  writtenTokens,
} from '../../../../contract/usage.ts'
import { countCalls, type PaidCall } from '../paid-calls.ts'
import { cachedKinds, placeTotals } from '../place-totals.ts'
import { readReplyFees } from '../reply-fees.ts'
import { readSvgUsage } from '../svg-usage.ts'
import { tierServed } from '../tiers.ts'
import { readCached, readCacheWrites, readReasoning } from '../usage-names.ts'
import { areCounts, arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * Usage of a response in disjoint buckets, in tokens. `input_tokens` contains cache reads and writes, and `output_tokens` reasoning,
 * unless the total shows otherwise (`place-totals.ts`). Usage of the vendor's tools is in `tool_usage`. Undefined when nothing is
 * reported or a number is invalid. Source: types of the official SDK 7.57, protocols notes 1.3 and 3.12.
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
  const reasoning = readReasoning(usage, objectAt(usage, 'output_tokens_details'))
  const writes = readCacheWrites(usage, details)
  const written = writes ? writtenTokens(writes) : 0
  const cached = readCached(usage, details)
  const placed = placeTotals({ prompt: input, completion: output, total, cached, written, reasoning })
  const drawn = drawingUsage(response)
  const svg = readSvgUsage(arrayAt(response, 'output').filter(isImageCall))

  return {
    ...noUsage,
    input: placed.plain + drawn.input + svg.input,
    ...cachedKinds(placed.cached + drawn.cacheRead),
    cachedImage: drawn.cachedImage,
    ...writes,
    imageInput: drawn.imageInput,
    output: placed.completion + drawn.output + svg.output,
    imageOutput: drawn.imageOutput,
    reasoning: reasoning + svg.reasoning,
    ...placed.marks,
    ...callsIn(response, readReplyFees(usage)),
    ...tierServed(response),
  }
}

/**
 * Writes usage in the form of Responses. Strict clients need both objects of details; the lifetimes of cache writes are reported
 * where the format has members for them.
 */
export function writeResponsesUsage(usage: Usage): JsonObject {
  const input = promptTokens(usage)
  const output = completionTokens(usage)
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cachedTokens(usage),
      cache_write_tokens: writtenTokens(usage),
      ...lifetimeDetails(usage),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoningTokens(usage) },
    total_tokens: input + output,
  }
}

function lifetimeDetails(usage: Usage): JsonObject {
  const counts = (['30m', '12h'] as const).map(
    (lifetime) => [`ttl_${lifetime}_tokens`, usage[cacheWriteBuckets[lifetime]]] as const,
  )
  return counts.some(([, count]) => count > 0) ? { cache_write_tokens_details: Object.fromEntries(counts) } : {}
}

/**
 * Tokens of the image tool: text and image input, the cached part of both, text and image output. Output without details counts as
 * image tokens.
 */
function drawingUsage(response: JsonObject) {
  const drawing = objectAt(objectAt(response, 'tool_usage') ?? {}, 'image_gen') ?? {}
  const read = countAt(drawing, 'input_tokens')
  const seen = Math.min(read, countAt(objectAt(drawing, 'input_tokens_details'), 'image_tokens'))
  const cached = objectAt(drawing, 'cached_tokens_details')
  const cachedImage = Math.min(seen, countAt(cached, 'cached_image_tokens'))
  const readAgain = cached ? countAt(cached, 'cached_text_tokens') : countAt(drawing, 'cached_tokens')
  const cacheRead = Math.min(read - seen, readAgain)
  const made = countAt(drawing, 'output_tokens')
  const details = objectAt(drawing, 'output_tokens_details')
  const pictures = details ? Math.min(made, countAt(details, 'image_tokens')) : made
  return {
    input: read - seen - cacheRead,
    cacheRead,
    cachedImage,
    imageInput: seen - cachedImage,
    output: made - pictures,
    imageOutput: pictures,
  }
}

function isImageCall(item: unknown): item is JsonObject {
  return isObject(item) && item.type === 'image_generation_call'
}

/** The vendor's own numbers take precedence over its output items. */
function callsIn(response: JsonObject, fees: ReturnType<typeof readReplyFees>): Pick<Usage, 'searches' | 'toolCalls'> {
  const calls = arrayAt(response, 'output').flatMap((item, at) => paidCallOf(item, at) ?? [])
  const reported = countAt(objectAt(objectAt(response, 'tool_usage') ?? {}, 'web_search'), 'num_requests')
  const counted = countCalls(calls)
  const toolCalls = fees?.toolCalls ? { ...counted.toolCalls, ...fees.toolCalls } : counted.toolCalls
  return { searches: fees?.searches ?? (reported || counted.searches), ...(toolCalls ? { toolCalls } : {}) }
}

/**
 * An output item that is billed per call: a web or file search, an image, the container in which code ran. `at` is its index, for
 * items without an id.
 */
export function paidCallOf(item: unknown, at: number): PaidCall | undefined {
  if (!isObject(item) || item.status === 'failed') return undefined
  const id = textAt(item, 'id') || String(at)
  switch (item.type) {
    case 'web_search_call':
      return isSearch(item) ? { tool: 'web_search', id } : undefined
    case 'file_search_call':
      return { tool: 'file_search', id }
    case 'image_generation_call':
      return { tool: pictureName(item), id }
    case 'code_interpreter_call':
      return { tool: 'code_interpreter', id: textAt(item, 'container_id') }
    case 'shell_call': {
      const environment = objectAt(item, 'environment')
      const isOwn = !environment || environment.type === 'local'
      return isOwn ? undefined : { tool: 'shell', id: textAt(environment, 'container_id') }
    }
    default:
      return undefined
  }
}

/** Opening a page and searching in it are not billed. */
function isSearch(item: JsonObject): boolean {
  const action = textAt(objectAt(item, 'action') ?? {}, 'type')
  return action === '' || action === 'search'
}

/** The price of an image depends on its quality, if the reply contains it. */
function pictureName(item: JsonObject): string {
  const quality = textAt(item, 'quality')
  return quality === '' || quality === 'auto' ? 'image_generation' : `image_generation_${quality}`
}
