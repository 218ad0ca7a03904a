/** A counting semaphore with a bounded queue: at most `runningMax` tasks run at once, at most `waitingMax` wait, others are refused. */
export class Semaphore {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(runningMax: number, waitingMax: number) {
    this.#runningMax = runningMax
    this.#waitingMax = waitingMax
  }

  /** Runs the task as soon as a permit is free, first come, first served. `refuse` is called, and must throw, when the queue is full. */
  async run<Result>(task: () => Promise<Result>, refuse: () => never): Promise<Result> {
    if (this.#running >= this.#runningMax) {
      if (this.#waiting.length >= this.#waitingMax) refuse()
      // A task that ends passes its permit on, so `#running` already counts this one.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#running++
    }

    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }
}
