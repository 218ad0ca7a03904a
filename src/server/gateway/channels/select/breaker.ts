export type BreakerState = 'closed' | 'half-open' | 'open'

/** The number of consecutive failures, no matter how slowly they occur. */
const inARowMax = 5
/** The breaker opens at this many failures in a window, if they are at least half of the attempts. */
const inWindowMax = 10
const windowMs = 30_000
const openMs = { first: 5_000, most: 120_000 }
/** While half-open, one trial request is admitted per this time. A trial that takes longer does not delay the next. */
const trialEveryMs = 2_000

/**
 * Circuit breaker of a key, fed by real requests: closed, open after failures, half-open after a pause that doubles each time. The
 * caller passes the time, which must not go back.
 */
export class Breaker {
  #windowFromMs = 0
  #failures = 0
  #answers = 0
  #inARow = 0
  #openUntilMs = 0
  #trips = 0
  #trialMs = 0

  stateAt(nowMs: number): BreakerState {
    if (this.#trips === 0) return 'closed'
    return nowMs >= this.#openUntilMs && nowMs - this.#trialMs >= trialEveryMs ? 'half-open' : 'open'
  }

  /** The state, failures in a row, and milliseconds until a trial request is admitted, or 0. */
  factsAt(nowMs: number): { readonly state: BreakerState; readonly failures: number; readonly retryMs: number } {
    return { state: this.stateAt(nowMs), failures: this.#inARow, retryMs: Math.max(0, this.#openUntilMs - nowMs) }
  }

  /** Whether answers change the state: there are failures that they count against. */
  isWatching(nowMs: number): boolean {
    return this.#trips > 0 || this.#inARow > 0 || (this.#failures > 0 && nowMs - this.#windowFromMs < windowMs)
  }

  /** A request is sent. */
  begin(nowMs: number): void {
    if (this.#trips > 0 && nowMs >= this.#openUntilMs) this.#trialMs = nowMs
  }

  answered(nowMs: number): void {
    this.#count(nowMs)
    this.#answers++
    this.#inARow = 0
    this.#trips = 0
  }

  /** `isCertain`: the next request would fail too, so that one failure is enough. */
  failed(nowMs: number, isCertain = false): void {
    this.#count(nowMs)
    this.#failures++
    this.#inARow++
    // Failures of requests that were in flight when it opened tell nothing new.
    if (this.#trips > 0 && nowMs < this.#openUntilMs) return
    const isTooMany =
      this.#inARow >= inARowMax || (this.#failures >= inWindowMax && this.#failures >= this.#answers) || this.#trips > 0
    if (isCertain || isTooMany) this.#open(nowMs)
  }

  #open(nowMs: number): void {
    this.#openUntilMs = nowMs + Math.min(openMs.most, openMs.first * 2 ** Math.min(this.#trips, 10))
    this.#trips++
    this.#trialMs = 0
  }

  #count(nowMs: number): void {
    if (nowMs - this.#windowFromMs < windowMs) return
    this.#windowFromMs = nowMs
    this.#failures = 0
    this.#answers = 0
  }
}
