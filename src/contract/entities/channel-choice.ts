/** How a channel is chosen among several of the same priority. */
export const strategies = ['weighted', 'least-busy', 'lowest-latency', 'cheapest'] as const
export type Strategy = (typeof strategies)[number]

/**
 * Why a channel was chosen. `only`: no other was left. `last-resort`: it is failing at present, but so are all others. `pinned`: the call
 * is bound to it, so that there was no choice.
 */
export const choices = ['pinned', 'only', 'session', 'last-resort', ...strategies] as const
export type Choice = (typeof choices)[number]

/** Added to every weight, so that channels of weight 0 get traffic too. */
export const weightBase = 10

/** The limits of a channel that can be exhausted, so that it has no room for a request. */
const channelLimits = ['concurrency', 'requests-per-minute', 'tokens-per-minute', 'quota-per-day', 'budget'] as const
export type ChannelLimit = (typeof channelLimits)[number]

/**
 * Why a candidate was left out. `failed`: in an earlier attempt of the same call. `format`: it has no endpoint for the request.
 * `retry-after`: its upstream asked for a pause. `breaker`: its circuit breaker is open. The candidates behind a channel that could be chosen
 * are not examined: `session` (the conversation stays on its channel), `lower-priority`, and `pattern` (others name the model itself).
 */
export const exclusions = [
  'failed',
  'format',
  'prompt-length',
  ...channelLimits,
  'retry-after',
  'breaker',
  'session',
  'lower-priority',
  'pattern',
] as const
export type Exclusion = (typeof exclusions)[number]

/** A candidate of a choice, with the values of that moment. */
export interface Candidate {
  readonly channel: number
  /** Absent for 0, like `weight`. */
  readonly priority?: number | undefined
  readonly weight?: number | undefined
  /**
   * The value that the strategy of the group compared, the lowest being the best: running requests by weight, milliseconds to the
   * first byte, or US dollars of a call. Absent when it is unknown or nothing was compared.
   */
  readonly score?: number | undefined
  /**
   * Why it was excluded; absent for candidates that could be chosen. An excluded channel may be chosen nevertheless, as the last
   * resort.
   */
  readonly excluded?: Exclusion | undefined
}

/**
 * The candidates of a choice by priority: enabled channels that serve the model to the group. Only the first of many are listed,
 * and the chosen one.
 */
export interface Candidates {
  readonly listed: readonly Candidate[]
  /** The number of candidates that are not listed; absent for 0. */
  readonly more?: number | undefined
}
