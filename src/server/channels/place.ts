import type { RedisWindows } from '../limits/redis-windows.ts'
import type { Need, Rule, Verdict } from '../limits/rule.ts'
import type { RunningChannel } from './model-index.ts'

/** What asks for a place on a channel. */
export interface Asking {
  /** Of the request, which is never twice at a time on the same key. */
  readonly id: string
  readonly inputTokens: number
  /** The caller wants this channel: they are counted under its limits, and never refused. */
  readonly isPinned: boolean
}

/** The place of one request among the limits of its channel, over all nodes. */
export class Place {
  readonly #shared: RedisWindows
  readonly #rules: readonly Rule[]
  readonly #need: Need
  readonly #inputTokens: number
  #places: readonly number[] | undefined
  #isLetIn = false
  #isOver = false
  /** Until the limits would let the request in; 0 when they have. Undefined while Redis is away: then there is nobody to ask. */
  readonly fullMs: Promise<number> | undefined

  constructor(shared: RedisWindows, channel: RunningChannel, limit: Rule, { id, inputTokens, isPinned }: Asking) {
    this.#shared = shared
    this.#rules = [isPinned ? unbounded(limit) : limit]
    // Held like an output, no more than the limit has: a prompt that alone is longer goes when nothing else is counted.
    this.#need = { id: `${id}:${channel.keyId}`, inputTokens: 0, outputTokens: inputTokens }
    this.#inputTokens = inputTokens
    const asked = shared.take(this.#rules, this.#need)
    this.#isLetIn = asked === undefined
    this.fullMs = asked?.then((verdict) => this.#decided(verdict))
  }

  /** The request runs no longer. What it took of its minute stays counted. */
  end(): void {
    this.#isOver = true
    if (!this.#isLetIn) return
    this.#isLetIn = false
    const ended = { succeeded: true, undone: false, tokens: this.#inputTokens }
    this.#shared.end(this.#rules, this.#places, this.#need, ended)
  }

  #decided(verdict: Verdict | undefined): number {
    this.#places = verdict?.places
    this.#isLetIn = !verdict?.refusal
    if (this.#isOver) this.end()
    return Number(verdict?.refusal?.retryMs ?? 0)
  }
}

/** The limits of a channel as one rule for all of its keys; undefined where its settings limit nothing. */
export function limitOf({ id, setting }: RunningChannel): Rule | undefined {
  const { max_concurrency: concurrency = 0, max_requests_per_minute: requests = 0, max_tokens_per_minute: tokens = 0 } = setting
  if (concurrency === 0 && requests === 0 && tokens === 0) return undefined
  return { key: `channel:${id}`, whose: 'channel', windowMs: 60_000, requests, successes: 0, tokens, concurrency }
}

function unbounded(limit: Rule): Rule {
  const most = (given: number) => (given === 0 ? 0 : Number.MAX_SAFE_INTEGER)
  return { ...limit, requests: most(limit.requests), tokens: most(limit.tokens), concurrency: most(limit.concurrency) }
}
