import { AppError } from '../../base/lib/failure.ts'
import { addressBlock } from '../../base/lib/net/addresses.ts'
import type { Counters } from './counters.ts'
import type { Rule } from './rule.ts'

/**
 * Rate limits of console requests by client address, over all nodes when Redis is configured. They protect the server from overload;
 * passwords are protected by `accounts/throttle`, in the database.
 */
const minute = 60_000
export const consoleLimits = {
  every: { count: 600, windowMs: 3 * minute },
  login: { count: 20, windowMs: 20 * minute },
  critical: { count: 20, windowMs: 20 * minute },
  /** For attempts to redeem codes, and for creating orders. */
  money: { count: 60, windowMs: 10 * minute },
  /** For the directories of organisations, which send everybody at once: 50 calls per second. */
  directory: { count: 9000, windowMs: 3 * minute },
} as const

export type ConsoleLimit = keyof typeof consoleLimits

const need = { id: '', inputTokens: 0, outputTokens: 0 }

export class ConsoleRateLimits {
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  /** Counts a request of this client under all of the limits, or under none when one refuses it. Throws `too_many_requests`. */
  async count(limits: readonly ConsoleLimit[], address: string): Promise<void> {
    const client = addressBlock(address)
    const { refusal } = await this.#counters.acquire(
      limits.map((limit) => ruleOf(limit, client)),
      need,
    )
    if (refusal) throw new AppError('too_many_requests', { seconds: Math.ceil(Number(refusal.retryMs) / 1000) })
  }
}

function ruleOf(limit: ConsoleLimit, client: string): Rule {
  const { count, windowMs } = consoleLimits[limit]
  return {
    key: `console:${limit}:${client}`,
    scope: 'client',
    windowMs,
    requests: count,
    successes: 0,
    tokens: 0,
    concurrency: 0,
  }
}
