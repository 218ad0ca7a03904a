import { type CacheLifetime, type CacheWrites, cacheLifetimes, cacheWritesOf } from '../../../contract/usage.ts'
import { countAt, type JsonObject, objectAt, textAt } from './wire-format.ts'

/** A name under which hosts report a number in the usage of OpenAI's formats. */
interface UsageName {
  readonly counts: 'reads' | 'writes' | 'reasoning'
  readonly name: string
  /** In the usage itself, or in its details: `prompt_tokens_details`, `completion_tokens_details` and their twins of Responses. */
  readonly in: 'usage' | 'details'
  readonly hosts: string
  /** Where it is documented, read in November 2026. */
  readonly source: string
}

/** Of several names for one number, the first with a number above 0 counts: hosts repeat it for clients of other hosts. */
const usageNames: readonly UsageName[] = [
  { counts: 'reads', name: 'cached_tokens', in: 'details', hosts: 'OpenAI, Azure, Alibaba, xAI', source: 'OpenAI SDK 7.57' },
  { counts: 'reads', name: 'prompt_cache_hit_tokens', in: 'usage', hosts: 'DeepSeek, new-api', source: 'api-docs.deepseek.com' },
  { counts: 'reads', name: 'cached_tokens', in: 'usage', hosts: 'Moonshot, Together', source: 'protocols notes 2.2' },
  { counts: 'reads', name: 'num_cached_tokens', in: 'usage', hosts: 'Mistral', source: 'protocols notes 2.2' },
  { counts: 'reads', name: 'cache_read_input_tokens', in: 'usage', hosts: 'LiteLLM, Databricks', source: 'docs.litellm.ai' },
  { counts: 'writes', name: 'cache_write_tokens', in: 'details', hosts: 'OpenAI, OpenRouter', source: 'OpenAI SDK 7.57' },
  {
    counts: 'writes',
    name: 'cache_creation_input_tokens',
    in: 'details',
    hosts: 'Alibaba',
    source: 'www.alibabacloud.com/help/en/model-studio/context-cache',
  },
  { counts: 'writes', name: 'cache_creation_tokens', in: 'details', hosts: 'LiteLLM', source: 'docs.litellm.ai' },
  { counts: 'writes', name: 'cached_creation_tokens', in: 'details', hosts: 'new-api', source: 'docs.newapi.pro' },
  { counts: 'writes', name: 'cache_creation_input_tokens', in: 'usage', hosts: 'LiteLLM, Databricks', source: 'docs.litellm.ai' },
  { counts: 'reasoning', name: 'reasoning_tokens', in: 'details', hosts: 'OpenAI', source: 'OpenAI SDK 7.57' },
  { counts: 'reasoning', name: 'reasoning_tokens', in: 'usage', hosts: 'Perplexity', source: 'docs.perplexity.ai' },
]

/** Cache writes by lifetime: a member for each, with the lifetime in place of `…`. */
const lifetimeNames: readonly (Omit<UsageName, 'counts'> & { readonly member: string })[] = [
  { name: 'cache_write_tokens_details', in: 'details', member: 'ttl_…_tokens', hosts: 'OpenAI', source: 'OpenAI SDK 7.57' },
  {
    name: 'cache_creation',
    in: 'details',
    member: 'ephemeral_…_input_tokens',
    hosts: 'Alibaba',
    source: 'www.alibabacloud.com/help/en/model-studio/context-cache',
  },
  {
    name: 'cache_creation_token_details',
    in: 'details',
    member: 'ephemeral_…_input_tokens',
    hosts: 'LiteLLM',
    source: 'docs.litellm.ai',
  },
  {
    name: 'cache_creation',
    in: 'usage',
    member: 'ephemeral_…_input_tokens',
    hosts: 'hosts of Claude models',
    source: 'Anthropic SDK 1.14',
  },
]

/** Cache reads; `details` are those of the prompt. */
export function readCached(usage: JsonObject, details: JsonObject | undefined): number {
  return firstOf(details, names.readsInDetails) || firstOf(usage, names.readsInUsage)
}

/** Reasoning; `details` are those of the output. */
export function readReasoning(usage: JsonObject, details: JsonObject | undefined): number {
  return firstOf(details, names.reasoningInDetails) || firstOf(usage, names.reasoningInUsage)
}

/**
 * Cache writes with their lifetimes, as far as they are reported; undefined without any. `details` are those of the prompt.
 */
export function readCacheWrites(usage: JsonObject, details: JsonObject | undefined): CacheWrites | undefined {
  const counts = newApiWrites(usage)
  const reported = firstOf(details, names.writesInDetails) || firstOf(usage, names.writesInUsage)
  if (counts) return cacheWritesOf(Math.max(reported, counts('5m') + counts('1h')), counts)
  return reported === 0 ? undefined : cacheWritesOf(reported, lifetimesIn(usage, details))
}

/**
 * The cache writes that new-api reports by lifetime in members of its own, in Chat and in Messages; undefined without them. Source:
 * docs.newapi.pro, read 2026-11.
 */
export function newApiWrites(usage: JsonObject): ((lifetime: CacheLifetime) => number) | undefined {
  const short = countAt(usage, 'claude_cache_creation_5_m_tokens')
  const long = countAt(usage, 'claude_cache_creation_1_h_tokens')
  if (short + long === 0) return undefined
  return (lifetime) => (lifetime === '5m' ? short : lifetime === '1h' ? long : 0)
}

/** Undefined when the host reports no lifetime. Alibaba's `cache_type` has one value, for a cache of five minutes. */
function lifetimesIn(usage: JsonObject, details: JsonObject | undefined): ((lifetime: CacheLifetime) => number) | undefined {
  for (const { name, in: place, member } of lifetimeNames) {
    const counts = objectAt((place === 'usage' ? usage : details) ?? {}, name)
    const countOf = (lifetime: CacheLifetime) => countAt(counts, member.replace('…', lifetime))
    if (counts && cacheLifetimes.some((lifetime) => countOf(lifetime) > 0)) return countOf
  }
  return details && textAt(details, 'cache_type') === 'ephemeral' ? () => 0 : undefined
}

const namesOf = (counts: UsageName['counts'], place: UsageName['in']) =>
  usageNames.filter((row) => row.counts === counts && row.in === place).map(({ name }) => name)

const names = {
  readsInDetails: namesOf('reads', 'details'),
  readsInUsage: namesOf('reads', 'usage'),
  writesInDetails: namesOf('writes', 'details'),
  writesInUsage: namesOf('writes', 'usage'),
  reasoningInDetails: namesOf('reasoning', 'details'),
  reasoningInUsage: namesOf('reasoning', 'usage'),
}

function firstOf(counts: JsonObject | undefined, among: readonly string[]): number {
  if (!counts) return 0
  for (const name of among) {
    const count = countAt(counts, name)
    if (count > 0) return count
  }
  return 0
}
