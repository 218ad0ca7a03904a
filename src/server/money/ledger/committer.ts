import { AppError, fail } from '../../base/lib/failure.ts'
import type { Logger } from '../../base/lib/log/logger.ts'
import { activeMs } from '../../base/lib/time/active-time.ts'

/** The database operations of a committer. */
export interface Writer<Work> {
  /** Writes all of the batch or none of it. Work that was written before, by an attempt of unknown outcome, must change nothing. */
  write(batch: readonly Work[]): Promise<void>
  /** Whether `write` failed because of an entry of the batch, so that the others may pass without it. */
  refused(error: unknown): boolean
  /** When an entry is refused, all queued work of its owner waits with it, for example behind the same locked row. */
  owner(work: Work): number
  /** Removes optional parts of an entry that was refused alone. Returns whether there were any. */
  lighten(work: Work, error: unknown): boolean
  /** The name of an entry in the log, when it cannot be written. */
  describe(work: Work): object
}

/** A piece of work in the queue. */
export interface Queued<Work> {
  readonly work: Work
  /** An attempt to write it has begun; before that, the work may still be changed in place. */
  taken: boolean
  /** To be written separately, because a batch with it was refused. */
  alone: boolean
  refusals: number
  waiters: Waiter[]
  /** Called when the running attempt ends; `isWithdrawn` tells whether the entry was withdrawn before it was written. */
  onWithdrawn?: (isWithdrawn: boolean) => void
}

interface Waiter {
  readonly since: number
  resolve(): void
  reject(error: Error): void
}

const batchMax = 512
const watchMs = 250
/** Attempts without an answer for so long count as an outage. */
const slowMs = 2000
const failuresMax = 3
const pauseMaxMs = 2000
const parkedMaxMs = 30_000
/** Entries that were refused this often are given up when the committer closes. */
const closingRefusalsMax = 5

/**
 * Groups work into batches without a timer: a batch is everything that queued during the previous write. Entries that the database
 * cannot write now stay in the queue in order and are retried until they are durable; waiters get an error after `waitMs`. A batch
 * that the database refuses is written entry by entry, so that a faulty one delays only itself.
 */
export class Committer<Work> {
  readonly #writer: Writer<Work>
  readonly #logger: Logger
  readonly #waitMs: number
  readonly #watch: NodeJS.Timeout
  #queue: Queued<Work>[] = []
  #current: readonly Queued<Work>[] = []
  readonly #parked = new Map<NodeJS.Timeout, Queued<Work>[]>()
  #running = false
  #stopped = false
  #failures = 0
  /** Time of the oldest request that the database has not answered. */
  #tryingSince: number | undefined

  /** `waitMs`: the longest time that a waiter waits for its work. */
  constructor(logger: Logger, writer: Writer<Work>, waitMs: number) {
    this.#logger = logger
    this.#writer = writer
    this.#waitMs = waitMs
    this.#watch = setInterval(() => this.#rejectLate(), watchMs).unref()
  }

  /** Pieces of work that are not durable yet. */
  get size(): number {
    let parked = 0
    for (const items of this.#parked.values()) parked += items.length
    return this.#queue.length + this.#current.length + parked
  }

  /** Whether the database accepts no writes at present. */
  get failing(): boolean {
    if (this.#tryingSince === undefined) return false
    return this.#failures >= failuresMax || activeMs() - this.#tryingSince > slowMs
  }

  /** Throws `server_stopping` after `close`. */
  add(work: Work): Queued<Work> {
    if (this.#stopped) fail('server_stopping')
    const item: Queued<Work> = { work, taken: false, alone: false, refusals: 0, waiters: [] }
    this.#queue.push(item)
    this.#start()
    return item
  }

  /** Resolves when the work is durable. Rejects with `database_unavailable` after `waitMs`; the work stays queued. */
  wait(item: Queued<Work>): Promise<void> {
    return new Promise((resolve, reject) => item.waiters.push({ since: activeMs(), resolve, reject }))
  }

  /**
   * Withdraws work, so that no further attempt writes it; its waiters learn that it is not durable. Waits for a running attempt:
   * false when it has written the work. An earlier attempt of unknown outcome may have written it nevertheless.
   */
  withdraw(item: Queued<Work>): Promise<boolean> {
    if (this.#current.includes(item)) {
      return new Promise((resolve) => {
        item.onWithdrawn = resolve
      })
    }
    const isQueued = this.#left().includes(item)
    this.#queue = this.#queue.filter((other) => other !== item)
    for (const [timer, items] of this.#parked)
      this.#parked.set(
        timer,
        items.filter((other) => other !== item),
      )
    if (isQueued) rejectAll(item)
    return Promise.resolve(isQueued)
  }

  /** Waits until everything is durable, at most `limitMs`. Returns the unwritten work; nothing is written after that. */
  async close(limitMs: number): Promise<Work[]> {
    const latest = activeMs() + limitMs
    while (this.#left().some(({ refusals }) => refusals < closingRefusalsMax) && activeMs() < latest) {
      for (const timer of [...this.#parked.keys()]) this.#unpark(timer)
      await pause(10)
    }
    this.#stopped = true
    clearInterval(this.#watch)
    for (const timer of this.#parked.keys()) clearTimeout(timer)

    const left = this.#left()
    for (const item of left) rejectAll(item)
    return left.map(({ work }) => work)
  }

  #left(): Queued<Work>[] {
    return [...this.#current, ...this.#queue, ...[...this.#parked.values()].flat()]
  }

  #start(): void {
    if (this.#running) return
    this.#running = true
    // Work that arrives in the same iteration of the event loop joins the batch.
    setImmediate(() => void this.#run())
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 && !this.#stopped) {
      this.#current = this.#take()
      this.#tryingSince ??= activeMs()
      try {
        await this.#writer.write(this.#current.map(({ work }) => work))
        this.#answered()
        for (const { waiters, onWithdrawn } of this.#current) {
          onWithdrawn?.(false)
          for (const waiter of waiters) waiter.resolve()
        }
        this.#current = []
      } catch (error) {
        await this.#failed(error)
      }
    }
    this.#running = false
  }

  #answered(): void {
    this.#failures = 0
    this.#tryingSince = undefined
  }

  #take(): Queued<Work>[] {
    const firstAlone = this.#queue.findIndex(({ alone }) => alone)
    const count = firstAlone === 0 ? 1 : firstAlone < 0 ? batchMax : Math.min(firstAlone, batchMax)
    const batch = this.#queue.splice(0, count)
    for (const item of batch) item.taken = true
    return batch
  }

  async #failed(error: unknown): Promise<void> {
    const isAlone = this.#current.length === 1
    const batch = this.#current.filter((item) => !item.onWithdrawn)
    const withdrawn = this.#current.filter((item) => item.onWithdrawn)
    this.#current = []
    for (const item of batch) item.taken = false
    for (const item of withdrawn) {
      rejectAll(item)
      item.onWithdrawn?.(true)
    }

    if (!this.#writer.refused(error)) {
      this.#queue.unshift(...batch)
      this.#failures++
      this.#logger.error(
        { error, waiting: this.#queue.length, failures: this.#failures },
        'the ledger could not commit; trying again',
      )
      await pause(jittered(Math.min(pauseMaxMs, 25 * 2 ** Math.min(this.#failures, 10))))
      return
    }

    this.#answered()
    const [only] = batch
    if (!only) return
    if (isAlone) {
      if (this.#writer.lighten(only.work, error)) this.#queue.unshift(only)
      else this.#park(only, error)
      return
    }
    for (const item of batch) item.alone = true
    this.#queue.unshift(...batch)
    this.#logger.warn({ error, batch: batch.length }, 'a ledger batch was refused; writing it one by one')
  }

  /** Sets refused work aside for a while, with everything its owner has queued behind it, and logs it for the operator. */
  #park(item: Queued<Work>, error: unknown): void {
    const owner = this.#writer.owner(item.work)
    const follows = (other: Queued<Work>) => other.alone && this.#writer.owner(other.work) === owner
    const items = [item, ...this.#queue.filter(follows)]
    this.#queue = this.#queue.filter((other) => !follows(other))

    for (const each of items) each.refusals++
    this.#logger.error(
      { error, refusals: item.refusals, ...this.#writer.describe(item.work) },
      'the database refused a ledger entry',
    )
    const timer = setTimeout(() => this.#unpark(timer), jittered(Math.min(parkedMaxMs, 100 * 2 ** Math.min(item.refusals, 10))))
    timer.unref()
    this.#parked.set(timer, items)
  }

  #unpark(timer: NodeJS.Timeout): void {
    clearTimeout(timer)
    this.#queue.push(...(this.#parked.get(timer) ?? []))
    this.#parked.delete(timer)
    this.#start()
  }

  #rejectLate(): void {
    const before = activeMs() - this.#waitMs
    for (const items of [this.#current, this.#queue, ...this.#parked.values()]) {
      for (const item of items) {
        if (item.waiters.length === 0) continue
        const late = item.waiters.filter(({ since }) => since < before)
        if (late.length > 0) item.waiters = item.waiters.filter(({ since }) => since >= before)
        for (const waiter of late) waiter.reject(new AppError('database_unavailable'))
      }
    }
  }
}

function rejectAll({ waiters }: Queued<unknown>): void {
  for (const waiter of waiters.splice(0)) waiter.reject(new AppError('database_unavailable'))
}

export function jittered(ms: number): number {
  return ms * (0.5 + Math.random())
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
