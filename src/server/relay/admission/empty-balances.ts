import { LRUCache } from 'lru-cache'
import { upTo } from '../../lib/cache-size.ts'
import { AppError } from '../../lib/failure.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'

const usersMax = 10_000

/** Users who were refused for want of any balance, so that the next request of theirs is worth a look at it. */
export class EmptyBalances {
  readonly #users = new LRUCache<number, true>(upTo(usersMax))

  /** Notes the refusal of a hold, if it says that nothing was left. */
  noteRefusal(userId: number, error: unknown): void {
    if (error instanceof AppError && error.code === 'quota_insufficient' && Number(error.params.have) <= 0)
      this.#users.set(userId, true)
  }

  /** Whether it is worth reading the balance of this caller. */
  mayBeEmpty({ userId, hadBalance }: Pick<RelayCaller, 'userId' | 'hadBalance'>): boolean {
    return !hadBalance || this.#users.has(userId)
  }

  /** A user was seen with a balance. */
  clear(userId: number): void {
    this.#users.delete(userId)
  }
}
