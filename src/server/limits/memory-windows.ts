import { LRUCache } from 'lru-cache'
import {
  type Ended,
  hasWindow,
  type Measure,
  type Need,
  type Refusal,
  type Rule,
  type Standing,
  tokensWanted,
  type Verdict,
} from './rule.ts'
import { addRequest, correct, dropOld, resetOf, sumOf, type Window, waitFor } from './window.ts'

/** Most windows that are remembered; the one that was not used for longest is forgotten first. At most some 700 bytes each. */
const windowsMax = 100_000

/** Counts the requests of this node, in one step: of requests that come together, no more than the limit are let in. */
export class MemoryWindows {
  readonly #windows: LRUCache<string, Window>
  readonly #running = new Map<string, number>()

  constructor({ max = windowsMax }: { max?: number } = {}) {
    this.#windows = new LRUCache({ max })
  }

  /** Counts a request under all rules, or under none when one of them refuses it. */
  take(rules: readonly Rule[], need: Need, nowMs: number): Verdict {
    for (const rule of rules) if (hasWindow(rule)) dropOld(this.#windowOf(rule), rule.windowMs, nowMs)
    for (const rule of rules) {
      const refusal = this.#refusalOf(rule, need, nowMs)
      if (refusal) return { refusal, standings: this.#standings(rules, nowMs), places: [] }
    }
    const places = rules.map((rule) => this.#count(rule, need, nowMs))
    return { refusal: undefined, standings: this.#standings(rules, nowMs), places }
  }

  /** What refuses a request by count, whatever tokens it needs. Counts nothing. */
  look(rules: readonly Rule[], nowMs: number): Verdict {
    for (const rule of rules) if (hasWindow(rule)) dropOld(this.#windowOf(rule), rule.windowMs, nowMs)
    const refusals = rules.map((rule) => this.#refusalOf(rule, noNeed, nowMs, ['requests', 'successes']))
    return { refusal: refusals.find((refusal) => refusal), standings: this.#standings(rules, nowMs), places: [] }
  }

  /** Corrects the counts of a request that `take` let in. */
  end(rules: readonly Rule[], places: readonly number[], need: Need, ended: Ended, nowMs: number): void {
    for (const [index, rule] of rules.entries()) {
      if (rule.concurrency > 0) this.#leave(rule.key)
      if (!hasWindow(rule)) continue
      const window = this.#windowOf(rule)
      dropOld(window, rule.windowMs, nowMs)
      correct(window, places[index] ?? 0, rule.windowMs, nowMs, changeOf(rule, need, ended))
    }
  }

  #refusalOf(rule: Rule, need: Need, nowMs: number, measures = windowMeasures): Refusal | undefined {
    const refuse = (measure: Measure, retryMs: Refusal['retryMs']): Refusal => ({ rule, measure, retryMs })
    if (hasWindow(rule)) {
      const window = this.#windowOf(rule)
      for (const measure of measures) {
        const most = rule[measure]
        if (most === 0) continue
        const wanted = measure === 'tokens' ? tokensWanted(rule, need) : 1
        if (wanted > most) return refuse(measure, 'never')
        const over = sumOf(window, measure) + wanted - most
        if (over > 0) return refuse(measure, waitFor(window, measure, over, rule.windowMs, nowMs))
      }
    }
    const running = this.#running.get(rule.key) ?? 0
    return rule.concurrency > 0 && running >= rule.concurrency ? refuse('concurrency', concurrencyRetryMs) : undefined
  }

  #count(rule: Rule, need: Need, nowMs: number): number {
    if (rule.concurrency > 0) this.#running.set(rule.key, (this.#running.get(rule.key) ?? 0) + 1)
    return hasWindow(rule) ? addRequest(this.#windowOf(rule), rule.windowMs, nowMs, tokensWanted(rule, need)) : 0
  }

  #leave(key: string): void {
    const running = this.#running.get(key) ?? 0
    if (running > 1) this.#running.set(key, running - 1)
    else this.#running.delete(key)
  }

  #standings(rules: readonly Rule[], nowMs: number): Standing[] {
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
const noNeed: Need = { id: '', inputTokens: 0, outputTokens: 0 }

/** Nobody knows when a running request ends. */
export const concurrencyRetryMs = 1000

/** What the end of a request changes in what was counted for it. */
export function changeOf(rule: Rule, need: Need, { succeeded, undone, tokens }: Ended) {
  return {
    requests: undone ? -1 : 0,
    successes: succeeded && !undone ? 0 : -1,
    tokens: rule.tokens === 0 ? 0 : (undone ? 0 : tokens) - tokensWanted(rule, need),
  }
}
