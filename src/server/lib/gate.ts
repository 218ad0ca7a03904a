/** Lets a bounded number of tasks run at once and a bounded number wait; who comes after those is turned away. */
export class Gate {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(runningMax: number, waitingMax: number) {
    this.#runningMax = runningMax
    this.#waitingMax = waitingMax
  }

  /** Runs the task when its turn comes. `refuse` is called, and must throw, when the queue is full. */
  async run<Result>(task: () => Promise<Result>, refuse: () => never): Promise<Result> {
    if (this.#running >= this.#runningMax) {
      if (this.#waiting.length >= this.#waitingMax) refuse()
      // Whoever leaves hands its place over, so `#running` already counts this task.
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
