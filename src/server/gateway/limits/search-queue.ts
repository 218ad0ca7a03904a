import type { Queries } from '../../base/db/open.ts'
import type { Reader } from '../../base/db/reader.ts'
import { AppError } from '../../base/lib/failure.ts'
import { raceAbort } from '../../base/lib/time/race-abort.ts'

/**
 * The queue of log searches, which may read large parts of the log. On each node at most two searches of a user run and four wait, and
 * all users together run at most two per reading connection. Behind those of other users a search waits about a second: one that would wait
 * longer, by the time that searches have taken lately, is refused when it arrives. Exports are not queued: `running-downloads.ts`
 * bounds them.
 */
const runningMax = 2
const waitingMax = 4
/** While one search is between two statements, another has the connection. */
const runningForConnection = 2
/** How much the latest search counts in the time that searches take, and the time that is assumed at first. */
const latestShare = 0.2
const assumedRunMs = 100

interface SearchLimits {
  /** The time limit in the queue behind searches of the same user. */
  readonly waitMs: number
  /** The time limit in the queue behind searches of other users. */
  readonly crowdWaitMs: number
  /** The time limit of a running search. */
  readonly runMs: number
}

interface SearchRequest {
  readonly userId: number
  /** A newer search with the same filter cancels the older one of the same user. */
  readonly filter: string
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal
}

interface Search {
  readonly userId: number
  readonly filter: string
  readonly controller: AbortController
  readonly begin: () => void
  hasBegun: boolean
}

export class SearchQueue {
  readonly #reader: Pick<Reader, 'queries' | 'connections'>
  readonly #limits: SearchLimits
  /** Running and waiting searches, in order of arrival. */
  readonly #searches: Search[] = []
  /** The time that searches have taken lately. */
  #runMs = assumedRunMs

  constructor(
    reader: Pick<Reader, 'queries' | 'connections'>,
    limits: SearchLimits = { waitMs: 5_000, crowdWaitMs: 1_000, runMs: 10_000 },
  ) {
    this.#reader = reader
    this.#limits = limits
  }

  /**
   * Runs a search as soon as the queue allows, with queries that are cancelled together with it. Throws `log_searches_busy` when too many
   * run and wait, or those of others would delay it for longer than a second, `log_search_timeout` when it takes too long, `log_search_cancelled` when the user repeated or abandoned the search.
   */
  async run<Result>(asked: SearchRequest, work: (db: Queries) => Promise<Result>): Promise<Result> {
    const { signal: client } = asked
    const { runMs } = this.#limits
    const { search, started, waitMs } = this.#enqueue(asked)
    const { signal } = search.controller
    const cancel = () => this.#end(search, new AppError('log_search_cancelled'))
    client.addEventListener('abort', cancel)
    if (client.aborted) cancel()
    let limit = setTimeout(() => this.#end(search, this.#busy()), waitMs)
    let startedAt: number | undefined
    try {
      await raceAbort(started, signal)
      clearTimeout(limit)
      startedAt = performance.now()
      const tooLong = new AppError('log_search_timeout', { seconds: Math.round(runMs / 1000) })
      limit = setTimeout(() => this.#end(search, tooLong), runMs)
      return await raceAbort(work(this.#reader.queries(signal)), signal)
    } finally {
      clearTimeout(limit)
      client.removeEventListener('abort', cancel)
      if (startedAt !== undefined) this.#runMs += (performance.now() - startedAt - this.#runMs) * latestShare
      this.#end(search)
    }
  }

  #enqueue({ userId, filter }: SearchRequest): {
    readonly search: Search
    readonly started: Promise<void>
    readonly waitMs: number
  } {
    const older = this.#searches.find((search) => search.userId === userId && search.filter === filter)
    if (older) this.#end(older, new AppError('log_search_cancelled'))
    const own = this.#searches.filter((search) => search.userId === userId).length
    if (own >= runningMax + waitingMax) throw this.#busy()
    const others = this.#searches.length - own
    const { waitMs, crowdWaitMs } = this.#limits
    if (this.#waitMsBehind(others) > crowdWaitMs) throw this.#busy()

    const { promise: started, resolve: begin } = withResolver()
    const search = { userId, filter, controller: new AbortController(), begin, hasBegun: false }
    this.#searches.push(search)
    this.#beginNext()
    return { search, started, waitMs: others < this.#inAllMax ? waitMs : crowdWaitMs }
  }

  get #inAllMax(): number {
    return this.#reader.connections * runningForConnection
  }

  /** The time until one of the slots is free of that many searches, of which those that run are half over on average. */
  #waitMsBehind(searches: number): number {
    const rounds = (searches - this.#inAllMax / 2) / this.#inAllMax
    return searches < this.#inAllMax ? 0 : rounds * this.#runMs
  }

  #busy(): AppError {
    return new AppError('log_searches_busy', {
      seconds: Math.max(1, Math.ceil(this.#waitMsBehind(this.#searches.length) / 1000)),
    })
  }

  /** Removes a search from the queue and starts the next ones. Idempotent. */
  #end(search: Search, reason?: AppError): void {
    const at = this.#searches.indexOf(search)
    if (at < 0) return
    this.#searches.splice(at, 1)
    search.controller.abort(reason)
    this.#beginNext()
  }

  #beginNext(): void {
    const running = this.#searches.filter(({ hasBegun }) => hasBegun)
    for (const search of this.#searches) {
      if (running.length >= this.#inAllMax) return
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
