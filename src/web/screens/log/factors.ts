import type { Log, LogIteration, LogOther } from '../../../contract/entities/log.ts'
import { siteCostReasonLabels, siteCostReasons } from '../../../contract/entities/site-cost.ts'
import type { Text } from '../../../contract/text.ts'
import type { LongCacheLifetime } from '../../../contract/usage.ts'

/** A log row with what its `other` says. */
export interface LogRow extends Log {
  readonly factors: Factors
}

/** Anything may be absent: rows of other programs were imported, and only consume rows have factors at all. */
export type Factors = Readonly<Partial<LogOther>>

const kinds: Readonly<Record<keyof LogOther, 'number' | 'string' | 'boolean' | 'object'>> = {
  model_ratio: 'number',
  completion_ratio: 'number',
  model_price: 'number',
  group_ratio: 'number',
  cache_ratio: 'number',
  create_cache_ratio: 'number',
  quota_per_unit: 'number',
  input_tokens: 'number',
  cache_tokens: 'number',
  cache_creation_tokens: 'number',
  cache_creation_30m_tokens: 'number',
  cache_creation_1h_tokens: 'number',
  cache_creation_12h_tokens: 'number',
  cache_creation_factors: 'object',
  output_tokens: 'number',
  reasoning_tokens: 'number',
  audio_input: 'number',
  audio_output: 'number',
  audio_ratio: 'number',
  audio_completion_ratio: 'number',
  cached_audio: 'number',
  audio_cache_ratio: 'number',
  image_input: 'number',
  image_output: 'number',
  image_ratio: 'number',
  image_completion_ratio: 'number',
  cached_image: 'number',
  image_cache_ratio: 'number',
  video_output: 'number',
  video_completion_ratio: 'number',
  calls: 'number',
  searches: 'number',
  search_price: 'number',
  tier_asked: 'string',
  tier_served: 'string',
  tier_factor: 'number',
  tool_calls: 'object',
  tool_prices: 'object',
  iterations: 'object',
  frt: 'number',
  use_time_ms: 'number',
  estimated: 'boolean',
  interrupted: 'string',
  usage_implausible: 'boolean',
  unpriced: 'boolean',
  price_source: 'string',
  price_vendor: 'string',
  price_date: 'string',
  price_above: 'number',
  is_model_mapped: 'boolean',
  upstream_model_name: 'string',
  reasoning_effort: 'string',
  upstream_format: 'string',
  dropped: 'object',
  reply_dropped: 'object',
  held: 'number',
  output_limit: 'number',
  admin_info: 'object',
}

export function withFactors(log: Log): LogRow {
  return { ...log, factors: readFactors(log.other) }
}

/** What is not of its kind is taken as absent. */
export function readFactors(other: string): Factors {
  const expected: Readonly<Record<string, string>> = kinds
  return Object.fromEntries(
    Object.entries(parse(other)).filter(([name, value]) => value !== null && typeof value === expected[name]),
  )
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** The channels that were tried, the last of which answered. */
export function triedChannels({ admin_info: info }: Factors): readonly string[] {
  return Array.isArray(info?.use_channel) ? info.use_channel.map(String) : []
}

export type Attempt = NonNullable<NonNullable<LogOther['admin_info']>['attempts']>[number]

/** The tries that failed before the last. */
export function failedAttempts({ admin_info: info }: Factors): readonly Attempt[] {
  return Array.isArray(info?.attempts) ? info.attempts : []
}

/** What the site bears of the upstream's bill, and why. */
export function siteCostOf({ admin_info: info }: Factors): { units: number; label: Text } | undefined {
  const { amount, reason } = info?.site_cost ?? {}
  const label = siteCostReasons.find((known) => known === reason)
  return label && typeof amount === 'number' ? { units: amount, label: siteCostReasonLabels[label] } : undefined
}

/** Calls of tools that are billed by the piece, with the price of each. A price that is absent leaves the bill uncomputable. */
export function toolCalls({ tool_calls: calls, tool_prices: prices }: Factors): readonly ToolCall[] {
  return numbersIn(calls).map(([name, count]) => ({ name, count, usd: new Map(numbersIn(prices)).get(name) }))
}

export interface ToolCall {
  readonly name: string
  readonly count: number
  readonly usd: number | undefined
}

/** The multiple of a cache write of five minutes that one of this lifetime costs. A row that lacks it is from before others were kept. */
export function cacheWriteFactor(
  { cache_creation_factors: factors }: Pick<Factors, 'cache_creation_factors'>,
  lifetime: LongCacheLifetime,
): number | undefined {
  return new Map(numbersIn(factors)).get(lifetime) ?? (factors === undefined && lifetime === '1h' ? 1.6 : undefined)
}

function numbersIn(value: unknown): [string, number][] {
  const entries: [string, unknown][] = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number')
}

/** What other models did for the call. */
export function iterationsOf({ iterations }: Factors): readonly LogIteration[] {
  return Array.isArray(iterations) ? iterations.filter((line) => typeof line === 'object' && line !== null) : []
}

/** Fields of the request that the upstream's format could not carry. */
export function droppedFields({ dropped }: Factors): readonly string[] {
  return Array.isArray(dropped) ? dropped.map(String) : []
}

/** What the reply of the upstream held and the caller's format could not. */
export function droppedOfReply({ reply_dropped: dropped }: Factors): readonly string[] {
  return Array.isArray(dropped) ? dropped.map(String) : []
}

export function durationMs({ use_time, factors }: LogRow): number {
  return factors.use_time_ms ?? use_time * 1000
}
