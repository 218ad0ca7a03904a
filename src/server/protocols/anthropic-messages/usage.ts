import { completionTokens, noUsage, type OtherUsage, type Usage } from '../../../contract/usage.ts'
import { messagesTierServed } from '../tiers.ts'
import { areCounts, arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

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
 * Usage of Messages in disjoint buckets. In a stream `message_start` reports the input and `message_delta` overrides with what is
 * known at the end, running totals both; a field that is null keeps the earlier number. A report with a number that cannot be meant is
 * none, nor is a first one without the input. `told` is a message, or an event that changes one.
 */
export function readMessagesUsage(told: JsonObject, before: Usage | undefined): Usage | undefined {
  const usage = objectAt(told, 'usage')
  if (!usage || !areCounts(usage, ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']))
    return before
  if (!before && typeof usage.input_tokens !== 'number') return undefined
  const has = (key: string) => typeof usage[key] === 'number'
  const creation = objectAt(usage, 'cache_creation')
  const written1h = creation ? countAt(creation, 'ephemeral_1h_input_tokens') : (before?.cacheWrite1h ?? 0)
  const written = has('cache_creation_input_tokens')
    ? Math.max(0, countAt(usage, 'cache_creation_input_tokens') - written1h)
    : creation
      ? countAt(creation, 'ephemeral_5m_input_tokens')
      : (before?.cacheWrite ?? 0)
  const thinking = objectAt(usage, 'output_tokens_details')

  const totals = {
    ...noUsage,
    input: has('input_tokens') ? countAt(usage, 'input_tokens') : (before?.input ?? 0),
    cacheRead: has('cache_read_input_tokens') ? countAt(usage, 'cache_read_input_tokens') : (before?.cacheRead ?? 0),
    cacheWrite: written,
    cacheWrite1h: written1h,
    output: has('output_tokens') ? countAt(usage, 'output_tokens') : (before?.output ?? 0),
    reasoning: thinking ? countAt(thinking, 'thinking_tokens') : (before?.reasoning ?? 0),
    searches: countAt(objectAt(usage, 'server_tool_use'), 'web_search_requests') || (before?.searches ?? 0),
    ...containersOf(told, before),
    ...messagesTierServed(usage, before?.tier),
    ...(before?.byOthers ? { byOthers: before.byOthers } : {}),
  }
  return withIterations(totals, usage)
}

/** A container that code ran in: the reply names it at its end. */
function containersOf(told: JsonObject, before: Usage | undefined): Pick<Usage, 'toolCalls'> {
  const container = objectAt(told, 'container') ?? objectAt(objectAt(told, 'delta') ?? {}, 'container')
  if (container) return { toolCalls: { code_execution: 1 } }
  return before?.toolCalls ? { toolCalls: before.toolCalls } : {}
}

/**
 * Usage with all that the vendor did for one reply. The totals leave out some of it, such as the summary that shortens a conversation,
 * while `iterations` lists every part: where these are more together, they count. What an adviser or a model that stepped in did goes
 * to `byOthers`; where one stepped in, the totals may be its own, so that only the parts count.
 * Source: types of the official SDK 1.10, 2026-11.
 */
function withIterations(usage: Usage, reported: JsonObject): Usage {
  const parts = arrayAt(reported, 'iterations').filter(isObject)
  if (parts.length === 0 || !parts.every((part) => areCounts(part, counted))) return usage
  const steppedIn = new Set(parts.filter(({ type }) => type === 'fallback_message').map((part) => textAt(part, 'model')))
  const isOther = (part: JsonObject) => part.type === 'advisor_message' || steppedIn.has(textAt(part, 'model'))
  const own = sumOf(parts.filter((part) => !isOther(part)))
  const others = byModel(parts.filter(isOther))
  const totals = steppedIn.size > 0 ? own : Object.fromEntries(buckets.map((name) => [name, Math.max(usage[name], own[name])]))
  return { ...usage, ...totals, ...(others.length > 0 ? { byOthers: others } : {}) }
}

const counted = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']
const buckets = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output'] as const
type Buckets = Readonly<Record<(typeof buckets)[number], number>>

function byModel(parts: readonly JsonObject[]): OtherUsage[] {
  const models = [...new Set(parts.map((part) => textAt(part, 'model')))]
  return models.map((model) => {
    const ofModel = parts.filter((part) => textAt(part, 'model') === model)
    // An adviser runs at its ordinary speed, however fast the model runs that it advises.
    const tier = ofModel.every(({ type }) => type === 'advisor_message') ? { tier: { speed: 'standard' } } : {}
    return { model, usage: { ...noUsage, ...sumOf(ofModel), calls: ofModel.length, ...tier } }
  })
}

function sumOf(parts: readonly JsonObject[]): Buckets {
  const hour = (part: JsonObject) => countAt(objectAt(part, 'cache_creation'), 'ephemeral_1h_input_tokens')
  const sum = (count: (part: JsonObject) => number) => parts.reduce((total, part) => total + count(part), 0)
  return {
    input: sum((part) => countAt(part, 'input_tokens')),
    cacheRead: sum((part) => countAt(part, 'cache_read_input_tokens')),
    cacheWrite: sum((part) => Math.max(0, countAt(part, 'cache_creation_input_tokens') - hour(part))),
    cacheWrite1h: sum(hour),
    output: sum((part) => countAt(part, 'output_tokens')),
  }
}
