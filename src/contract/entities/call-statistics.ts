import { z } from 'zod'
import { departure } from './quality-check.ts'

/** Statistics of calls, for admins. They may lack the last seconds before a process was killed; exact charges are in the ledger. */

export const overviewPeriods = ['hour', 'day', 'week', 'month'] as const
export type OverviewPeriod = (typeof overviewPeriods)[number]

/**
 * Calls within a period; null when there is nothing to measure. Durations are in milliseconds; percentiles are interpolated, and accurate to 20 %.
 */
const figures = z.object({
  requests: z.int(),
  answered: z.int(),
  /**
   * Calls that failed because of the site, its channels or their upstreams; a request refused for an error of the caller is not a
   * failure.
   */
  failed: z.int(),
  /** The share of answered calls among the answered and failed ones, from 0 to 1. */
  success: z.number().nullable(),
  p50_ms: z.number().nullable(),
  p95_ms: z.number().nullable(),
  /** The time to the first token, of streams. */
  first_p50_ms: z.number().nullable(),
  tokens_per_second: z.number().nullable(),
  /** Charges in quota units. */
  quota: z.int(),
})
export type CallFigures = z.output<typeof figures>

/** Errors of one code: their number, the last message without secrets, and when that was. */
const callError = z.object({ code: z.string(), count: z.int(), message: z.string(), last_at: z.int() })

/** A user, model or token among those with the most charges. `name` is '' when it is deleted, `owner` is the user of a token. */
const consumer = z.object({
  key: z.string(),
  name: z.string(),
  owner: z.string(),
  requests: z.int(),
  failed: z.int(),
  quota: z.int(),
})
export type Consumer = z.output<typeof consumer>

/** What began: an incident, an alert, or another version of the program. */
const mark = z.object({
  kind: z.enum(['incident', 'alert', 'deployment']),
  id: z.string(),
  at: z.int(),
  text: z.object({ zh: z.string(), en: z.string() }),
  /** Of an alert: what it is about, such as `channel:7`, and when it ended; '' and 0 otherwise. */
  subject: z.string(),
  resolved_at: z.int(),
})
export type OverviewMark = z.output<typeof mark>

export const overview = z.object({
  from: z.int(),
  to: z.int(),
  /** The period and the one before it. `seconds` is the exact length: the current period may be some minutes longer. */
  current: figures.extend({ seconds: z.int() }),
  before: figures.extend({ seconds: z.int() }),
  /** One entry for each 5 minutes, hour or day with calls, oldest first. */
  step_seconds: z.int(),
  points: z.array(figures.extend({ at: z.int() })),
  /** Oldest first. */
  marks: z.array(mark),
  /** The errors that callers received, the most frequent first. */
  errors: z.array(callError),
  /** Channels with failed attempts, the most first, with their last error. */
  failing: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      attempts: z.int(),
      failed: z.int(),
      success: z.number().nullable(),
      last: callError.nullable(),
    }),
  ),
  users: z.array(consumer),
  models: z.array(consumer),
  tokens: z.array(consumer),
})
export type Overview = z.output<typeof overview>

/** Attempts on a channel or a key, and its circuit breakers on the answering node. */
export const channelHealth = z.object({
  id: z.int(),
  /** Attempts, success and durations of these 24 hours. */
  attempts: z.int(),
  success: z.number().nullable(),
  p95_ms: z.number().nullable(),
  /** The last error of the last seven days. */
  last_error: callError.nullable(),
  /** The state of a channel is that of its best key; `keys` counts its usable keys, `keys_open` those with an open breaker. */
  breaker: z.object({
    state: z.enum(['closed', 'half-open', 'open']),
    keys: z.int(),
    keys_open: z.int(),
    /** The highest number of consecutive failures of a key. */
    failures: z.int(),
    /** Milliseconds until the first key with an open breaker is tried again; 0 when no breaker is open. */
    retry_ms: z.int(),
  }),
  /** The 24 hours until now, oldest first. */
  hours: z.array(z.object({ answered: z.int(), failed: z.int() })),
  /** Replies of the last 24 hours that named another model than was sent; always empty for a key. */
  other_models: z.array(z.object({ sent: z.string(), answered: z.string(), calls: z.int() })),
  /** The scheduled quality checks in which a channel departs; always empty for a key. */
  departures: z.array(departure),
})
export type ChannelHealth = z.output<typeof channelHealth>
