import { redisPrefix } from '../bus/connect.ts'
import type { Clock } from '../lib/clock.ts'
import type { Core } from '../options/core.ts'
import { MemoryWindows } from './memory-windows.ts'
import { type RedisTiming, RedisWindows } from './redis-windows.ts'
import type { Ended, Need, Rule, Verdict } from './rule.ts'

/** A request that was let in: what is needed to correct its counts when it ends. */
export interface Taken {
  readonly rules: readonly Rule[]
  readonly need: Need
  readonly own: readonly number[]
  /** Undefined when Redis was not asked, or did not answer. */
  readonly shared: readonly number[] | undefined
}

export interface Decision extends Pick<Verdict, 'refusal' | 'standings'> {
  /** Undefined when it was refused. */
  readonly taken: Taken | undefined
}

/**
 * Counts requests under rules: in the memory of this node, and over all nodes in Redis when there is one. What this node alone has
 * counted refuses without asking Redis; when Redis is away it is all that counts.
 */
export class Counters {
  /** Never jumps. */
  readonly #now: Clock
  readonly #memory = new MemoryWindows()
  /** What all nodes count together; undefined without Redis. */
  readonly shared: RedisWindows | undefined

  constructor({ now, shared }: { now: Clock; shared?: RedisWindows | undefined }) {
    this.#now = now
    this.shared = shared
  }

  /** Counts a request under all rules, or under none when one of them refuses it. Answers at once when no Redis is asked. */
  take(rules: readonly Rule[], need: Need): Decision | Promise<Decision> {
    const own = this.#memory.take(rules, need, this.#now())
    if (own.refusal) return { ...own, taken: undefined }
    const asked = this.shared?.take(rules, need)
    if (asked) return this.#decide(rules, need, own, asked)
    return { ...own, taken: { rules, need, own: own.places, shared: undefined } }
  }

  /**
   * What refuses a request by count, whatever tokens it needs, and how far the rules are used. Counts nothing. Redis is asked only where
   * `asksAll`, since it is asked again when the request enters.
   */
  async look(rules: readonly Rule[], asksAll: boolean): Promise<Pick<Verdict, 'refusal' | 'standings'>> {
    const own = this.#memory.look(rules, this.#now())
    if (own.refusal || !asksAll) return own
    return (await this.shared?.look(rules)) ?? own
  }

  /** Corrects the counts of a request that was let in. */
  end({ rules, need, own, shared }: Taken, ended: Pick<Ended, 'succeeded' | 'tokens'>): void {
    const told = { ...ended, undone: false }
    this.#memory.end(rules, own, need, told, this.#now())
    this.shared?.end(rules, shared, need, told)
  }

  async close(): Promise<void> {
    await this.shared?.close()
  }

  async #decide(rules: readonly Rule[], need: Need, own: Verdict, asked: Promise<Verdict | undefined>): Promise<Decision> {
    const verdict = await asked
    if (verdict?.refusal) {
      this.#memory.end(rules, own.places, need, { succeeded: false, undone: true, tokens: 0 }, this.#now())
      return { ...verdict, taken: undefined }
    }
    const { standings } = verdict ?? own
    return { refusal: undefined, standings, taken: { rules, need, own: own.places, shared: verdict?.places } }
  }
}

/** Counts in Redis too when one is configured. `timing` replaces the patience of requests with it. */
export async function openCounters(
  { env, database, logger, steady }: Pick<Core, 'env' | 'database' | 'logger' | 'steady'>,
  timing: RedisTiming = {},
): Promise<Counters> {
  if (env.REDIS_URL === '') return new Counters({ now: steady })
  return new Counters({
    now: steady,
    shared: await RedisWindows.open({ url: env.REDIS_URL, prefix: await redisPrefix(database), logger, timing }),
  })
}
