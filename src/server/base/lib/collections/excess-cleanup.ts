import { background, type Logger } from '../log/logger.ts'

export interface Store<Row extends { readonly bytes: number }> {
  /** Names the cleanup in the log. */
  readonly title: string
  readonly logger: Logger
  /** The most bytes that may be stored. */
  bytesMax(): number
  /** Bytes of all rows. */
  bytesStored(): Promise<number>
  /** The oldest rows, some hundreds. */
  oldest(): Promise<readonly Row[]>
  delete(rows: readonly Row[]): Promise<void>
}

/** A cleanup leaves at most this share of the limit, so that several nodes may add to it before the next one. */
const reducedTo = 0.9
/** A cleanup begins each time this share of the limit has been written. */
const begunEvery = 0.01

/** Keeps the stored bytes of all processes below a limit: deletes the oldest rows beyond it. */
export class ExcessCleanup<Row extends { readonly bytes: number }> {
  readonly #store: Store<Row>
  #writtenBytes = 0
  #last: Promise<void> = Promise.resolve()

  constructor(store: Store<Row>) {
    this.#store = store
  }

  /** Counts stored bytes, and cleans up in the background when enough have been written. */
  noteWritten(bytes: number): void {
    const { title, logger } = this.#store
    this.#writtenBytes += bytes
    if (this.#writtenBytes < this.#store.bytesMax() * begunEvery) return
    this.#writtenBytes = 0
    background(logger, title, this.run())
  }

  /** Cleanups run one after the other: two at once would each delete the complete excess. Throws errors of the store. */
  run(): Promise<void> {
    const cleaned = this.#last.then(() => this.#deleteExcess())
    this.#last = cleaned.catch(() => {})
    return cleaned
  }

  /** Resolves when no cleanup runs. */
  settled(): Promise<void> {
    return this.#last
  }

  async #deleteExcess(): Promise<void> {
    const max = this.#store.bytesMax()
    for (let limit = max; ; limit = max * reducedTo) {
      // The rows before the sum: what another process deletes between the two is then not replaced by newer rows.
      const oldest = await this.#store.oldest()
      const stored = await this.#store.bytesStored()
      if (stored <= limit || oldest.length === 0) return
      let excess = stored - max * reducedTo
      let count = 0
      for (; count < oldest.length && excess > 0; count++) excess -= oldest[count]?.bytes ?? 0
      await this.#store.delete(oldest.slice(0, count))
    }
  }
}
