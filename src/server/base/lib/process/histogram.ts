/**
 * Histogram of durations. Each bucket is 20 % wider than the one before, and a percentile is interpolated within its bucket, as if the
 * durations in it were spread evenly: it is within 20 % of the exact one, with many durations usually within 2 %. Histograms of other
 * times, nodes or models are merged by adding their counts. Durations up to 1 ms share the first bucket, those above a day the last.
 */

const ratio = 1.2
const logRatio = Math.log(ratio)
const bucketsMax = 102

export class Histogram {
  /** Allocated with the first duration. */
  #counts: Uint32Array | undefined
  #count = 0

  /** Reads the text of `toText`. */
  static parse(text: string): Histogram {
    const histogram = new Histogram()
    histogram.addText(text)
    return histogram
  }

  get count(): number {
    return this.#count
  }

  /** Counts one duration in milliseconds. */
  add(ms: number): void {
    this.#addAt(bucketOf(ms), 1)
  }

  merge(other: Histogram): void {
    other.#counts?.forEach((count, bucket) => {
      this.#addAt(bucket, count)
    })
  }

  /** Merges the text of another histogram's `toText`. */
  addText(text: string): void {
    if (text === '') return
    // Written by `toText`: bucket, count, bucket, count and so on.
    const numbers = JSON.parse(text) as number[]
    for (let index = 0; index + 1 < numbers.length; index += 2) this.#addAt(numbers[index] ?? 0, numbers[index + 1] ?? 0)
  }

  /** Compact JSON of the buckets that are not empty; '' when all are. */
  toText(): string {
    if (this.#count === 0) return ''
    const numbers: number[] = []
    this.#counts?.forEach((count, bucket) => {
      if (count > 0) numbers.push(bucket, count)
    })
    return JSON.stringify(numbers)
  }

  /** Milliseconds that a share (0.95 for p95) of the durations does not exceed; undefined when nothing was counted. */
  percentile(share: number): number | undefined {
    if (!this.#counts) return undefined
    const rank = Math.max(1, Math.ceil(share * this.#count))
    let passed = 0
    const bucket = this.#counts.findIndex((count) => {
      passed += count
      return passed >= rank
    })
    if (bucket === 0) return 1
    const count = this.#counts[bucket] ?? 1
    const before = passed - count
    // The place of this duration among those of its bucket, whose upper bound is ratio ** bucket. A single one is in the middle.
    return ratio ** (bucket - 1 + (rank - before - 0.5) / count)
  }

  #addAt(bucket: number, count: number): void {
    if (count === 0 || bucket >= bucketsMax) return
    this.#counts ??= new Uint32Array(bucketsMax)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count
    this.#count += count
  }
}

function bucketOf(ms: number): number {
  if (!(ms > 1)) return 0
  return Math.min(bucketsMax - 1, Math.ceil(Math.log(ms) / logRatio))
}
