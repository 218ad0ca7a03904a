import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gunzip } from 'node:zlib'
import type { CallerSide, OwnRecordedCall, RecordedCall, UpstreamExchange } from '../../../contract/entities/recording.ts'
import { isDatabaseFailure } from '../../base/db/failures.ts'
import { withDatabaseTimeout } from '../../base/db/with-timeout.ts'
import { jsonSlices } from '../../base/lib/bytes/text-slices.ts'
import { ExcessCleanup, type Store } from '../../base/lib/collections/excess-cleanup.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { yieldToEventLoop } from '../../base/lib/time/yield-to-event-loop.ts'
import { recordAction } from '../../base/options/audit.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { RecordingRules } from './recording-rules.ts'

/**
 * Recordings of relay calls at rest: compressed, then sealed, the caller's side separately from the upstream's, so that reading the
 * owner's view never decrypts the upstream's side. They are written one after the other after the answers; the queue is bounded in
 * bytes.
 */

/** A call in the queue of the store. Its sides are built when it is written. */
export interface FinishedRecording {
  readonly requestId: string
  readonly userId: number
  /** Unix seconds. */
  readonly at: number
  /** Without secrets. */
  sides(): Promise<{ readonly caller: CallerSide; readonly upstream: readonly UpstreamExchange[] }>
  /** Releases its memory. */
  release(): void
}

/** Bytes of bodies that this process holds for recordings: of running calls and of queued recordings. */
const memoryBytes = 64 * 1024 * 1024
/** Writing a recording is tried this often; then it is dropped. */
const triesMax = 3
const retryMs = 2_000
const daySeconds = 86_400
const removedAtOnce = 100

interface StoredRecording {
  readonly request_id: string
  readonly bytes: number
}

const unpack = promisify(gunzip)

type Outcome = 'written' | 'limited' | 'dropped' | 'lost'

export class Recordings {
  readonly rules: RecordingRules
  /** The free memory for bodies. */
  readonly memory = { free: memoryBytes }
  readonly #core: Core
  #waiting: FinishedRecording[] = []
  #writing: Promise<void> | undefined
  #minute = 0
  #ofMinute = 0
  readonly #cleanup: ExcessCleanup<StoredRecording>
  #isClosed = false

  constructor(core: Core) {
    this.#core = core
    this.#cleanup = new ExcessCleanup(storedRecordings(core))
    this.rules = new RecordingRules(core)
  }

  /** The greatest number of bytes of a body that are stored. */
  get bodyBytesMax(): number {
    return this.#core.options.current.RecordingBodyKilobytes * 1024
  }

  /** Whether one more call may be recorded in this minute. */
  takesAnother(): boolean {
    const minute = Math.floor(this.#core.now() / 60_000)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#ofMinute = 0
    }
    if (this.#ofMinute >= this.#core.options.current.RecordingsPerMinute) {
      this.#count('limited')
      return false
    }
    if (this.#isClosed || this.memory.free <= 0) {
      this.#count('dropped')
      return false
    }
    this.#ofMinute++
    return true
  }

  /** Queues a recording. */
  add(recording: FinishedRecording): void {
    this.#waiting.push(recording)
    this.#writing ??= this.#write()
  }

  /** Waits until the queue is written. */
  async flush(): Promise<void> {
    await this.#writing
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.rules.close()
    await this.flush()
    await this.#cleanup.settled()
  }

  /**
   * Deletes recordings older than the retention, those of deleted users, the oldest beyond the limit of the site, and rules that have
   * ended. Returns how many of the first two it deleted.
   */
  async purge(signal?: AbortSignal): Promise<number> {
    const { db } = this.#core
    const stored = db.selectFrom('recordings').select('request_id').limit(removedAtOnce)
    let removed = await this.#deleteAll(stored.where('created_at', '<', this.#oldest), signal)
    const gone = await db.selectFrom('users').select('id').where('deleted_at', '>=', this.#oldest).execute()
    if (gone.length > 0) {
      const ids = gone.map(({ id }) => id)
      removed += await this.#deleteAll(stored.where('user_id', 'in', ids), signal)
    }
    await db.deleteFrom('recording_rules').where('until', '<=', seconds(this.#core.now())).execute()
    await this.#cleanup.run()
    return removed
  }

  /** Deletes what the query finds, until it finds no more. */
  async #deleteAll(
    stored: { execute(): Promise<readonly { readonly request_id: string }[]> },
    signal: AbortSignal | undefined,
  ): Promise<number> {
    let removed = 0
    while (!signal?.aborted) {
      // Found before the deletion, which on SQLite excludes all other writers.
      const ids = (await stored.execute()).map(({ request_id }) => request_id)
      if (ids.length === 0) break
      const deleted = this.#core.db.deleteFrom('recordings').where('request_id', 'in', ids)
      removed += Number((await deleted.executeTakeFirstOrThrow()).numDeletedRows)
    }
    return removed
  }

  /** Which of these calls have a recording. */
  async recorded(requestIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (requestIds.length === 0) return new Set()
    const rows = await this.#kept().select('request_id').where('request_id', 'in', requestIds).execute()
    return new Set(rows.map(({ request_id }) => request_id))
  }

  /** The caller's side of a call of this user. Throws `not_found`. */
  async readOwn(requestId: string, userId: number): Promise<OwnRecordedCall> {
    const row = await this.#rowOf(requestId)
    if (row.user_id !== userId) fail('not_found')
    return { ...this.#factsOf(row), caller: await this.#open<CallerSide>(row, 'caller_sealed') }
  }

  /** Both sides of a call, with a row in the audit log. Throws `not_found`. */
  async read(requestId: string, caller: Caller): Promise<RecordedCall> {
    const row = await this.#rowOf(requestId)
    const target = `request:${requestId} of user:${row.user_id}`
    await recordAction(this.#core, { caller, action: 'recording.read', target })
    return {
      ...this.#factsOf(row),
      user_id: row.user_id,
      caller: await this.#open<CallerSide>(row, 'caller_sealed'),
      upstream: await this.#open<UpstreamExchange[]>(row, 'upstream_sealed'),
    }
  }

  async #rowOf(requestId: string) {
    const row = await this.#kept().selectAll('recordings').where('request_id', '=', requestId).executeTakeFirst()
    return row ?? fail('not_found')
  }

  /** The recordings that can be opened: older ones and those of deleted users are treated as deleted. */
  #kept() {
    return this.#core.db
      .selectFrom('recordings')
      .innerJoin('users', 'users.id', 'recordings.user_id')
      .where('recordings.created_at', '>=', this.#oldest)
      .where('users.deleted_at', 'is', null)
  }

  /** Unix seconds; recordings from before it are to be deleted. */
  get #oldest(): number {
    return seconds(this.#core.now()) - this.#retentionSeconds
  }

  get #retentionSeconds(): number {
    return this.#core.options.current.RecordingRetentionDays * daySeconds
  }

  #factsOf({ request_id, created_at }: { readonly request_id: string; readonly created_at: number }) {
    return { request_id, created_at, expires_at: created_at + this.#retentionSeconds }
  }

  async #open<Side>(row: Readonly<Record<SealedColumn | 'request_id', string>>, column: SealedColumn): Promise<Side> {
    const packed = this.#core.secrets.openBytes(row[column], placeOf(column, row.request_id))
    // Written by `#seal` only.
    return JSON.parse((await unpack(packed)).toString()) as Side
  }

  async #seal(side: unknown, column: SealedColumn, requestId: string): Promise<string> {
    return this.#core.secrets.sealBytes(await pack(side), placeOf(column, requestId))
  }

  async #write(): Promise<void> {
    for (let recording = this.#waiting.shift(); recording; recording = this.#waiting.shift()) {
      try {
        await this.#store(recording)
        this.#count('written')
      } catch (error) {
        this.#core.logger.warn({ error, request: recording.requestId }, 'a recording was not stored')
        this.#count('lost')
      } finally {
        recording.release()
      }
    }
    this.#writing = undefined
  }

  async #store(recording: FinishedRecording): Promise<void> {
    const { requestId, userId, at } = recording
    const { caller, upstream } = await recording.sides()
    const caller_sealed = await this.#seal(caller, 'caller_sealed', requestId)
    const upstream_sealed = await this.#seal(upstream, 'upstream_sealed', requestId)
    const bytes = caller_sealed.length + upstream_sealed.length
    const row = { request_id: requestId, user_id: userId, created_at: at, bytes, caller_sealed, upstream_sealed }
    for (let tries = 1; ; tries++) {
      try {
        await withDatabaseTimeout(this.#core.db.insertInto('recordings').values(row).execute())
        break
      } catch (error) {
        if (!isDatabaseFailure(error) || tries === triesMax || this.#isClosed) throw error
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref())
      }
    }
    this.#cleanup.noteWritten(bytes)
  }

  #count(outcome: Outcome): void {
    this.#core.metrics.recordings.inc({ outcome })
  }
}

/** The compressed JSON of a side, written slice by slice with turns between them. */
async function pack(side: unknown): Promise<Buffer> {
  const packed: Buffer[] = []
  await pipeline(inTurns(jsonSlices(side)), createGzip(), async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) packed.push(piece)
  })
  return Buffer.concat(packed)
}

async function* inTurns(slices: Iterator<string>): AsyncGenerator<string> {
  for (;;) {
    await yieldToEventLoop()
    const { value, done } = slices.next()
    if (done) return
    yield value
  }
}

function storedRecordings(core: Core): Store<StoredRecording> {
  return {
    title: 'delete the oldest recordings',
    logger: core.logger,
    bytesMax: () => core.options.current.RecordingMegabytes * 1024 * 1024,
    async bytesStored() {
      const sum = core.db.selectFrom('recordings').select(({ fn }) => fn.sum<number | string | null>('bytes').as('bytes'))
      return Number((await sum.executeTakeFirstOrThrow()).bytes)
    },
    oldest: () =>
      core.db.selectFrom('recordings').select(['request_id', 'bytes']).orderBy('created_at').limit(removedAtOnce).execute(),
    async delete(rows) {
      const ids = rows.map(({ request_id }) => request_id)
      await core.db.deleteFrom('recordings').where('request_id', 'in', ids).execute()
    },
  }
}

type SealedColumn = 'caller_sealed' | 'upstream_sealed'

function placeOf(column: SealedColumn, requestId: string) {
  return { table: 'recordings', column, row: requestId }
}
