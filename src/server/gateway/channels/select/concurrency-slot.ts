import type { ChannelLimit } from '../../../../contract/entities/channel-choice.ts'
import type { LimitedRequest, Measure, Rule, Verdict } from '../../limits/rule.ts'
import type { SharedWindows } from '../../limits/shared-windows.ts'
import type { RunningChannel } from '../index/model-index.ts'

/** A request for a slot of a channel. */
export interface SlotRequest {
  /** Id of the request, which uses a key only once at a time. */
  readonly id: string
  readonly inputTokens: number
  /** The caller has named this channel: the request is counted under its limits and never refused. */
  readonly isPinned: boolean
}

/** A limit of a channel that has no room for a request, and the time until it may have. */
export interface ReachedLimit {
  readonly limit: ChannelLimit
  readonly waitMs: number
}

const limitOf: Readonly<Record<Measure, ChannelLimit>> = {
  concurrency: 'concurrency',
  requests: 'requests-per-minute',
  successes: 'requests-per-minute',
  tokens: 'tokens-per-minute',
}

/** The concurrency slot of one request in the limits of its channel, over all nodes, from construction to `release`. */
export class ConcurrencySlot {
  readonly #shared: SharedWindows
  readonly #rules: readonly Rule[]
  readonly #need: LimitedRequest
  readonly #inputTokens: number
  #pieces: readonly number[] | undefined
  #isAcquired = false
  #isOver = false
  /** The limit that refuses the request, or undefined when all have admitted it. Absent while Redis is unavailable. */
  readonly refusal: Promise<ReachedLimit | undefined> | undefined

  constructor(shared: SharedWindows, channel: RunningChannel, limit: Rule, { id, inputTokens, isPinned }: SlotRequest) {
    this.#shared = shared
    this.#rules = [isPinned ? unbounded(limit) : limit]
    // Passed as output tokens, which are cut to the limit: so a prompt above the limit is admitted when nothing else is counted.
    this.#need = { id: `${id}:${channel.keyId}`, inputTokens: 0, outputTokens: inputTokens }
    this.#inputTokens = inputTokens
    const asked = shared.acquire(this.#rules, this.#need)
    this.#isAcquired = asked === undefined
    this.refusal = asked?.then((verdict) => this.#decided(verdict))
  }

  /** Ends the concurrency of the request; its requests and tokens per minute stay counted. Idempotent. */
  release(): void {
    this.#isOver = true
    if (!this.#isAcquired) return
    this.#isAcquired = false
    const ended = { succeeded: true, undone: false, tokens: this.#inputTokens }
    this.#shared.release(this.#rules, this.#pieces, this.#need, ended)
  }

  #decided(verdict: Verdict | undefined): ReachedLimit | undefined {
    const refusal = verdict?.refusal
    this.#pieces = verdict?.pieces
    this.#isAcquired = !refusal
    if (this.#isOver) this.release()
    if (!refusal) return undefined
    const { measure, retryMs } = refusal
    return { limit: limitOf[measure], waitMs: retryMs === 'never' ? Number.POSITIVE_INFINITY : Math.max(1, retryMs) }
  }
}

/** The limits of a channel as one rule for all of its keys; undefined where its settings limit nothing. */
export function channelLimit({ id, setting }: RunningChannel): Rule | undefined {
  const { max_concurrency: concurrency = 0, max_requests_per_minute: requests = 0, max_tokens_per_minute: tokens = 0 } = setting
  if (concurrency === 0 && requests === 0 && tokens === 0) return undefined
  return { key: `channel:${id}`, scope: 'channel', windowMs: 60_000, requests, successes: 0, tokens, concurrency }
}

function unbounded(limit: Rule): Rule {
  const most = (given: number) => (given === 0 ? 0 : Number.MAX_SAFE_INTEGER)
  return { ...limit, requests: most(limit.requests), tokens: most(limit.tokens), concurrency: most(limit.concurrency) }
}
