import { LRUCache } from 'lru-cache'
import { upTo } from '../../base/lib/collections/cache-size.ts'
import {
  hasWindow,
  type LimitedRequest,
  type LimitStatus,
  type Measure,
  type Refusal,
  type RequestOutcome,
  type Rule,
  tokensReserved,
  type Verdict,
} from './rule.ts'
import { addRequest, adjust, dropOld, msUntilFreed, resetOf, sumOf, type Window } from './window.ts'

/** The maximum number of windows in memory; the least recently used is evicted first. At most some 700 bytes each. */
const windowsMax = 100_000

interface EndedRequest {
  readonly need: LimitedRequest
  readonly ended: RequestOutcome
}

/** Counts the requests of this node. Check and count are one synchronous step, so that concurrent requests cannot exceed a limit. */
export class MemoryWindows {
  readonly #windows: LRUCache<string, Window>
  readonly #running = new Map<string, number>()

  constructor({ max = windowsMax }: { max?: number } = {}) {
    this.#windows = new LRUCache(upTo(max))
  }

  /** Counts a request under all rules, or under none when one of them refuses it. */
  acquire(rules: readonly Rule[], need: LimitedRequest, nowMs: number): Verdict {
    for (const rule of rules) if (hasWindow(rule)) dropOld(this.#windowOf(rule), rule.windowMs, nowMs)
    for (const rule of rules) {
      const refusal = this.#refusalOf(rule, need, nowMs)
      if (refusal) return { refusal, statuses: this.#statuses(rules, nowMs), pieces: [] }
    }
    const pieces = rules.map((rule) => this.#count(rule, need, nowMs))
    return { refusal: undefined, statuses: this.#statuses(rules, nowMs), pieces }
  }

  /** Checks without counting: the first refusal by count, regardless of tokens. */
  peek(rules: readonly Rule[], nowMs: number): Verdict {
    for (const rule of rules) if (hasWindow(rule)) dropOld(this.#windowOf(rule), rule.windowMs, nowMs)
    const refusals = rules.map((rule) => this.#refusalOf(rule, noNeed, nowMs, ['requests', 'successes']))
    return { refusal: refusals.find((refusal) => refusal), statuses: this.#statuses(rules, nowMs), pieces: [] }
  }

  /** Corrects the counts of a request that `acquire` admitted. */
  release(rules: readonly Rule[], pieces: readonly number[], { need, ended }: EndedRequest, nowMs: number): void {
    for (const [index, rule] of rules.entries()) {
      if (rule.concurrency > 0) this.#endRunning(rule.key)
      if (!hasWindow(rule)) continue
      const window = this.#windowOf(rule)
      dropOld(window, rule.windowMs, nowMs)
      adjust(window, pieces[index] ?? 0, changeOf(rule, need, ended), { windowMs: rule.windowMs, nowMs })
    }
  }

  /** Counts further tokens of an admitted request from now on. */
  add(rule: Rule, tokens: number, nowMs: number): void {
    const window = this.#windowOf(rule)
    dropOld(window, rule.windowMs, nowMs)
    adjust(window, 0, { requests: 0, successes: 0, tokens }, { windowMs: rule.windowMs, nowMs })
  }

  #refusalOf(rule: Rule, need: LimitedRequest, nowMs: number, measures = windowMeasures): Refusal | undefined {
    const refuse = (measure: Measure, retryMs: Refusal['retryMs']): Refusal => ({ rule, measure, retryMs })
    if (hasWindow(rule)) {
      const window = this.#windowOf(rule)
      for (const measure of measures) {
        const most = rule[measure]
        if (most === 0) continue
        const wanted = measure === 'tokens' ? tokensReserved(rule, need) : 1
        if (wanted > most) return refuse(measure, 'never')
        const over = sumOf(window, measure) + wanted - most
        if (over > 0) return refuse(measure, msUntilFreed(window, measure, over, { windowMs: rule.windowMs, nowMs }))
      }
    }
    const running = this.#running.get(rule.key) ?? 0
    return rule.concurrency > 0 && running >= rule.concurrency ? refuse('concurrency', concurrencyRetryMs) : undefined
  }

  #count(rule: Rule, need: LimitedRequest, nowMs: number): number {
    if (rule.concurrency > 0) this.#running.set(rule.key, (this.#running.get(rule.key) ?? 0) + 1)
    return hasWindow(rule) ? addRequest(this.#windowOf(rule), rule.windowMs, nowMs, tokensReserved(rule, need)) : 0
  }

  #endRunning(key: string): void {
    const running = this.#running.get(key) ?? 0
    if (running > 1) this.#running.set(key, running - 1)
    else this.#running.delete(key)
  }

  #statuses(rules: readonly Rule[], nowMs: number): LimitStatus[] {
    return rules.filter(hasWindow).map((rule) => {
      const window = this.#windowOf(rule)
      const [requests, successes, tokens] = [sumOf(window, 'requests'), sumOf(window, 'successes'), sumOf(window, 'tokens')]
      return { rule, requests, successes, tokens, resetMs: resetOf(window, rule.windowMs, nowMs) }
    })
  }

  #windowOf({ key }: Rule): Window {
    const known = this.#windows.get(key)
    if (known) return known
    const window: Window = []
    this.#windows.set(key, window)
    return window
  }
}

type WindowMeasure = Exclude<Measure, 'concurrency'>

const windowMeasures: readonly WindowMeasure[] = ['requests', 'successes', 'tokens']
const noNeed: LimitedRequest = { id: '', inputTokens: 0, outputTokens: 0 }

/** Retry time of a concurrency limit: it is not known when a running request ends. */
export const concurrencyRetryMs = 1000

/** The corrections of a request's counts at its end. */
export function changeOf(rule: Rule, need: LimitedRequest, { succeeded, undone, tokens }: RequestOutcome) {
  return {
    requests: undone ? -1 : 0,
    successes: succeeded && !undone ? 0 : -1,
    tokens: rule.tokens === 0 ? 0 : (undone ? 0 : tokens) - tokensReserved(rule, need),
  }
}
