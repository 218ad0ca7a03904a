/**
 * A Map for entries that are added and removed with every call. V8 links each outgrown table of a Map to the next one and leaves
 * its entries in it. Once such a table is in the old generation, every later table and all of its entries are moved there too,
 * although they are unreachable: ended calls fill the old generation. A new Map for the entries that are left, after so many
 * insertions, ends the chain.
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
      // In proportion to the number of copied entries, so that an insertion costs the same with many long-lived entries as with
      // few.
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
