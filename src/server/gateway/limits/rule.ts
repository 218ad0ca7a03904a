/**
 * A limit, under one key that all nodes share: requests, successes and tokens in a sliding window, and concurrent requests. 0 is no
 * limit.
 */
export interface Rule {
  readonly key: string
  readonly scope: 'user' | 'group' | 'token' | 'client' | 'channel'
  readonly windowMs: number
  /** All admitted requests, failed ones too. */
  readonly requests: number
  /** Successful requests. A running request counts until it has failed, so that two requests cannot share the last unit of the limit. */
  readonly successes: number
  readonly tokens: number
  readonly concurrency: number
}

export type Measure = 'requests' | 'successes' | 'tokens' | 'concurrency'

/** What one request needs from the rules. */
export interface LimitedRequest {
  /** Unique among all requests of all nodes. Empty where no rule limits concurrency. */
  readonly id: string
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface Refusal {
  readonly rule: Rule
  readonly measure: Measure
  /** The time after which the same request may be admitted; `never` if it alone exceeds the rule. */
  readonly retryMs: number | 'never'
}

/** The used amounts of a rule, including this request when it was admitted. */
export interface LimitStatus {
  readonly rule: Rule
  readonly requests: number
  readonly successes: number
  readonly tokens: number
  /** The time until all currently counted amounts have left the window. */
  readonly resetMs: number
}

/** Either a refusal, and then nothing was counted; or the piece of each window in which the request was counted, for its release. */
export interface Verdict {
  readonly refusal: Refusal | undefined
  readonly statuses: readonly LimitStatus[]
  /** By rule, the name of the piece of its window; 0 where the rule has no window. */
  readonly pieces: readonly number[]
}

/** The outcome of an admitted request. */
export interface RequestOutcome {
  readonly succeeded: boolean
  /** The request must not be counted at all, because another counter refused it. */
  readonly undone: boolean
  readonly tokens: number
}

export function hasWindow({ requests, successes, tokens }: Rule): boolean {
  return requests > 0 || successes > 0 || tokens > 0
}

/**
 * The tokens reserved for a request at admission, until its usage is known: its maximum usage, but at most the rule's limit, so that a
 * generous output limit does not lock the caller out. A prompt longer than the rule allows is reserved in full.
 */
export function tokensReserved(rule: Rule, { inputTokens, outputTokens }: LimitedRequest): number {
  return rule.tokens === 0 ? 0 : Math.max(inputTokens, Math.min(inputTokens + outputTokens, rule.tokens))
}
