import { redisPrefix } from '../../base/bus/connect.ts'
import type { Clock } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { MemoryWindows } from './memory-windows.ts'
import { type RedisTiming, RedisWindows } from './redis-windows.ts'
import type { LimitedRequest, RequestOutcome, Rule, Verdict } from './rule.ts'
import type { SharedWindows } from './shared-windows.ts'
import { openSiblingWindows } from './sibling-windows.ts'

/** An admitted request: the data to correct its counts when it ends. */
export interface Grant {
  readonly rules: readonly Rule[]
  readonly need: LimitedRequest
  readonly memoryPieces: readonly number[]
  /** Undefined when Redis was not called, or did not answer. */
  readonly redisPieces: readonly number[] | undefined
}

export interface Decision extends Pick<Verdict, 'refusal' | 'statuses'> {
  /** Undefined when the request was refused. */
  readonly grant: Grant | undefined
}

/**
 * Counts requests under rules: in the memory of this node, and over all nodes in Redis when it is configured, else over the
 * processes of this start. A request that exceeds a limit on this node alone is refused without asking the shared counts. While
 * Redis is unavailable, each node counts on its own.
 */
export class Counters {
  /** A monotonic clock. */
  readonly #now: Clock
  readonly #memory = new MemoryWindows()
  /** The counts over all nodes, or over the processes of this start; undefined in a process that counts alone. */
  readonly shared: SharedWindows | undefined

  constructor({ now, shared }: { now: Clock; shared?: SharedWindows | undefined }) {
    this.#now = now
    this.shared = shared
  }

  /** Counts a request under all rules, or under none when one of them refuses it. Synchronous without Redis. */
  acquire(rules: readonly Rule[], need: LimitedRequest): Decision | Promise<Decision> {
    const own = this.#memory.acquire(rules, need, this.#now())
    if (own.refusal) return { ...own, grant: undefined }
    const asked = this.shared?.acquire(rules, need)
    if (asked) return this.#decide(rules, need, own, asked)
    return { ...own, grant: { rules, need, memoryPieces: own.pieces, redisPieces: undefined } }
  }

  /**
   * Checks the rules without counting the request: the first refusal by count, regardless of tokens, and the status of each rule.
   * Redis is read only where `asksAll`, since `acquire` reads it again.
   */
  async peek(rules: readonly Rule[], asksAll: boolean): Promise<Pick<Verdict, 'refusal' | 'statuses'>> {
    const own = this.#memory.peek(rules, this.#now())
    if (own.refusal || !asksAll) return own
    return (await this.shared?.peek(rules)) ?? own
  }

  /** Corrects the counts of an admitted request when it ends. */
  release(
    { rules, need, memoryPieces: own, redisPieces: shared }: Grant,
    ended: Pick<RequestOutcome, 'succeeded' | 'tokens'>,
  ): void {
    const told = { ...ended, undone: false }
    this.#memory.release(rules, own, { need, ended: told }, this.#now())
    this.shared?.release(rules, shared, need, told)
  }

  async close(): Promise<void> {
    await this.shared?.close()
  }

  async #decide(
    rules: readonly Rule[],
    need: LimitedRequest,
    own: Verdict,
    asked: Promise<Verdict | undefined>,
  ): Promise<Decision> {
    const verdict = await asked
    if (verdict?.refusal) {
      this.#memory.release(rules, own.pieces, { need, ended: { succeeded: false, undone: true, tokens: 0 } }, this.#now())
      return { ...verdict, grant: undefined }
    }
    const { statuses } = verdict ?? own
    return { refusal: undefined, statuses, grant: { rules, need, memoryPieces: own.pieces, redisPieces: verdict?.pieces } }
  }
}

/** Counts in Redis too when it is configured. `timing` replaces how long requests wait for it. */
export async function openCounters(
  { env, database, logger, siblings, steady }: Pick<Core, 'env' | 'database' | 'logger' | 'siblings' | 'steady'>,
  timing: RedisTiming = {},
): Promise<Counters> {
  if (env.REDIS_URL === '') return new Counters({ now: steady, shared: siblings && openSiblingWindows(siblings, steady) })
  return new Counters({
    now: steady,
    shared: await RedisWindows.open({ url: env.REDIS_URL, prefix: await redisPrefix(database), logger, timing }),
  })
}
