import { LRUCache } from 'lru-cache'
import type { ModelPrice } from '../../../../contract/model-price.ts'
import { upTo } from '../../../base/lib/collections/cache-size.ts'
import type { Clock } from '../../../base/lib/time/clock.ts'
import type { SharedWindows } from '../../limits/shared-windows.ts'
import { addRequest, adjust, dropOld, msUntilFreed, sumOf, type Window } from '../../limits/window.ts'
import type { RunningChannel } from '../index/model-index.ts'
import { Breaker, type BreakerState } from './breaker.ts'
import { ConcurrencySlot, channelLimit, type ReachedLimit, type SlotRequest } from './concurrency-slot.ts'
import type { Conditions } from './select.ts'

/**
 * This node's measurements of its channels: running requests, failures, speed, and session affinity. The relay writes them,
 * selection reads them. Each node measures only its own requests, but the processes of one start share failures and affinity;
 * nothing survives the process. With Redis, requests on other nodes may also fill a channel: a request learns this when it begins.
 */
interface TrafficParts {
  /** A monotonic clock. */
  readonly now: Clock
  /** Counts the limits of channels over all nodes; undefined without Redis. */
  readonly shared?: SharedWindows | undefined
  /** Sends an update to the other processes of this start, which get it by `receive`. */
  readonly announce?: ((update: TrafficUpdate) => void) | undefined
  /** Returns a number in [0, 1). */
  readonly random?: () => number
  /** The model's cost in USD for a call of common size; undefined for one without a price. */
  priceOf(model: string): number | undefined
  /** Units that a channel was charged today, on all nodes. */
  spentToday(channelId: number): number
}

/** The measurements of a key by one process that affect the selection in the others. */
export type TrafficUpdate =
  | { readonly kind: 'failed'; readonly keyId: number; readonly model: string; readonly failure: FailureFacts }
  | { readonly kind: 'answered'; readonly keyId: number }
  | { readonly kind: 'session'; readonly keyId: number; readonly session: string; readonly account?: string | undefined }

/** One request on one channel. Only the first of `answered`, `failed` and `abandoned` has an effect. */
export interface ChannelRun {
  /**
   * Resolves to the limit of the channel, over all nodes, that refuses the request: then the run has ended and nothing may be sent
   * upstream. Resolves to undefined when the request is admitted; absent where this node counts alone.
   */
  readonly refusal: Promise<ReachedLimit | undefined> | undefined
  /** `ms` until the first byte of the answer. */
  answered(ms: number): void
  failed(failure: FailureFacts): void
  /** The client disconnected, or the gateway itself failed: the health of the channel does not change. */
  abandoned(): void
}

/** A failure's effect on the channel and the key that it used. */
export interface FailureFacts {
  /** Seconds after which the upstream asks for a retry; 0 when it gives none. */
  readonly retryAfter: number
  /** Caused by the key or its account: refused, without balance, or rate-limited. */
  readonly isFaultOfKey: boolean
  /** Caused by the upstream: no answer, a broken one, or a status of 500 and above. */
  readonly isFaultOfUpstream: boolean
  /** The key will be refused the next time too. */
  readonly isRefusal: boolean
}

interface Seen {
  running: number
  turns: number
  latencyMs: number
  measuredMs: number
  readonly minute: Window
}

const minuteMs = 60_000
const dayMs = 86_400_000
/** A key whose upstream asks for a longer pause is used again nevertheless: the header may be wrong. */
const restMostMs = 300_000
/** The number of models of one key for which a pause is stored. */
const restsMax = 1000
/** The weight of a new measurement against earlier ones. */
const latencyShare = 0.2
/** An older measurement is ignored: the channel is tried again. */
const latencyKeptMs = 300_000
const sessionsMax = 100_000
const sessionKeptMs = 3_600_000

export class Traffic implements Conditions {
  readonly #parts: TrafficParts
  readonly #channels = new Map<number, Seen>()
  readonly #breakers = new Map<number, Breaker>()
  /** By key and model, because upstreams limit each model separately: the time from which the key may be used again. */
  readonly #rests = new Map<number, Map<string, number>>()
  /** Made with the first conversation: the table for all of them takes four megabytes. */
  #sessions: LRUCache<string, number> | undefined
  /** By key: its account at the vendor, where answers name it. */
  readonly #accounts = new Map<number, string>()

  constructor(parts: TrafficParts) {
    this.#parts = parts
  }

  /** Begins a request on a channel. Await `refusal` first; then end the run by one of its calls. */
  begin(channel: RunningChannel, asked: SlotRequest & { readonly model: string }): ChannelRun {
    const nowMs = this.#parts.now()
    const seen = this.#seen(channel.id)
    seen.running++
    seen.turns++
    let piece = 0
    if (hasMinute(channel)) {
      dropOld(seen.minute, minuteMs, nowMs)
      piece = addRequest(seen.minute, minuteMs, nowMs, asked.inputTokens)
    }
    this.#breakers.get(channel.keyId)?.begin(nowMs)
    const slot = this.#acquireSlot(channel, asked)

    let isOver = false
    const end = () => {
      if (isOver) return false
      isOver = true
      seen.running--
      slot?.release()
      return true
    }
    return {
      refusal: slot?.refusal?.then((refusal) => {
        if (refusal && end()) this.#uncount(seen, piece, asked.inputTokens)
        return refusal
      }),
      answered: (ms) => {
        if (end()) this.#answered(channel, seen, ms)
      },
      failed: (failure) => {
        if (end()) this.#failed(channel, asked.model, failure)
      },
      abandoned: () => {
        end()
      },
    }
  }

  /** Tokens that a request has used beyond those counted when it began, for channels with a limit of tokens per minute. */
  used(channel: RunningChannel, tokens: number): void {
    if (channel.setting.max_tokens_per_minute === undefined || tokens <= 0) return
    const change = { requests: 0, successes: 0, tokens }
    adjust(this.#seen(channel.id).minute, -1, change, { windowMs: minuteMs, nowMs: this.#parts.now() })
    const { shared } = this.#parts
    const limit = shared && channelLimit(channel)
    if (limit) shared.add(limit, tokens)
  }

  /** The conversation continues on the channel that answered it, or on another of the same account. */
  remember(session: string, { keyId }: RunningChannel, account?: string): void {
    const isKnown = this.#sessions?.get(session) === keyId && (account === undefined || this.#accounts.get(keyId) === account)
    if (this.#parts.announce && !isKnown) this.#parts.announce({ kind: 'session', session, keyId, account })
    this.#remember({ session, keyId, account })
  }

  /** Applies an update that another process of this start announced. */
  receive(update: TrafficUpdate): void {
    if (update.kind === 'session') this.#remember(update)
    else if (update.kind === 'failed') this.#countFailure(update.keyId, update.model, update.failure)
    else this.#breakers.get(update.keyId)?.answered(this.#parts.now())
  }

  /** Clears the failures of a channel that was changed. */
  forgive(channels: readonly RunningChannel[]): void {
    for (const { keyId } of channels) {
      this.#breakers.delete(keyId)
      this.#rests.delete(keyId)
    }
  }

  random(): number {
    return this.#parts.random ? this.#parts.random() : Math.random()
  }

  restMs({ keyId }: RunningChannel, model: string): number {
    const untilMs = this.#rests.get(keyId)?.get(model)
    return untilMs === undefined ? 0 : Math.max(0, untilMs - this.#parts.now())
  }

  breaker({ keyId }: RunningChannel): BreakerState {
    return this.#breakers.get(keyId)?.stateAt(this.#parts.now()) ?? 'closed'
  }

  /** The breaker of a key for people: its state, failures in a row, and milliseconds until the next try. */
  breakerFacts({ keyId }: RunningChannel): ReturnType<Breaker['factsAt']> {
    return this.#breakers.get(keyId)?.factsAt(this.#parts.now()) ?? { state: 'closed', failures: 0, retryMs: 0 }
  }

  reachedLimit(channel: RunningChannel, inputTokens: number): ReachedLimit | undefined {
    const { max_concurrency, max_quota_per_day } = channel.setting
    if (max_quota_per_day !== undefined && this.#parts.spentToday(channel.id) >= max_quota_per_day)
      return { limit: 'quota-per-day', waitMs: dayMs - (this.#parts.now() % dayMs) }
    if (max_concurrency !== undefined && this.running(channel) >= max_concurrency)
      return { limit: 'concurrency', waitMs: concurrencyWaitMs }
    return hasMinute(channel) ? this.#reachedInMinute(channel, inputTokens) : undefined
  }

  running({ id }: RunningChannel): number {
    return this.#channels.get(id)?.running ?? 0
  }

  turn({ id }: RunningChannel): number {
    return this.#channels.get(id)?.turns ?? 0
  }

  latencyMs({ id }: RunningChannel): number | undefined {
    const seen = this.#channels.get(id)
    return seen && seen.measuredMs > 0 && this.#parts.now() - seen.measuredMs < latencyKeptMs ? seen.latencyMs : undefined
  }

  price({ setting, modelMapping }: RunningChannel, model: string): number | undefined {
    const price = this.#parts.priceOf(modelMapping.get(model) ?? model) ?? this.#parts.priceOf(model)
    return price === undefined ? undefined : price * (setting.cost_ratio ?? 1)
  }

  keyOfSession(session: string): number | undefined {
    return this.#sessions?.get(session)
  }

  accountOf(keyId: number): string | undefined {
    return this.#accounts.get(keyId)
  }

  #remember({ session, keyId, account }: Omit<Extract<TrafficUpdate, { kind: 'session' }>, 'kind'>): void {
    const { now } = this.#parts
    if (account !== undefined) this.#accounts.set(keyId, account)
    this.#sessions ??= new LRUCache({ ...upTo(sessionsMax), ttl: sessionKeptMs, ttlResolution: 0, perf: { now: () => now() } })
    this.#sessions.set(session, keyId)
  }

  #failed({ keyId }: RunningChannel, model: string, failure: FailureFacts): void {
    if (!failure.isFaultOfKey && !failure.isFaultOfUpstream) return
    this.#countFailure(keyId, model, failure)
    this.#parts.announce?.({ kind: 'failed', keyId, model, failure })
  }

  #countFailure(keyId: number, model: string, failure: FailureFacts): void {
    const nowMs = this.#parts.now()
    this.#breaker(keyId).failed(nowMs, failure.isRefusal)
    if (failure.retryAfter <= 0) return
    const rests = this.#rests.get(keyId) ?? new Map<string, number>()
    this.#rests.set(keyId, rests)
    rests.delete(model)
    // Callers can make up names of models: the oldest entry is dropped.
    const [oldest] = rests.size < restsMax ? [] : rests.keys()
    if (oldest !== undefined) rests.delete(oldest)
    rests.set(model, nowMs + Math.min(failure.retryAfter * 1000, restMostMs))
  }

  #answered(channel: RunningChannel, seen: Seen, ms: number): void {
    const nowMs = this.#parts.now()
    const breaker = this.#breakers.get(channel.keyId)
    if (breaker?.isWatching(nowMs)) this.#parts.announce?.({ kind: 'answered', keyId: channel.keyId })
    breaker?.answered(nowMs)
    const isFresh = seen.measuredMs > 0 && nowMs - seen.measuredMs < latencyKeptMs
    seen.latencyMs = isFresh ? seen.latencyMs + (ms - seen.latencyMs) * latencyShare : ms
    seen.measuredMs = nowMs
  }

  /**
   * The limit per minute that keeps the request waiting longest. A request that alone exceeds a limit is admitted when nothing else
   * is counted.
   */
  #reachedInMinute({ id, setting }: RunningChannel, inputTokens: number): ReachedLimit | undefined {
    const minute = this.#channels.get(id)?.minute
    if (!minute) return undefined
    const nowMs = this.#parts.now()
    dropOld(minute, minuteMs, nowMs)
    const wait = (counted: 'requests' | 'tokens', wanted: number, most: number | undefined) => {
      const sum = sumOf(minute, counted)
      const over = sum + wanted - (most ?? Number.POSITIVE_INFINITY)
      return over > 0 && sum > 0 ? msUntilFreed(minute, counted, Math.min(over, sum), { windowMs: minuteMs, nowMs }) : 0
    }
    const requestsMs = wait('requests', 1, setting.max_requests_per_minute)
    const tokensMs = wait('tokens', inputTokens, setting.max_tokens_per_minute)
    if (tokensMs > requestsMs) return { limit: 'tokens-per-minute', waitMs: tokensMs }
    return requestsMs > 0 ? { limit: 'requests-per-minute', waitMs: requestsMs } : undefined
  }

  /** Undoes the count of `begin`. */
  #uncount({ minute }: Seen, piece: number, inputTokens: number): void {
    const change = { requests: -1, successes: -1, tokens: -inputTokens }
    adjust(minute, piece, change, { windowMs: minuteMs, nowMs: this.#parts.now() })
  }

  #acquireSlot(channel: RunningChannel, asking: SlotRequest): ConcurrencySlot | undefined {
    const { shared } = this.#parts
    const limit = shared && channelLimit(channel)
    return limit && new ConcurrencySlot(shared, channel, limit, asking)
  }

  #seen(channelId: number): Seen {
    const known = this.#channels.get(channelId)
    if (known) return known
    const seen: Seen = { running: 0, turns: 0, latencyMs: 0, measuredMs: 0, minute: [] }
    this.#channels.set(channelId, seen)
    return seen
  }

  #breaker(keyId: number): Breaker {
    const known = this.#breakers.get(keyId)
    if (known) return known
    const breaker = new Breaker()
    this.#breakers.set(keyId, breaker)
    return breaker
  }
}

/** The price of a typical call, a thousand tokens each way, for the comparison of channels. */
export function usdPerCall(price: ModelPrice | undefined): number | undefined {
  if (!price) return undefined
  return price.fixedUsd >= 0 ? price.fixedUsd : price.modelRatio * (1 + price.completionRatio) * usdPerThousandAtRatio1
}

const usdPerThousandAtRatio1 = 0.002

/** The end of a running request is not known. */
const concurrencyWaitMs = 1000

function hasMinute({ setting }: RunningChannel): boolean {
  return setting.max_requests_per_minute !== undefined || setting.max_tokens_per_minute !== undefined
}
