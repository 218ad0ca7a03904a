import { fail } from '../../base/lib/failure.ts'

/**
 * The downloads of lists that run at the same time. They may read a whole table in chunks, at the pace of the client, and are not queued:
 * on each node at most two of a user run, and eight of all users.
 */
export class RunningDownloads {
  /** By user. */
  readonly #running = new Map<number, number>()
  #total = 0

  /** Begins one; the returned function ends it, and may be called again. Throws `downloads_busy`. */
  begin(userId: number): () => void {
    const own = this.#running.get(userId) ?? 0
    if (own >= ofUserMax || this.#total >= inAllMax) fail('downloads_busy', { own: ofUserMax })
    this.#running.set(userId, own + 1)
    this.#total++
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#total--
      const left = (this.#running.get(userId) ?? 1) - 1
      if (left > 0) this.#running.set(userId, left)
      else this.#running.delete(userId)
    }
  }
}

const ofUserMax = 2
const inAllMax = 8
