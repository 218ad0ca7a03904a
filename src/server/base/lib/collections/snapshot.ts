/**
 * A value that is loaded completely, read without I/O and replaced as a unit: options, channels, prices. Readers never see half of
 * a change. Invalidations that arrive while a load runs cause one more load, so the last change always wins.
 */
export class Snapshot<Value> {
  readonly #load: () => Promise<Value>
  #current: Value | undefined
  #running: Promise<Value> | undefined
  #again = false
  readonly #retryMs: number
  #retry: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(load: () => Promise<Value>, { retryMs = 1000 }: { readonly retryMs?: number } = {}) {
    this.#load = load
    this.#retryMs = retryMs
  }

  /** The loaded value. Throws before the first `refresh` has finished: start-up awaits it. */
  get current(): Value {
    if (this.#current === undefined) throw new Error('Snapshot read before it was loaded')
    return this.#current
  }

  /** Loads again and resolves when a value at least as new as this call is in place. A failed load keeps the old value. */
  refresh(): Promise<Value> {
    if (this.#running) {
      this.#again = true
      return this.#running
    }
    this.#running = this.#run()
    return this.#running
  }

  /**
   * Refreshes in the background, and retries until a load succeeds: changes during an outage of the database are not lost. Each
   * failure is reported. Resolves after the first attempt; never rejects.
   */
  async follow(onFailure: (error: unknown) => void): Promise<void> {
    clearTimeout(this.#retry)
    try {
      await this.refresh()
    } catch (error) {
      onFailure(error)
      clearTimeout(this.#retry)
      if (!this.#isClosed) this.#retry = setTimeout(() => void this.follow(onFailure), this.#retryMs).unref()
    }
  }

  /** Stops the retries. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
  }

  async #run(): Promise<Value> {
    try {
      for (;;) {
        this.#again = false
        try {
          this.#current = await this.#load()
        } catch (error) {
          // A failure does not matter when the value is to be loaded again anyway.
          if (!this.#again) throw error
        }
        if (!this.#again) return this.current
      }
    } finally {
      // In the same synchronous step as the last check of `again`: a refresh that is requested in between would be lost.
      this.#running = undefined
    }
  }
}
