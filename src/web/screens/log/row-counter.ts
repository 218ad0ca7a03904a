const [newline, quote] = [10, 34]

/** Counts the rows of a file while it is read: its lines, except the head of a CSV file and the line breaks within quotes. */
export class RowCounter {
  bytes = 0
  readonly #isCsv: boolean
  #lines = 0
  #isQuoted = false

  constructor(format: 'csv' | 'jsonl') {
    this.#isCsv = format === 'csv'
  }

  get rows(): number {
    return Math.max(0, this.#lines - (this.#isCsv ? 1 : 0))
  }

  count(chunk: Uint8Array): void {
    this.bytes += chunk.length
    for (const byte of chunk) {
      // A quote within quotes is written twice, so that it opens them again.
      if (byte === quote && this.#isCsv) this.#isQuoted = !this.#isQuoted
      else if (byte === newline && !this.#isQuoted) this.#lines++
    }
  }
}
