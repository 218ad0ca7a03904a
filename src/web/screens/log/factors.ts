import type { Log, LogOther } from '../../../contract/entities/log.ts'

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
  cache_creation_1h_tokens: 'number',
  output_tokens: 'number',
  reasoning_tokens: 'number',
  audio_input: 'number',
  audio_output: 'number',
  audio_ratio: 'number',
  audio_completion_ratio: 'number',
  image_input: 'number',
  image_output: 'number',
  image_ratio: 'number',
  image_completion_ratio: 'number',
  calls: 'number',
  searches: 'number',
  search_price: 'number',
  frt: 'number',
  use_time_ms: 'number',
  estimated: 'boolean',
  interrupted: 'string',
  unpriced: 'boolean',
  is_model_mapped: 'boolean',
  upstream_model_name: 'string',
  reasoning_effort: 'string',
  upstream_format: 'string',
  dropped: 'object',
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

/** Fields of the request that the upstream's format could not carry. */
export function droppedFields({ dropped }: Factors): readonly string[] {
  return Array.isArray(dropped) ? dropped.map(String) : []
}

export function durationMs({ use_time, factors }: LogRow): number {
  return factors.use_time_ms ?? use_time * 1000
}
