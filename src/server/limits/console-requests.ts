import { LRUCache } from 'lru-cache'
import { addressBlock } from '../lib/addresses.ts'
import type { Clock } from '../lib/clock.ts'
import { fail } from '../lib/failure.ts'

/**
 * How often one client address may call the console. Counted in the memory of this node: these limits keep the server breathing,
 * they do not guard passwords (that is `accounts/throttle`, in the database).
 */
const minute = 60_000
export const consoleLimits = {
  every: { count: 600, windowMs: 3 * minute },
  login: { count: 20, windowMs: 20 * minute },
  critical: { count: 20, windowMs: 20 * minute },
} as const

export type ConsoleLimit = keyof typeof consoleLimits

/** Requests in the window that runs and in the one before. */
interface Counter {
  window: number
  count: number
  before: number
}

const countersMax = 100_000

export class ConsoleRequests {
  readonly #now: Clock
  readonly #counters = new LRUCache<string, Counter>({ max: countersMax })

  constructor(now: Clock) {
    this.#now = now
  }

  /**
   * Counts a request of this client. The window slides: what was counted in the last whole window still weighs by the share of it
   * that is less than a window ago. Refused requests are not counted. Throws `too_many_requests`.
   */
  count(limit: ConsoleLimit, address: string): void {
    const { count: countMax, windowMs } = consoleLimits[limit]
    const now = this.#now()
    const window = Math.floor(now / windowMs)
    const counter = this.#counter(`${limit} ${addressBlock(address)}`, window)

    const share = 1 - (now % windowMs) / windowMs
    if (counter.count + counter.before * share >= countMax) fail('too_many_requests')
    counter.count++
  }

  #counter(key: string, window: number): Counter {
    const known = this.#counters.get(key)
    if (known?.window === window) return known
    const counter = { window, count: 0, before: known?.window === window - 1 ? known.count : 0 }
    this.#counters.set(key, counter)
    return counter
  }
}
