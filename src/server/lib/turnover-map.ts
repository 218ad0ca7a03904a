/**
 * A Map for entries that come and go with every call. V8 links each outgrown table of a Map to the next one and leaves in it what
 * it held. Once such a table is in the old generation, every later table and all of its entries follow it there, although they are
 * unreachable: ended calls fill the old generation. A new Map for the entries that are left, after so many insertions, ends the
 * chain.
 */
export class TurnoverMap<Key, Value> {
  #entries = new Map<Key, Value>()
  #insertionsLeft = insertionsMin

  get size(): number {
    return this.#entries.size
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  set(key: Key, value: Value): void {
    if (--this.#insertionsLeft === 0) {
      this.#entries = new Map(this.#entries)
      // In proportion to what is copied, so that many long-lived entries cost no more for each insertion than few.
      this.#insertionsLeft = Math.max(insertionsMin, 2 * this.#entries.size)
    }
    this.#entries.set(key, value)
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  keys(): Iterable<Key> {
    return this.#entries.keys()
  }

  values(): Iterable<Value> {
    return this.#entries.values()
  }
}

const insertionsMin = 128
