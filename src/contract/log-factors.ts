import type { Candidate, Candidates } from './entities/channel-choice.ts'
import type { LogAttempt, LogFailure, LogIteration, LogOther } from './entities/log.ts'
import type { LongCacheLifetime } from './usage.ts'

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
  went_on_alone: 'boolean',
  interrupted: 'string',
  usage_implausible: 'boolean',
  usage_unexplained: 'number',
  cached_above_prompt: 'number',
  above_hold: 'boolean',
  undelivered: 'boolean',
  prompt_added: 'number',
  unpriced: 'boolean',
  price_source: 'string',
  price_vendor: 'string',
  price_date: 'string',
  price_above: 'number',
  price_from: 'string',
  price_hours: 'string',
  is_model_mapped: 'boolean',
  upstream_model_name: 'string',
  replaced_model: 'string',
  answered_model: 'string',
  redirected: 'boolean',
  reasoning_effort: 'string',
  upstream_format: 'string',
  dropped: 'object',
  reply_dropped: 'object',
  held: 'number',
  output_limit: 'number',
  batch: 'object',
  admin_info: 'object',
}

/** Members of the wrong type are treated as absent. */
export function readFactors(other: string): Factors {
  return readMembers(other, kinds)
}

const failureKinds: Readonly<Record<keyof LogFailure, 'number' | 'string' | 'boolean' | 'object'>> = {
  status: 'number',
  code: 'string',
  dialect: 'string',
  format: 'string',
  path: 'string',
  use_time_ms: 'number',
  frt: 'number',
  bytes_in: 'number',
  bytes_out: 'number',
  in_stream: 'boolean',
  charged: 'number',
  address: 'string',
  user_agent: 'string',
  limit: 'object',
  admin_info: 'object',
}

/** Reads the details of a failed call, as `readFactors` reads those of a charge. */
export function readFailure(other: string): Partial<LogFailure> {
  return readMembers(other, failureKinds)
}

function readMembers(other: string, kinds: Readonly<Record<string, string>>): object {
  return Object.fromEntries(
    Object.entries(parse(other)).filter(([name, value]) => value !== null && typeof value === kinds[name]),
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

/** Calls of tools that are billed by the piece, with the price of each. If a price is absent, the bill cannot be computed. */
export function toolCalls({ tool_calls: calls, tool_prices: prices }: Factors): readonly ToolCall[] {
  return numbersIn(calls).map(([name, count]) => ({ name, count, usd: new Map(numbersIn(prices)).get(name) }))
}

interface ToolCall {
  readonly name: string
  readonly count: number
  readonly usd: number | undefined
}

/**
 * The price of a cache write of this lifetime, as a multiple of a write of five minutes. Rows written before the factors were
 * stored have 1.6 for an hour.
 */
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

/** The channels that were tried, the last of which answered, unless the call failed. */
export function triedChannels({ admin_info: info }: Factors): readonly string[] {
  return Array.isArray(info?.use_channel) ? info.use_channel.map(String) : []
}

/** The attempts that failed; all of them if the call failed. */
export function failedAttempts({ admin_info: info }: Factors): readonly LogAttempt[] {
  return objectsIn(info?.attempts)
}

/** The candidates of an attempt, or of the last choice of a call. */
export function listedCandidates(chosen: { readonly candidates?: Candidates } | undefined): readonly Candidate[] {
  return objectsIn(chosen?.candidates?.listed)
}

/** Ids of all channels in the members that only admins see. */
export function channelsIn(factors: Factors): ReadonlySet<number> {
  const attempts = failedAttempts(factors)
  const candidates = [factors.admin_info, ...attempts].flatMap(listedCandidates)
  return new Set([...triedChannels(factors).map(Number), ...[...attempts, ...candidates].map(({ channel }) => channel)])
}

/** The most that may be charged by the row, whatever the call cost: the hold, or nothing for a reply that was not delivered. */
export function mostOf(factors: Factors): number | undefined {
  if (isUndelivered(factors)) return 0
  return factors.above_hold ? factors.held : undefined
}

/** Whether the reply never reached the caller. */
export function isUndelivered({ undelivered, admin_info: info }: Factors): boolean {
  return undelivered === true || info?.site_cost?.reason === 'undelivered'
}

/** Usage of other models during the call. */
export function iterationsOf({ iterations }: Factors): readonly LogIteration[] {
  return objectsIn(iterations)
}

function objectsIn<Line>(lines: readonly Line[] | undefined): readonly Line[] {
  return Array.isArray(lines) ? lines.filter((line) => typeof line === 'object' && line !== null) : []
}
