import type { Queries } from '../db/open.ts'
import type { Reader } from '../db/reader.ts'
import { AppError, fail } from '../lib/failure.ts'
import { unlessAborted } from '../lib/unless-aborted.ts'

/**
 * Searches of the log, which may read very much. On each node two of a user run at a time and four wait for them; and of all users no more
 * run than the reader has use for. Exports have no part in this: they read piece by piece, as fast as they are taken.
 */
const runningMax = 2
const waitingMax = 4
/** While one search is between two statements, another has the connection. */
const runningForConnection = 2

export interface SearchLimits {
  /** How long a search may wait for its turn. */
  readonly waitMs: number
  /** How long a search may run. */
  readonly runMs: number
}

export interface Asked {
  readonly userId: number
  /** What is searched for: a newer search for the same takes the place of the older one. */
  readonly filter: string
  /** Aborted when nobody waits for the answer any more. */
  readonly left: AbortSignal
}

interface Search {
  readonly userId: number
  readonly filter: string
  readonly controller: AbortController
  readonly begin: () => void
  hasBegun: boolean
}

export class SearchTurns {
  readonly #reader: Pick<Reader, 'queries' | 'connections'>
  readonly #limits: SearchLimits
  /** Those that run and those that wait, in the order in which they came. */
  readonly #searches: Search[] = []

  constructor(reader: Pick<Reader, 'queries' | 'connections'>, limits: SearchLimits = { waitMs: 5_000, runMs: 10_000 }) {
    this.#reader = reader
    this.#limits = limits
  }

  /**
   * Runs a search when it is its turn, with queries that end with it. Throws `log_searches_busy` when too many run and wait,
   * `log_search_timeout` when it takes too long, `log_search_cancelled` when the user has asked the same again or has left.
   */
  async run<Result>(asked: Asked, work: (db: Queries) => Promise<Result>): Promise<Result> {
    const { left } = asked
    const { waitMs, runMs } = this.#limits
    const { search, turn } = this.#enter(asked)
    const { signal } = search.controller
    const leave = () => this.#end(search, new AppError('log_search_cancelled'))
    left.addEventListener('abort', leave)
    if (left.aborted) leave()
    let limit = setTimeout(() => this.#end(search, new AppError('log_searches_busy')), waitMs)
    try {
      await unlessAborted(turn, signal)
      clearTimeout(limit)
      const tooLong = new AppError('log_search_timeout', { seconds: Math.round(runMs / 1000) })
      limit = setTimeout(() => this.#end(search, tooLong), runMs)
      return await unlessAborted(work(this.#reader.queries(signal)), signal)
    } finally {
      clearTimeout(limit)
      left.removeEventListener('abort', leave)
      this.#end(search)
    }
  }

  #enter({ userId, filter }: Asked): { readonly search: Search; readonly turn: Promise<void> } {
    const older = this.#searches.find((search) => search.userId === userId && search.filter === filter)
    if (older) this.#end(older, new AppError('log_search_cancelled'))
    if (this.#searches.filter((search) => search.userId === userId).length >= runningMax + waitingMax) fail('log_searches_busy')

    const { promise: turn, resolve: begin } = withResolver()
    const search = { userId, filter, controller: new AbortController(), begin, hasBegun: false }
    this.#searches.push(search)
    this.#beginNext()
    return { search, turn }
  }

  /** Takes a search out, and lets others begin. Nothing happens to one that has ended. */
  #end(search: Search, reason?: AppError): void {
    const at = this.#searches.indexOf(search)
    if (at < 0) return
    this.#searches.splice(at, 1)
    search.controller.abort(reason)
    this.#beginNext()
  }

  #beginNext(): void {
    const running = this.#searches.filter(({ hasBegun }) => hasBegun)
    const inAllMax = this.#reader.connections * runningForConnection
    for (const search of this.#searches) {
      if (running.length >= inAllMax) return
      if (search.hasBegun || running.filter(({ userId }) => userId === search.userId).length >= runningMax) continue
      search.hasBegun = true
      running.push(search)
      search.begin()
    }
  }
}

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
