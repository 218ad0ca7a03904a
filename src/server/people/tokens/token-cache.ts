import { LRUCache } from 'lru-cache'
import { upTo } from '../../base/lib/collections/cache-size.ts'
import type { Clock } from '../../base/lib/time/clock.ts'

/** The ids by which an entry is dropped when its token or user changes. */
export interface CacheEntry {
  readonly tokenId: number
  readonly userId: number
  /** The user of the member whose token it is, where an organisation pays; 0 for none. */
  readonly holderId?: number
}

interface Kept<Entry> {
  readonly entry: Entry
  readonly atMs: number
}

const knownMax = 100_000
const knownMs = 60_000
/** Unknown keys are cached separately, so that a flood of them cannot evict the known ones. */
const unknownMax = 10_000
const unknownMs = 5_000

/**
 * Entries by the hash of a key, loaded on demand and dropped when their token or user changes. A load that began before a change is
 * neither cached nor shared with later requests, so that a request after a change never gets an older entry.
 */
export class TokenCache<Entry extends CacheEntry> {
  readonly #load: (hash: string) => Promise<Entry | null>
  readonly #now: Clock
  readonly #known: LRUCache<string, Kept<Entry>>
  readonly #unknown = new LRUCache<string, number>(upTo(unknownMax))
  readonly #hashOfToken = new Map<number, string>()
  readonly #hashesOfUser = new Map<number, Set<string>>()
  readonly #loading = new Map<string, Promise<Entry | null>>()
  #epoch = 0

  constructor({ load, now, max = knownMax }: { load: (hash: string) => Promise<Entry | null>; now: Clock; max?: number }) {
    this.#load = load
    this.#now = now
    this.#known = new LRUCache({ ...upTo(max), dispose: ({ entry }, hash) => this.#unlink(entry, hash) })
  }

  /** Null if the key is cached as unknown, undefined if it is not cached and only `find` can decide. */
  peek(hash: string): Entry | null | undefined {
    const kept = this.#known.get(hash)
    if (kept) return isFresh(this.#now() - kept.atMs, knownMs) ? kept.entry : undefined
    const unknownSince = this.#unknown.get(hash)
    if (unknownSince === undefined) return undefined
    return isFresh(this.#now() - unknownSince, unknownMs) ? null : undefined
  }

  async find(hash: string): Promise<Entry | null> {
    const known = this.peek(hash)
    if (known !== undefined) return known

    const running = this.#loading.get(hash)
    if (running) return running
    const load = this.#loadNow(hash, this.#epoch)
    this.#loading.set(hash, load)
    try {
      return await load
    } finally {
      if (this.#loading.get(hash) === load) this.#loading.delete(hash)
    }
  }

  /** Drops the entry of a token; 0 drops all. */
  dropToken(id: number): void {
    const hash = this.#hashOfToken.get(id)
    this.#drop(id, hash === undefined ? [] : [hash])
  }

  /** Drops the entries of a user; 0 drops all. */
  dropUser(id: number): void {
    this.#drop(id, [...(this.#hashesOfUser.get(id) ?? [])])
  }

  #drop(id: number, hashes: readonly string[]): void {
    this.#epoch++
    this.#loading.clear()
    this.#unknown.clear()
    if (id === 0) this.#known.clear()
    for (const hash of hashes) this.#known.delete(hash)
  }

  async #loadNow(hash: string, epoch: number): Promise<Entry | null> {
    const entry = await this.#load(hash)
    if (epoch !== this.#epoch) return entry
    if (entry === null) this.#unknown.set(hash, this.#now())
    else this.#keep(hash, entry)
    return entry
  }

  #keep(hash: string, entry: Entry): void {
    this.#known.set(hash, { entry, atMs: this.#now() })
    this.#hashOfToken.set(entry.tokenId, hash)
    for (const id of usersOf(entry)) {
      const hashes = this.#hashesOfUser.get(id) ?? new Set()
      this.#hashesOfUser.set(id, hashes.add(hash))
    }
  }

  #unlink(entry: CacheEntry, hash: string): void {
    this.#hashOfToken.delete(entry.tokenId)
    for (const id of usersOf(entry)) {
      const hashes = this.#hashesOfUser.get(id)
      hashes?.delete(hash)
      if (hashes?.size === 0) this.#hashesOfUser.delete(id)
    }
  }
}

/** Those whose change drops the entry: who pays, and who holds the token. */
function usersOf({ userId, holderId = 0 }: CacheEntry): readonly number[] {
  return holderId === 0 ? [userId] : [userId, holderId]
}

/** When the clock is set back, entries become stale rather than stay for ever. */
function isFresh(ageMs: number, limitMs: number): boolean {
  return ageMs >= 0 && ageMs < limitMs
}
