import type { Counters, Grant } from './counters.ts'
import type { LimitedRequest, LimitStatus, Refusal, Rule } from './rule.ts'

interface LeaseRules {
  readonly rulesIn: (group: string) => readonly Rule[]
  /** The rules that apply to the request regardless of its body. */
  readonly certainRules: () => readonly Rule[]
  /** The group whose rules count a request that fails before its group is known. */
  readonly ownGroup: string
}

export type LeaseRequest = Omit<LimitedRequest, 'id'> & { readonly group: string }

/** One request's lease on the rate limits, from `acquire` to `release`. */
export class RateLimitLease {
  readonly #counters: Counters
  readonly #id: string
  readonly #rules: LeaseRules
  #grant: Grant | undefined
  #isDecided = false
  #tokens = 0
  /** The status of each limit, once the request was admitted or refused. */
  statuses: readonly LimitStatus[] = []

  constructor(counters: Counters, id: string, rules: LeaseRules) {
    this.#counters = counters
    this.#id = id
    this.#rules = rules
  }

  /** Whether the limits have admitted or refused the request. A request that fails earlier is counted by `acquireForFailed`. */
  get isDecided(): boolean {
    return this.#isDecided
  }

  /**
   * Checks the limits by count before the body is read. Returns the refusal; a refused request is not counted, and an admitted one
   * must still be acquired. `asksAll`: also asks Redis, which counts for all nodes.
   */
  async refusedByCount(asksAll: boolean): Promise<Refusal | undefined> {
    const rules = this.#rules.certainRules()
    if (rules.length === 0) return undefined
    const { refusal, statuses } = await this.#counters.peek(rules, asksAll)
    if (!refusal) return undefined
    this.#isDecided = true
    this.statuses = statuses
    return refusal
  }

  /** Counts the request, or returns the refusal. Called once per request. */
  async acquire({ group, ...need }: LeaseRequest): Promise<Refusal | undefined> {
    this.#isDecided = true
    const rules = this.#rules.rulesIn(group)
    if (rules.length === 0) return undefined
    const { refusal, statuses, grant } = await this.#counters.acquire(rules, { ...need, id: this.#id })
    this.statuses = statuses
    this.#grant = grant
    return refusal
  }

  /** Counts a request that fails before its group and tokens are known. Returns the refusal. */
  acquireForFailed(): Promise<Refusal | undefined> {
    return this.acquire({ group: this.#rules.ownGroup, inputTokens: 0, outputTokens: 0 })
  }

  /** Notes the tokens that the request has been charged for. */
  noteTokens(tokens: number): void {
    this.#tokens = tokens
  }

  /** Returns the tokens that the request reserved and did not use. Idempotent; does nothing for a refused request. */
  release(succeeded: boolean): void {
    if (this.#grant) this.#counters.release(this.#grant, { succeeded, tokens: this.#tokens })
    this.#grant = undefined
  }
}
