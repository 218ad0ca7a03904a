import { background, type Logger } from './logger.ts'

export interface Store {
  /** Names the cleanup in the log. */
  readonly title: string
  readonly logger: Logger
  /** The most bytes that may be stored. */
  bytesMax(): number
  /** Deletes the oldest of what is stored, until `reducedTo` of the limit is left. */
  deleteExcess(): Promise<void>
}

/** A cleanup leaves at most this share of the limit, so that several nodes may add to it before the next one. */
export const reducedTo = 0.9
/** A cleanup begins each time that this share of the limit was written. */
const begunEvery = 0.01

/** Keeps what this process and others store below a limit of bytes. */
export class ExcessCleanup {
  readonly #store: Store
  #writtenBytes = 0
  #last: Promise<void> = Promise.resolve()

  constructor(store: Store) {
    this.#store = store
  }

  /** Counts bytes that were stored, and cleans up in the background when they are many. */
  noteWritten(bytes: number): void {
    const { title, logger } = this.#store
    this.#writtenBytes += bytes
    if (this.#writtenBytes < this.#store.bytesMax() * begunEvery) return
    this.#writtenBytes = 0
    background(logger, title, this.run())
  }

  /** Cleanups run one after the other: two at once would each delete the whole excess. Throws errors of the store. */
  run(): Promise<void> {
    const cleaned = this.#last.then(() => this.#store.deleteExcess())
    this.#last = cleaned.catch(() => {})
    return cleaned
  }

  /** Resolves when no cleanup runs. */
  settled(): Promise<void> {
    return this.#last
  }
}
