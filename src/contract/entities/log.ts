import { z } from 'zod'
import type { Text } from '../text.ts'
import type { LongCacheLifetime } from '../usage.ts'
import type { Candidates } from './channel-choice.ts'
import type { SiteCostReason } from './site-cost.ts'

export const logType = { topUp: 1, consume: 2, manage: 3, system: 4, error: 5 } as const

export const logTypeLabels: Readonly<Record<number, { label: Text; color: string }>> = {
  1: { label: { zh: '充值', en: 'Top-up' }, color: 'cyan' },
  2: { label: { zh: '消费', en: 'Usage' }, color: 'lime' },
  3: { label: { zh: '管理', en: 'Admin' }, color: 'orange' },
  4: { label: { zh: '系统', en: 'System' }, color: 'violet' },
  5: { label: { zh: '错误', en: 'Error' }, color: 'red' },
}

/**
 * Matching rows are counted up to this number beyond the beginning of the page that is shown; a total that reaches it is a lower
 * bound.
 */
export const logsCountedAhead = 10_000

/** The only sort key of the log is the time, since no index of a long log has another order. */
export const logSorts = ['created_at'] as const

/**
 * A log row. `other` holds the JSON of `LogOther`. For ordinary users `channel` is 0, `channel_name` '' and `id` made of time and
 * position: the database's ids would reveal how much others do.
 */
export const log = z.object({
  id: z.int(),
  user_id: z.int(),
  created_at: z.int(),
  type: z.int(),
  content: z.string(),
  username: z.string(),
  token_id: z.int(),
  token_name: z.string(),
  model_name: z.string(),
  /** The units of a charge; 0 in rows of other types, as existing scripts expect. */
  quota: z.int(),
  /** By how much the balance changed. */
  amount: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  use_time: z.int(),
  is_stream: z.boolean(),
  channel: z.int(),
  channel_name: z.string(),
  group: z.string(),
  request_id: z.string(),
  other: z.string(),
  /** The caller of the list may open a recording of the call; absent where there is none. */
  recorded: z.literal(true).optional(),
})
export type Log = z.output<typeof log>

/** The requests of a batch in one log row: how many were ordered and charged, and of how many the usage was counted here. */
interface LogBatch {
  readonly id: string
  readonly requests: number
  readonly charged: number
  readonly estimated: number
  readonly factor: number
}

/**
 * Every factor of a charge, so that it can be recomputed from its row alone. Times in milliseconds. Cache writes of each lifetime
 * beyond five minutes have their own count, absent for 0.
 */
export interface LogOther extends Partial<Record<`cache_creation_${LongCacheLifetime}_tokens`, number>> {
  model_ratio: number
  completion_ratio: number
  /** USD per call, or -1 when the charge is by tokens. */
  model_price: number
  group_ratio: number
  cache_ratio: number
  create_cache_ratio: number
  /** Quota units of one US dollar at the time. */
  quota_per_unit: number
  /** Tokens in disjoint buckets: those of the input add up to `prompt_tokens`, those of the output to `completion_tokens`. */
  input_tokens: number
  cache_tokens: number
  cache_creation_tokens: number
  /**
   * The factors of cache writes per longer lifetime, as multiples of `create_cache_ratio`. Rows written before this field existed have
   * 1.6 for an hour.
   */
  cache_creation_factors?: Readonly<Partial<Record<LongCacheLifetime, number>>>
  output_tokens: number
  reasoning_tokens?: number
  /** Tokens of audio, images and video that were counted separately, each with its ratio. */
  audio_input?: number
  audio_output?: number
  audio_ratio?: number
  audio_completion_ratio?: number
  cached_audio?: number
  audio_cache_ratio?: number
  image_input?: number
  image_output?: number
  image_ratio?: number
  image_completion_ratio?: number
  cached_image?: number
  image_cache_ratio?: number
  video_output?: number
  video_completion_ratio?: number
  /** The number of times the price per call was charged; absent for 1. */
  calls?: number
  /** Web searches of the vendor, and US dollars of each. */
  searches?: number
  search_price?: number
  /** The requested tier and the tier named by the reply, as requests write them; absent for the default tier. */
  tier_asked?: string
  tier_served?: string
  /** The factor of the tier on tokens or the price per call; absent for 1. It does not apply to tools. */
  tier_factor?: number
  /** Calls of other tools of the vendor, and US dollars of each, by name. */
  tool_calls?: Readonly<Record<string, number>>
  tool_prices?: Readonly<Record<string, number>>
  /** Usage of other models during the call, each at its own price and in the same group. Not part of the tokens of the row. */
  iterations?: readonly LogIteration[]
  /** Milliseconds from the request's arrival to the first byte of the answer. */
  frt: number
  use_time_ms: number
  /** The tokens were counted by the gateway, because the upstream reported no usage. */
  estimated?: true
  /** The caller's connection was lost; the reply went on, to be resumed. */
  went_on_alone?: true
  /** The reply was interrupted, and charged by the rule for interrupted replies. */
  interrupted?: 'client' | 'upstream' | 'node' | 'moderation'
  /** The upstream reported more usage than the request can have: only the possible usage is charged. */
  usage_implausible?: true
  /**
   * Tokens of the reported total beyond its parts, charged as output, or as input where the output has no room for them; below 0 when
   * the total is less than its parts, which are charged.
   */
  usage_unexplained?: number
  /** Tokens reported as cached beyond the prompt, which was raised to them. */
  cached_above_prompt?: number
  /** The call cost more than `held`: the charge is what was held. */
  above_hold?: true
  /** The reply never reached the caller: nothing is charged. Rows before 1.0.0-rc.2 say so in `admin_info` alone. */
  undelivered?: true
  /** The row is the sum of the requests of a batch that asked this model, at its factor on the price. */
  batch?: LogBatch
  /** Prompt tokens that the upstream reports beyond what the request can have: it may have added to the prompt. */
  prompt_added?: number
  /** No price was set and the fallback ratio was used. */
  unpriced?: true
  /** The source of the price: set by an administrator, the table of a fresh site, or public price data; absent for the fallback. */
  price_source?: 'own' | 'default' | 'public'
  /** For public price data: its vendor and date. */
  price_vendor?: string
  price_date?: string
  /**
   * The prompt has more tokens than this threshold, beyond which a higher price applies; the factors of the row are those of that
   * price.
   */
  price_above?: number
  /** The day since which the charged price applies, and the hours of a day in which it does, in UTC; absent where it has none. */
  price_from?: string
  price_hours?: string
  is_model_mapped?: true
  upstream_model_name?: string
  /** The ended model that the request named; the operator has set `model_name` in its place. */
  replaced_model?: string
  /** The model that the reply names, where it is another one than was sent to the upstream. */
  answered_model?: string
  /** The vendor had announced that `answered_model` answers: the factors are those of its price. */
  redirected?: true
  reasoning_effort?: string
  /** The wire format of the upstream request; absent if it equals the caller's. */
  upstream_format?: string
  /** Fields of the request that the upstream's format cannot carry. */
  dropped?: readonly string[]
  /** Content of the upstream's reply that the caller's format lacks, by the upstream's names. */
  reply_dropped?: readonly string[]
  /** Units that were reserved for the call. */
  held?: number
  /** Output limit in tokens of each answer, set because the balance covered no more. */
  output_limit?: number
  /** Admins only. */
  admin_info?: {
    use_channel: string[]
    /** The attempts that failed. */
    attempts?: LogAttempt[]
    /** Why the channel that answered was chosen; absent when there was no other. */
    choice?: string
    /** The candidates of that choice; absent for a single one. */
    candidates?: Candidates
    key?: number
    address?: string
    /** The upstream's report, where that is implausible. */
    reported?: { prompt_tokens: number; cached_tokens: number; completion_tokens: number }
    /** Units that the upstream bills beyond `quota`, and the reason that the site bears them. */
    site_cost?: { amount: number; reason: SiteCostReason }
  }
}

/**
 * A failed attempt. `key` is the id of the channel's key, `choice` the reason of its choice among `candidates` (absent for a single
 * one); `status` is 0 without an answer.
 */
export interface LogAttempt {
  channel: number
  key?: number
  status: number
  reason: string
  ms: number
  choice?: string
  candidates?: Candidates
}

/**
 * `other` of a failed call (type 5): a relay call whose token is known, and which ended without its complete answer. `content` of
 * the row is the error message that the caller received, in both languages if it exists in both. Times in milliseconds.
 */
export interface LogFailure {
  /** The status that the caller received; 499 if the caller disconnected before the answer was complete. */
  status: number
  code: string
  dialect: string
  /** The wire format of the endpoint. */
  format: string
  /** The path of the request, without its query. */
  path: string
  use_time_ms: number
  /** The time to the first byte of the answer; absent when none was sent. */
  frt?: number
  /** The length of the request's body by its `content-length` (0 without one), and of the answer's body. In bytes. */
  bytes_in: number
  bytes_out: number
  /** The answer had begun: the error was sent in its stream, or cut it off. */
  in_stream?: true
  /** Units that were charged for the call nonetheless, by the charge with the same request id. Never added to a sum. */
  charged?: number
  address: string
  user_agent: string
  /** The limit that has refused the call. */
  limit?: LogLimit
  /** Admins only. */
  admin_info?: {
    use_channel: string[]
    attempts?: LogAttempt[]
    /** The candidates of the last choice, if it found no channel to try. */
    candidates?: Candidates
    /** Id of the budget that has refused the call. */
    budget?: number
  }
}

/** The limit that refused a call: the `detail` of limit errors. */
export interface StoppedBy {
  readonly limit: LogLimit
  /** Id of the budget; admins only. */
  readonly budget?: number
}

/** A limit as the owner of a refused call sees it. */
export interface LogLimit {
  kind: 'budget' | 'requests' | 'successes' | 'tokens' | 'concurrency'
  /** Whose calls it counts. */
  scope: string
  /** The period of a budget. */
  period?: string
  /** Length of a sliding window. */
  seconds?: number
  /** When it may admit calls again, unix seconds; absent where that is not known. */
  renews_at?: number
}

/** The status of a call whose caller disconnected before its answer was complete; nginx uses the same. */
export const clientClosedStatus = 499

/** Tokens of all cached input; undefined in rows that do not have them. */
export function cachedTokensOf(
  row: Pick<Partial<LogOther>, 'cache_tokens' | 'cached_audio' | 'cached_image'>,
): number | undefined {
  const { cache_tokens: text, cached_audio: audio = 0, cached_image: image = 0 } = row
  return text === undefined ? undefined : text + audio + image
}

/** The part of a charge that another model than the one of the row caused, such as an adviser. */
export type LogIteration = Pick<
  LogOther,
  | 'model_ratio'
  | 'completion_ratio'
  | 'model_price'
  | 'cache_ratio'
  | 'create_cache_ratio'
  | 'input_tokens'
  | 'cache_tokens'
  | 'cache_creation_tokens'
  | `cache_creation_${LongCacheLifetime}_tokens`
  | 'cache_creation_factors'
  | 'output_tokens'
  | 'calls'
  | 'tier_factor'
> & { readonly model: string }

/** The columns of an exported file behind the time, as its head names them; some are for admins only. */
const logColumns = {
  type: {},
  request_id: {},
  user_id: { admin: true },
  username: { admin: true },
  token: {},
  group: {},
  model: {},
  upstream_model: {},
  replaced_model: {},
  answered_model: {},
  upstream_format: {},
  dropped_fields: {},
  channel: { admin: true },
  channel_name: { admin: true },
  channels_tried: { admin: true },
  stream: {},
  usage_implausible: {},
  usage_unexplained: {},
  cached_above_prompt: {},
  above_hold: {},
  site_cost: { admin: true },
  site_cost_reason: { admin: true },
  duration_ms: {},
  first_token_ms: {},
  prompt_tokens: {},
  cached_tokens: {},
  completion_tokens: {},
  service_tier: {},
  quota: {},
  amount: {},
  usd: {},
  content: {},
  status: {},
  code: {},
} as const satisfies Readonly<Record<string, { readonly admin?: true }>>
export type LogColumn = keyof typeof logColumns

/** The columns that may be chosen, in the order of the file. */
export function logColumnsFor(isAdmin: boolean): readonly LogColumn[] {
  // The keys are those written above.
  return (Object.keys(logColumns) as LogColumn[]).filter((name) => isAdmin || !('admin' in logColumns[name]))
}

/** Answered and failed calls of each bucket of `step_seconds` that has some, oldest first; buckets begin at round times of the caller. */
export const logHistogram = z.object({
  step_seconds: z.int(),
  /** The begin of the first bucket, and the last second of the time that is filtered by. */
  from: z.int(),
  to: z.int(),
  /** Calls before this time were not counted, because that takes too long; 0 when all were. */
  counted_from: z.int(),
  points: z.array(z.object({ at: z.int(), answered: z.int(), failed: z.int() })),
})
export type LogHistogram = z.output<typeof logHistogram>

export const logStatistics = z.object({ quota: z.int(), rpm: z.int(), tpm: z.int() })

/** A purge of the log. `progress` runs from 0 to 1 over the time range that is purged; `finished_at` is 0 while it runs. */
export const logPurge = z.object({
  id: z.int(),
  before: z.int(),
  asked_by: z.string(),
  asked_at: z.int(),
  removed: z.int(),
  progress: z.number(),
  finished_at: z.int(),
})
export type LogPurge = z.output<typeof logPurge>
