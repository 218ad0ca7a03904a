export interface BudgetLimits {
  /** Bytes that one share may hold. */
  readonly shareBytesMax: number
  /** Bytes that all shares may hold together. */
  readonly totalBytesMax: number
  /** Bytes that unfinished shares may hold together; only the oldest of them may exceed it. */
  readonly readingBytesMax: number
  /** The time for which a read waits for room before it is refused. */
  readonly waitMs: number
}

/** Why bytes were refused: the share is full, or all shares together had no room for too long. */
export class BudgetExceeded extends Error {
  readonly whose: 'share' | 'all'

  constructor(whose: BudgetExceeded['whose']) {
    super(whose === 'share' ? 'the share is full' : 'there is no room left')
    this.name = 'BudgetExceeded'
    this.whose = whose
  }
}

interface Waiting {
  readonly share: Share
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

/**
 * A counting semaphore over bytes: limits the fetched bytes that the requests of a process hold. Each request opens a share and counts
 * the bytes in it as it reads them. When there is no room, reads wait in order, so that back-pressure reaches the sender.
 *
 * No deadlock: the oldest unfinished share never waits for other unfinished shares, finished shares do not wait, and every wait ends in
 * a refusal.
 */
export class ByteBudget {
  readonly limits: BudgetLimits
  readonly #reading = new Set<Share>()
  #waiting: Waiting[] = []
  #held = 0

  constructor(limits: BudgetLimits) {
    this.limits = limits
  }

  /** Bytes that all shares hold now. */
  get held(): number {
    return this.#held
  }

  /** Opens a share, which must be released. */
  open(): Share {
    return new Share(this)
  }

  /** Used by `Share.take`. */
  take(share: Share, bytes: number): Promise<void> | undefined {
    this.#reading.add(share)
    if (this.#fits(share, bytes)) {
      this.#count(share, bytes)
      return undefined
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((waiting) => waiting.timer !== timer)
        reject(new BudgetExceeded('all'))
      }, this.limits.waitMs)
      this.#waiting.push({ share, bytes, resolve, reject, timer })
    })
  }

  /** Used by `Share.settle`. */
  settle(share: Share): void {
    this.#reading.delete(share)
    this.#wake()
  }

  /** Used by `Share.release`. */
  release(share: Share, bytes: number): void {
    this.#reading.delete(share)
    this.#held -= bytes
    const own = this.#waiting.filter((waiting) => waiting.share === share)
    this.#waiting = this.#waiting.filter((waiting) => waiting.share !== share)
    for (const { timer, reject } of own) {
      clearTimeout(timer)
      reject(new BudgetExceeded('share'))
    }
    this.#wake()
  }

  #fits(share: Share, bytes: number): boolean {
    if (this.#held + bytes > this.limits.totalBytesMax) return false
    const [oldest] = this.#reading
    if (share === oldest) return true
    let reading = bytes
    for (const other of this.#reading) reading += other.held
    return reading <= this.limits.readingBytesMax
  }

  #count(share: Share, bytes: number): void {
    this.#held += bytes
    share.held += bytes
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) {
      if (!this.#fits(one.share, one.bytes)) {
        this.#waiting.push(one)
        continue
      }
      clearTimeout(one.timer)
      this.#count(one.share, one.bytes)
      one.resolve()
    }
  }
}

/** One request's part of a budget. */
export class Share {
  readonly #budget: ByteBudget
  #isReleased = false
  #hasWaited = false
  held = 0

  constructor(budget: ByteBudget) {
    this.#budget = budget
  }

  /**
   * Counts bytes that have been read; undefined when there is room at once. Throws, or rejects with, `BudgetExceeded`: at once when the
   * share would be too large, later when others leave no room.
   */
  take(bytes: number): Promise<void> | undefined {
    if (this.#isReleased || this.held + bytes > this.#budget.limits.shareBytesMax) throw new BudgetExceeded('share')
    const wait = this.#budget.take(this, bytes)
    if (wait) this.#hasWaited = true
    return wait
  }

  /** Whether there was a time without room. */
  get hasWaited(): boolean {
    return this.#hasWaited
  }

  /** Everything has been read: the bytes stay held, and the next share may continue. */
  settle(): void {
    this.#budget.settle(this)
  }

  /** Releases everything. Pending waits are rejected. May be called twice. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    const { held } = this
    this.held = 0
    this.#budget.release(this, held)
  }
}
