import {
  type CacheLifetime,
  type CacheWrites,
  cachedTokens,
  cacheLifetimes,
  cacheWriteBuckets,
  cacheWritesOf,
  completionTokens,
  longCacheLifetimes,
  noUsage,
  type OtherUsage,
  reasoningTokens,
  type Usage,
  writtenTokens,
} from '../../../../contract/usage.ts'
import { messagesTierServed } from '../tiers.ts'
import { newApiWrites } from '../usage-names.ts'
import { areCounts, arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * Usage as a Messages reply reports it: the input without cache reads and writes. The split of cache writes is also in the last event,
 * although the vendor has it only in the first, so that a stream through two gateways keeps it.
 */
export function writeUsage(usage: Usage): JsonObject {
  const { input, audioInput, imageInput, searches } = usage
  const reasoning = reasoningTokens(usage)
  return {
    input_tokens: input + audioInput + imageInput,
    cache_creation_input_tokens: writtenTokens(usage),
    cache_read_input_tokens: cachedTokens(usage),
    cache_creation: Object.fromEntries(writesOf(usage)),
    output_tokens: completionTokens(usage),
    output_tokens_details: reasoning > 0 ? { thinking_tokens: reasoning } : null,
    server_tool_use: searches > 0 ? { web_search_requests: searches, web_fetch_requests: 0 } : null,
  }
}

/** Always includes the vendor's own two lifetimes, since strict clients need them. */
function writesOf(usage: Usage): [member: string, tokens: number][] {
  const counts = cacheLifetimes.map((lifetime) => ({ lifetime, tokens: usage[cacheWriteBuckets[lifetime]] }))
  return counts
    .filter(({ lifetime, tokens }) => tokens > 0 || lifetime === '5m' || lifetime === '1h')
    .map(({ lifetime, tokens }) => [`ephemeral_${lifetime}_input_tokens`, tokens])
}

/**
 * Usage of Messages in disjoint buckets. In a stream `message_start` reports the input and `message_delta` overrides it at the end,
 * running totals both; a null field keeps the earlier number. A report with an invalid number is ignored, as is a first one without
 * the input. `message` is a complete message, or an event that updates it.
 */
export function readMessagesUsage(message: JsonObject, before: Usage | undefined): Usage | undefined {
  const usage = objectAt(message, 'usage')
  if (!usage || !areCounts(usage, ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']))
    return before
  if (!before && typeof usage.input_tokens !== 'number') return undefined
  const has = (key: string) => typeof usage[key] === 'number'
  const thinking = objectAt(usage, 'output_tokens_details')

  const totals = {
    ...noUsage,
    input: has('input_tokens') ? countAt(usage, 'input_tokens') : (before?.input ?? 0),
    cacheRead: has('cache_read_input_tokens') ? countAt(usage, 'cache_read_input_tokens') : (before?.cacheRead ?? 0),
    ...writesIn(usage, before),
    output: has('output_tokens') ? countAt(usage, 'output_tokens') : (before?.output ?? 0),
    reasoning: thinking ? countAt(thinking, 'thinking_tokens') : (before?.reasoning ?? 0),
    searches: countAt(objectAt(usage, 'server_tool_use'), 'web_search_requests') || (before?.searches ?? 0),
    ...containersOf(message, before),
    ...messagesTierServed(usage, before?.tier),
    ...(before?.byOthers ? { byOthers: before.byOthers } : {}),
  }
  return withIterations(totals, usage)
}

/**
 * Lifetimes are listed in `cache_creation` or in new-api's members, now or in an earlier report. They count even where the total is
 * smaller.
 */
function writesIn(usage: JsonObject, before?: CacheWrites): CacheWrites {
  const creation = objectAt(usage, 'cache_creation')
  const ofNewApi = creation ? undefined : newApiWrites(usage)
  const isKnown =
    creation !== undefined || ofNewApi !== undefined || (before && writtenTokens(before) > 0 && !before.cacheLifetimeUnknown)
  const countOf = (lifetime: CacheLifetime) =>
    creation
      ? countAt(creation, `ephemeral_${lifetime}_input_tokens`)
      : ofNewApi
        ? ofNewApi(lifetime)
        : (before?.[cacheWriteBuckets[lifetime]] ?? 0)
  const long = longCacheLifetimes.reduce((sum, lifetime) => sum + countOf(lifetime), 0)
  const isTold = typeof usage.cache_creation_input_tokens === 'number'
  const total = isTold ? Math.max(long, countAt(usage, 'cache_creation_input_tokens')) : long + countOf('5m')
  return cacheWritesOf(total, isKnown ? countOf : undefined)
}

/** The container that ran code, which the end of the reply names. */
function containersOf(message: JsonObject, before: Usage | undefined): Pick<Usage, 'toolCalls'> {
  const container = objectAt(message, 'container') ?? objectAt(objectAt(message, 'delta') ?? {}, 'container')
  if (container) return { toolCalls: { code_execution: 1 } }
  return before?.toolCalls ? { toolCalls: before.toolCalls } : {}
}

/**
 * Usage of one reply with all its iterations. The totals omit parts of it, such as the summary that shortens a conversation, while
 * `iterations` lists every part: if the parts sum to more, they are used. Usage of an adviser or a fallback model goes to `byOthers`;
 * with a fallback the totals may be its own, so that only the parts are used. Source: types of the official SDK 1.10, 2026-11.
 */
function withIterations(usage: Usage, reported: JsonObject): Usage {
  const parts = arrayAt(reported, 'iterations').filter(isObject)
  if (parts.length === 0 || !parts.every((part) => areCounts(part, counted))) return usage
  const steppedIn = new Set(parts.filter(({ type }) => type === 'fallback_message').map((part) => textAt(part, 'model')))
  const isOther = (part: JsonObject) => part.type === 'advisor_message' || steppedIn.has(textAt(part, 'model'))
  const own = sumOf(parts.filter((part) => !isOther(part)))
  const others = byModel(parts.filter(isOther))
  const totals =
    steppedIn.size > 0 ? own : Object.fromEntries(countedBuckets.map((name) => [name, Math.max(usage[name], own[name])]))
  return { ...usage, ...totals, ...(others.length > 0 ? { byOthers: others } : {}) }
}

const counted = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']
const countedBuckets = ['input', 'cacheRead', ...Object.values(cacheWriteBuckets), 'output'] as const
const noBuckets = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite30m: 0, cacheWrite1h: 0, cacheWrite12h: 0, output: 0 }
type Buckets = Readonly<Record<(typeof countedBuckets)[number], number>>

function byModel(parts: readonly JsonObject[]): OtherUsage[] {
  const models = [...new Set(parts.map((part) => textAt(part, 'model')))]
  return models.map((model) => {
    const ofModel = parts.filter((part) => textAt(part, 'model') === model)
    // An adviser runs at standard speed, independent of the speed of the model that it advises.
    const tier = ofModel.every(({ type }) => type === 'advisor_message') ? { tier: { speed: 'standard' } } : {}
    return { model, usage: { ...noUsage, ...sumOf(ofModel), calls: ofModel.length, ...tier } }
  })
}

function sumOf(parts: readonly JsonObject[]): Buckets {
  const sums = { ...noBuckets }
  for (const part of parts) {
    const one = {
      input: countAt(part, 'input_tokens'),
      cacheRead: countAt(part, 'cache_read_input_tokens'),
      ...writesIn(part),
      output: countAt(part, 'output_tokens'),
    }
    for (const bucket of countedBuckets) sums[bucket] += one[bucket]
  }
  return sums
}
