import { LRUCache } from 'lru-cache'

/**
 * How much of their greatest cost calls of a kind really use, learnt from what was charged, and how much of it may be left unheld. A
 * balance that does not cover the greatest cost holds the learnt one; a call that costs more is charged at its hold, and the site bears
 * the rest. That is bounded by user: their open calls and their excess of a day together are at most `riskMaxUsd` below their greatest
 * costs, so that cheap calls of some cannot make expensive ones free. In memory by node, like the estimate of prompts: after a start the
 * greatest cost is held until enough was learnt again. See docs/decisions/0047-learnt-holds.md.
 */
export class HoldShares {
  readonly #steady: () => number
  readonly #kinds = new LRUCache<string, Map<number, Sample[]>>({ max: kindsMax })
  readonly #risks = new LRUCache<number, Map<string, Risk>>({ max: usersMax })

  /** `steady` is a clock in milliseconds that never goes back. */
  constructor(steady: () => number) {
    this.#steady = steady
  }

  /** Adds what a call used; users count alike, however many calls they make. */
  learn(kind: string, userId: number, sample: Sample): void {
    const users = this.#kinds.get(kind) ?? new Map<number, Sample[]>()
    const samples = users.get(userId) ?? []
    // Sets the user last: the one who has not called for the longest time is forgotten first.
    users.delete(userId)
    users.set(userId, [...samples.slice(1 - samplesOfUser), sample])
    const [oldest] = users.keys()
    if (users.size > usersOfKind && oldest !== undefined) users.delete(oldest)
    this.#kinds.set(kind, users)
  }

  /**
   * The shares to hold for a user: 95 % of all kept samples, or the user's own greatest where that is more, with a quarter on top;
   * undefined until there are enough samples of enough users.
   */
  shareOf(kind: string, userId: number): Sample | undefined {
    const users = this.#kinds.get(kind)
    if (!users || users.size < usersMin) return undefined
    const all = [...users.values()].flat()
    if (all.length < samplesMin) return undefined
    const own = users.get(userId) ?? []
    const shareIn = (part: keyof Sample) => {
      const sorted = all.map((sample) => sample[part]).sort((left, right) => left - right)
      const usual = sorted[Math.ceil(sorted.length * quantile) - 1] ?? 1
      return Math.min(1, Math.max(usual, ...own.map((sample) => sample[part])) * margin)
    }
    return { prompt: shareIn('prompt'), output: shareIn('output') }
  }

  /** The units that a user's next call may cost beyond its hold. */
  riskLeft(userId: number, unitsPerUsd: number): number {
    let taken = 0
    const risks = this.#risks.get(userId)
    for (const [requestId, { units, untilMs }] of risks ?? []) {
      if (untilMs > this.#steady()) taken += units
      else risks?.delete(requestId)
    }
    return Math.max(0, Math.floor(riskMaxUsd * unitsPerUsd) - taken)
  }

  /** A call began whose greatest cost is so many units more than its hold. */
  began(userId: number, requestId: string, units: number): void {
    this.#note(userId, requestId, { units, untilMs: this.#steady() + openMs })
  }

  /** The call ended; `excess` is its cost beyond the hold. */
  ended(userId: number, requestId: string, excess = 0): void {
    this.#risks.get(userId)?.delete(requestId)
    if (excess > 0) this.#note(userId, requestId, { units: excess, untilMs: this.#steady() + dayMs })
  }

  #note(userId: number, requestId: string, risk: Risk): void {
    const risks = this.#risks.get(userId) ?? new Map<string, Risk>()
    this.#risks.set(userId, risks.set(requestId, risk))
  }
}

/** A kind of calls, and the greatest cost of one call of it: units of its prompt with its tools, and of its output. */
export interface CallKind {
  readonly name: string
  readonly prompt: number
  readonly output: number
  /** Less than the greatest cost is held. */
  readonly isLearnt?: true
}

/** Used cost as shares of the greatest: of the prompt with its tools, and of the output. */
export interface Sample {
  readonly prompt: number
  readonly output: number
}

interface Risk {
  readonly units: number
  readonly untilMs: number
}

/** Callers can make up names where a channel serves a pattern. */
const kindsMax = 2_000
const usersMax = 10_000
const usersOfKind = 64
const samplesOfUser = 8
const usersMin = 3
const samplesMin = 20
const quantile = 0.95
const margin = 1.25
const riskMaxUsd = 2
/** A call whose end is not reported, because its node gave it to another, counts as open for so long. */
const openMs = 3_600_000
const dayMs = 86_400_000
