import { ExcessCleanup, type Store } from '../../../base/lib/collections/excess-cleanup.ts'
import { fail } from '../../../base/lib/failure.ts'
import { background } from '../../../base/lib/log/logger.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { type Core, isOnlyNode } from '../../../base/options/core.ts'
import type { CallLedger } from '../../../money/ledger/ledger.ts'
import type { RecordedReply, ReplyHead } from '../http/reply-recorder.ts'
import type { ReplyPieces } from './reply-pieces.ts'

/** A key belongs to one token of one user; token id 0 is the playground. */
interface KeySlot {
  readonly userId: number
  readonly tokenId: number
  /** SHA-256 of the key. */
  readonly keyHash: string
}

/** A request that names a key. */
export interface KeyedRequest extends KeySlot {
  readonly fingerprint: string
  readonly requestId: string
}

/**
 * `claimed`: this request runs under the key and must end with `store`, `markUnavailable` or `free`. `running`: the request with this id
 * runs, on this or another node. A reply: that of the earlier request.
 */
type Claim = 'claimed' | { readonly running: string } | RecordedReply

/** A reply to share; undefined when there is none and the key must be claimed again. */
export type Outcome = RecordedReply | undefined

/** Requests of this process that run under a key or wait for another node, by key and fingerprint. Identical requests wait for them. */
export type KeyedCalls = Map<string, Promise<Outcome>>

const leaseSeconds = 60
const renewalMs = 20_000
const hourSeconds = 60 * 60
const readAtOnce = 500
/** A larger body is stored in pieces of this size, beside its row. */
const pieceBytes = 1024 * 1024

interface StoredReply {
  readonly user_id: number
  readonly token_id: number
  readonly key_hash: string
  readonly request_id: string
  readonly bytes: number
}

/**
 * The table of requests with an `Idempotency-Key` and their encrypted replies. One statement claims a key, so that one request over all
 * nodes runs under it. A running request has a lease of its node; the requests of a node that died are taken over.
 */
export class IdempotentRequests {
  readonly #core: Core
  readonly #ledger: Pick<CallLedger, 'charged'>
  readonly #pieces: ReplyPieces
  /** Whether this process has the undelivered reply to a request, which the next request with the key gets. */
  readonly #isKept: (requestId: string) => boolean
  /** Requests of this process that run under a key, by request id. */
  readonly #running = new Set<string>()
  readonly #renewal: NodeJS.Timeout
  readonly #cleanup: ExcessCleanup<StoredReply>

  constructor(
    core: Core,
    {
      ledger,
      pieces,
      isKept,
    }: { ledger: Pick<CallLedger, 'charged'>; pieces: ReplyPieces; isKept: (requestId: string) => boolean },
  ) {
    this.#core = core
    this.#ledger = ledger
    this.#pieces = pieces
    this.#cleanup = new ExcessCleanup(storedReplies(core, pieces))
    this.#isKept = isKept
    this.#renewal = setInterval(() => background(core.logger, 'renew the leases of keys', this.#renew()), renewalMs).unref()
  }

  /**
   * Claims the key for a request, or returns the state of the request that holds it. Throws `idempotency_key_reused` when that was a
   * different request, and `idempotency_reply_unavailable` when it was charged but its reply is not stored.
   */
  async claim(request: KeyedRequest): Promise<Claim> {
    for (;;) {
      if (await this.#insert(request)) return 'claimed'
      const row = await this.#rowOf(request)
      if (!row) continue
      if (row.fingerprint !== request.fingerprint) fail('idempotency_key_reused')
      if (row.state === 'unavailable') fail('idempotency_reply_unavailable')
      if (row.state === 'done') {
        const body =
          row.body_sealed === ''
            ? await this.#joined(row.request_id, row.bytes)
            : this.#core.secrets.openBytes(row.body_sealed, placeOf(request, row.request_id))
        // Written by `store` only.
        const headers = JSON.parse(row.headers) as Record<string, string>
        return { requestId: row.request_id, status: row.status, headers, body }
      }
      if (!this.#isAbandoned(row)) return { running: row.request_id }
      if (await this.#isLost(row.request_id)) await this.#endAs('unavailable', { ...request, requestId: row.request_id })
      else if (await this.#takeOver(request, row)) return 'claimed'
    }
  }

  /** Whether a request runs under the key on any node. */
  async isRunning(slot: KeySlot): Promise<boolean> {
    const row = await this.#core.db
      .selectFrom('idempotent_requests')
      .select(['state', 'node', 'lease_until', 'request_id'])
      .where((made) => made.and(keyOf(slot)))
      .executeTakeFirst()
    return row !== undefined && row.state === 'running' && !this.#isAbandoned(row)
  }

  /** Stores the reply, which later requests with the key get. */
  async store(request: KeyedRequest, { status, headers, body }: RecordedReply): Promise<void> {
    const head = { status, headers }
    if (body.length <= pieceBytes) {
      const sealed = this.#core.secrets.sealBytes(body, placeOf(request, request.requestId))
      return this.#endWith(request, head, { bytes: body.length, body_sealed: sealed })
    }
    for (let at = 0; at * pieceBytes < body.length; at++) {
      const bytes = body.subarray(at * pieceBytes, (at + 1) * pieceBytes)
      await this.#pieces.write([{ requestId: request.requestId, first: at, last: at, bytes }])
    }
    return this.#endWith(request, head, { bytes: body.length, body_sealed: '' })
  }

  /** The reply is a stream whose events are stored already: later requests with the key get it from there. */
  async storeStream(request: KeyedRequest, head: ReplyHead, bytes: number): Promise<void> {
    await this.#endWith(request, head, { bytes, body_sealed: '' })
  }

  async #endWith(
    request: KeyedRequest,
    { status, headers }: ReplyHead,
    body: { readonly bytes: number; readonly body_sealed: string },
  ): Promise<void> {
    this.#running.delete(request.requestId)
    await this.#core.db
      .updateTable('idempotent_requests')
      .set({
        state: 'done',
        lease_until: 0,
        status,
        headers: JSON.stringify(headers),
        ...body,
      })
      .where((made) => made.and({ ...keyOf(request), request_id: request.requestId, state: 'running' }))
      .execute()
    this.#cleanup.noteWritten(body.bytes)
  }

  /** The body of a reply that is stored in pieces. Throws `idempotency_reply_unavailable` when some are missing. */
  async #joined(requestId: string, bytes: number): Promise<Buffer> {
    const found: Buffer[] = []
    let last = -1
    for (;;) {
      const pieces = await this.#pieces.after(requestId, last, 8)
      if (pieces.length === 0) break
      found.push(...pieces.map((piece) => piece.bytes))
      last = pieces.at(-1)?.last ?? last
    }
    const body = Buffer.concat(found)
    return body.length === bytes ? body : fail('idempotency_reply_unavailable')
  }

  /** The request was charged and its reply cannot be stored: later requests with the key get an error that says so. */
  async markUnavailable(request: KeyedRequest): Promise<void> {
    this.#running.delete(request.requestId)
    await this.#endAs('unavailable', request)
  }

  /** Frees the key: the next request with it runs. */
  async free(request: KeyedRequest): Promise<void> {
    this.#running.delete(request.requestId)
    await this.#core.db
      .deleteFrom('idempotent_requests')
      .where((made) => made.and({ ...keyOf(request), request_id: request.requestId, state: 'running' }))
      .execute()
  }

  /** Deletes expired rows, then the oldest replies while their sum exceeds the limit of the site. */
  async purge(): Promise<void> {
    const now = seconds(this.#core.now())
    await this.#core.db.deleteFrom('idempotent_requests').where('expires_at', '<=', now).where('lease_until', '<=', now).execute()
    await this.#cleanup.run()
  }

  close(): void {
    clearInterval(this.#renewal)
  }

  async #insert(request: KeyedRequest): Promise<boolean> {
    const now = seconds(this.#core.now())
    const row = this.#runningRow(request)
    // `#isAbandoned` must see the request before its row is written.
    this.#running.add(request.requestId)
    try {
      const inserted = await this.#core.db
        .insertInto('idempotent_requests')
        .values({ ...keyOf(request), ...row })
        .onConflict((conflict) =>
          conflict
            .columns(['user_id', 'token_id', 'key_hash'])
            .doUpdateSet({ ...row, status: 0, headers: '', body_sealed: '', bytes: 0 })
            .where('idempotent_requests.expires_at', '<=', now)
            .where('idempotent_requests.lease_until', '<=', now),
        )
        .returning('request_id')
        .executeTakeFirst()
      if (inserted) return true
    } catch (error) {
      this.#running.delete(request.requestId)
      throw error
    }
    this.#running.delete(request.requestId)
    return false
  }

  /** Takes the key over from a request whose node is gone, unless another request does so first. */
  async #takeOver(request: KeyedRequest, abandoned: { request_id: string; lease_until: number }): Promise<boolean> {
    this.#running.add(request.requestId)
    const taken = await this.#core.db
      .updateTable('idempotent_requests')
      .set(this.#runningRow(request))
      .where((made) =>
        made.and({ ...keyOf(request), request_id: abandoned.request_id, lease_until: abandoned.lease_until, state: 'running' }),
      )
      .returning('request_id')
      .executeTakeFirst()
    if (!taken) this.#running.delete(request.requestId)
    return taken !== undefined
  }

  async #endAs(state: 'unavailable', request: KeyedRequest): Promise<void> {
    await this.#core.db
      .updateTable('idempotent_requests')
      .set({ state, lease_until: 0 })
      .where((made) => made.and({ ...keyOf(request), request_id: request.requestId, state: 'running' }))
      .execute()
  }

  #rowOf(slot: KeySlot) {
    return this.#core.db
      .selectFrom('idempotent_requests')
      .selectAll()
      .where((made) => made.and(keyOf(slot)))
      .executeTakeFirst()
  }

  #runningRow({ fingerprint, requestId }: KeyedRequest) {
    const now = seconds(this.#core.now())
    return {
      fingerprint,
      request_id: requestId,
      state: 'running',
      node: this.#core.node,
      lease_until: now + leaseSeconds,
      created_at: now,
      expires_at: now + this.#core.options.current['idempotency.hours'] * hourSeconds,
    }
  }

  /** Whether the request no longer runs anywhere. */
  #isAbandoned({
    node,
    lease_until: until,
    request_id: requestId,
  }: {
    node: string
    lease_until: number
    request_id: string
  }): boolean {
    if (node === this.#core.node) return !this.#running.has(requestId)
    return isOnlyNode(this.#core) || until < seconds(this.#core.now())
  }

  /** Whether an abandoned request was charged and its reply is lost. */
  async #isLost(requestId: string): Promise<boolean> {
    if (this.#isKept(requestId)) return false
    const charged = await this.#ledger.charged(requestId)
    return charged !== undefined && charged > 0
  }

  async #renew(): Promise<void> {
    const requestIds = [...this.#running]
    if (requestIds.length === 0) return
    await this.#core.db
      .updateTable('idempotent_requests')
      .set({ lease_until: seconds(this.#core.now()) + leaseSeconds })
      .where((made) => made.and({ node: this.#core.node, state: 'running' }))
      .where('request_id', 'in', requestIds)
      .execute()
  }
}

function storedReplies(core: Core, pieces: ReplyPieces): Store<StoredReply> {
  return {
    title: 'delete the oldest stored replies',
    logger: core.logger,
    bytesMax: () => core.options.current['idempotency.site_megabytes'] * 1024 * 1024,
    async bytesStored() {
      const sum = core.db
        .selectFrom('idempotent_requests')
        .select(({ fn }) => fn.sum<number | string | null>('bytes').as('bytes'))
      return Number((await sum.executeTakeFirstOrThrow()).bytes)
    },
    oldest: () =>
      core.db
        .selectFrom('idempotent_requests')
        .select(['user_id', 'token_id', 'key_hash', 'request_id', 'bytes'])
        .where('bytes', '>', 0)
        .orderBy('created_at')
        .limit(readAtOnce)
        .execute(),
    // By its key and request: another request may have the key by now.
    async delete(rows) {
      for (const { bytes, ...row } of rows) {
        await core.db
          .deleteFrom('idempotent_requests')
          .where((made) => made.and(row))
          .execute()
      }
      await pieces.purge()
    },
  }
}

function keyOf({ userId, tokenId, keyHash }: KeySlot) {
  return { user_id: userId, token_id: tokenId, key_hash: keyHash }
}

function placeOf({ userId, tokenId, keyHash }: KeySlot, requestId: string) {
  return { table: 'idempotent_requests', column: 'body_sealed', row: `${userId} ${tokenId} ${keyHash} ${requestId}` }
}
