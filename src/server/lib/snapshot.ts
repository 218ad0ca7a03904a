/**
 * A value that is loaded whole, read without I/O and replaced as one: options, channels, prices. Readers never see half of a change.
 * Invalidations that arrive while a load runs cause one more load, so the last change always wins.
 */
export class Snapshot<Value> {
  readonly #load: () => Promise<Value>
  #current: Value | undefined
  #running: Promise<Value> | undefined
  #again = false

  constructor(load: () => Promise<Value>) {
    this.#load = load
  }

  /** The loaded value. Throws before the first `refresh` has finished: start-up awaits it. */
  get current(): Value {
    if (this.#current === undefined) throw new Error('Snapshot read before it was loaded')
    return this.#current
  }

  /** Loads anew and resolves when a value at least as new as this call is in place. A failed load keeps the old value. */
  refresh(): Promise<Value> {
    if (this.#running) {
      this.#again = true
      return this.#running
    }
    this.#running = this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #run(): Promise<Value> {
    let value: Value
    do {
      this.#again = false
      value = await this.#load()
      this.#current = value
    } while (this.#again)
    return value
  }
}
