import type { RunningAnswer } from '../../../../contract/entities/running-answer.ts'
import { background } from '../../../base/lib/log/logger.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Deadline, Deadlines } from '../../../base/lib/time/timer-wheel.ts'
import { type Core, isOnlyNode } from '../../../base/options/core.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { ReplyPieces } from './reply-pieces.ts'
import { type Events, type Owner, type ReplyState, ResumableReply } from './resumable-reply.ts'

/** A reply that the store knows: of this node or another one. */
export interface StoredReply extends Owner {
  readonly requestId: string
  readonly fingerprint: string
  readonly model: string
  readonly state: ReplyState
}

/** What a repeat of a request shares with it. */
export interface SameRequest extends Owner {
  readonly fingerprint: string
  /** SHA-256 of its idempotency key; '' without one. */
  readonly keyHash: string
}

interface Running {
  readonly call: ClientExchange
  readonly reply: ResumableReply
  readonly grace: Deadline
  /** Its row is in the database. */
  hasRow: boolean
}

const storeEveryMs = 1000
const leaseSeconds = 15
const memoryBytesMax = 64 * 1024 * 1024

/**
 * The streamed answers that their callers may continue after a cut. Each running one is written to the database every second, encrypted, so
 * that another node can continue it, and what this node has read survives its end. When nobody follows a running one any more, it goes on for a
 * grace; then its caller counts as gone.
 */
export class ResumableReplies {
  readonly #core: Core
  readonly #deadlines: Deadlines
  readonly #pieces: ReplyPieces
  readonly #running = new Map<string, Running>()
  readonly #timer: NodeJS.Timeout
  #storing: Promise<void> = Promise.resolve()
  #beginning: Promise<void> = Promise.resolve()

  constructor(core: Core, deadlines: Deadlines, pieces: ReplyPieces) {
    this.#core = core
    this.#deadlines = deadlines
    this.#pieces = pieces
    this.#timer = setInterval(() => background(core.logger, 'store resumable replies', this.store()), storeEveryMs).unref()
  }

  /** Makes the answer of a call resumable, before it begins. */
  open(call: ClientExchange, facts: SameRequest & { readonly model: string }): void {
    const { userId, tokenId, fingerprint, keyHash, model } = facts
    const own = { requestId: call.id, userId, tokenId, fingerprint, keyHash, model }
    const reply = new ResumableReply({ ...own, onFollowers: () => this.#watch(call.id) })
    const grace = this.#deadlines.after(0, () => this.#giveUp(call.id))
    this.#deadlines.cancel(grace)
    this.#running.set(call.id, { call, reply, grace, hasRow: false })
    call.resumeBy(reply)
    background(this.#core.logger, 'store a resumable reply', this.#begin())
  }

  /** The reply of a call of this node that runs or has just ended. */
  live(requestId: string): ResumableReply | undefined {
    return this.#running.get(requestId)?.reply
  }

  /** The call is over: its reply is complete, or broke off. */
  async end(requestId: string): Promise<void> {
    const running = this.#running.get(requestId)
    if (!running) return
    const { call, reply, grace } = running
    this.#deadlines.cancel(grace)
    reply.close()
    try {
      await this.store()
      const { db } = this.#core
      const own = { request_id: requestId }
      // A caller whose connection was closed before the end may have lost the last of it.
      const isLeft = !reply.isFollowed || call.isHalfClosed
      // An error in place of the stream is not kept.
      if (reply.count === 0)
        await db
          .deleteFrom('resumable_replies')
          .where((made) => made.and(own))
          .execute()
      else
        await db
          .updateTable('resumable_replies')
          .set({ state: reply.state, lease_until: 0, response_id: reply.responseId, is_left: isLeft ? 1 : 0 })
          .where((made) => made.and(own))
          .execute()
    } catch (error) {
      this.#core.logger.error({ error, request: requestId }, 'the end of a resumable reply is not stored')
    } finally {
      this.#running.delete(requestId)
    }
  }

  /** Undefined for an id that is unknown, expired, or of another owner than the given one. */
  async find(requestId: string, { userId, tokenId }: Partial<Owner>): Promise<StoredReply | undefined> {
    const here = this.live(requestId)
    if (here) return isOf(here.facts, { userId, tokenId }) ? { ...here.facts, state: here.state } : undefined
    const row = await this.#core.db
      .selectFrom('resumable_replies')
      .selectAll()
      .where('request_id', '=', requestId)
      .where('expires_at', '>', seconds(this.#core.now()))
      .executeTakeFirst()
    if (!row || !isOf({ userId: row.user_id, tokenId: row.token_id }, { userId, tokenId })) return undefined
    const { fingerprint, model, state, node, lease_until: until } = row
    const isLost = state === 'running' && this.#isLost(requestId, node, until)
    // Only this file writes the state.
    const owner = { userId: row.user_id, tokenId: row.token_id }
    return { ...owner, requestId, fingerprint, model, state: isLost ? 'cut' : (state as ReplyState) }
  }

  /** The replies that run on any node, of one user or of all. */
  async list(userId?: number): Promise<RunningAnswer[]> {
    const rows = await this.#core.db
      .selectFrom('resumable_replies')
      .leftJoin('users', 'users.id', 'resumable_replies.user_id')
      .leftJoin('tokens', 'tokens.id', 'resumable_replies.token_id')
      .select(['request_id', 'resumable_replies.user_id', 'model', 'is_left', 'created_at', 'node'])
      .select(['resumable_replies.lease_until', 'users.username', 'tokens.name'])
      .where('state', '=', 'running')
      .$if(userId !== undefined, (query) => query.where('resumable_replies.user_id', '=', userId ?? 0))
      .orderBy('created_at', 'desc')
      .limit(listedMax)
      .execute()
    return rows
      .filter(({ request_id: id, node, lease_until: until }) => !this.#isLost(id, node, until))
      .map(({ request_id, user_id, model, is_left, created_at, username, name }) => {
        return {
          request_id,
          user_id,
          model,
          created_at,
          is_left: is_left === 1,
          username: username ?? '',
          token_name: name ?? '',
        }
      })
  }

  /** The reply to the same request that runs on this node. */
  running({ userId, tokenId, fingerprint, keyHash }: SameRequest): StoredReply | undefined {
    for (const { reply } of this.#running.values()) {
      const { facts, state } = reply
      const isSame = facts.fingerprint === fingerprint && facts.keyHash === keyHash && state === 'running'
      if (isSame && facts.userId === userId && facts.tokenId === tokenId) return { ...facts, state }
    }
    return undefined
  }

  /** The newest reply to the same request that nobody follows, and that runs or has just ended. */
  async findLeft(same: SameRequest): Promise<StoredReply | undefined> {
    const here = this.running(same)
    if (here && this.live(here.requestId)?.isFollowed === false) return here
    const { userId, tokenId, fingerprint } = same
    const now = seconds(this.#core.now())
    const row = await this.#core.db
      .selectFrom('resumable_replies')
      .select('request_id')
      .where((made) => made.and({ user_id: userId, token_id: tokenId, fingerprint, is_left: 1 }))
      .where('created_at', '>', now - leftSecondsMax)
      .orderBy('created_at', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row && this.find(row.request_id, { userId, tokenId })
  }

  /** The reply whose events are about a response with this id. */
  async findResponse(responseId: string, { userId, tokenId }: Owner): Promise<StoredReply | undefined> {
    for (const { reply } of this.#running.values())
      if (reply.responseId === responseId) return this.find(reply.facts.requestId, { userId, tokenId })
    const row = await this.#core.db
      .selectFrom('resumable_replies')
      .select('request_id')
      .where((made) => made.and({ user_id: userId, token_id: tokenId, response_id: responseId }))
      .executeTakeFirst()
    return row && this.find(row.request_id, { userId, tokenId })
  }

  /** The next stored events after this number; none when there are no more. */
  async eventsAfter(requestId: string, number: number): Promise<Events[]> {
    const pieces = await this.#pieces.after(requestId, number, piecesAtOnce)
    return pieces.map(({ first, last, bytes }) => ({ first, last, text: bytes.toString('latin1') }))
  }

  /** Stops a running answer: it is charged for what it has. On another node within about a second. */
  async cancel(requestId: string): Promise<void> {
    const running = this.#running.get(requestId)
    if (running) running.call.leave()
    else
      await this.#core.db.updateTable('resumable_replies').set({ is_cancelled: 1 }).where('request_id', '=', requestId).execute()
  }

  /** Deletes replies that are no longer kept. */
  async purge(): Promise<void> {
    const now = seconds(this.#core.now())
    const { db } = this.#core
    await db.deleteFrom('resumable_replies').where('expires_at', '<=', now).execute()
  }

  /** Writes what is new of all running replies, one after another call. */
  store(): Promise<void> {
    this.#storing = this.#storing
      .catch(() => {})
      .then(() =>
        this.#store().catch((error: unknown) => {
          this.#endExcess()
          throw error
        }),
      )
    return this.#storing
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.store().catch(() => {})
  }

  /** Writes the rows of replies that have none: those that begin during a write are written together by the next. */
  #begin(): Promise<void> {
    this.#beginning = this.#beginning.catch(() => {}).then(() => this.#insertRows())
    return this.#beginning
  }

  async #insertRows(): Promise<void> {
    const now = seconds(this.#core.now())
    const begun = [...this.#running.values()].filter(({ hasRow }) => !hasRow)
    for (let from = 0; from < begun.length; from += rowsAtOnce) {
      const some = begun.slice(from, from + rowsAtOnce)
      const rows = some.map(({ reply: { facts } }) => {
        const { requestId, userId, tokenId, fingerprint, model } = facts
        return {
          ...{ request_id: requestId, user_id: userId, token_id: tokenId, fingerprint, model, node: this.#core.node },
          ...{ response_id: '', state: 'running', is_left: 0, is_cancelled: 0, lease_until: now + leaseSeconds },
          ...{ created_at: now, expires_at: now + this.#keptSeconds },
        }
      })
      // A repeat after an error of unknown outcome may find them written.
      const insert = this.#core.db.insertInto('resumable_replies').values(rows)
      await insert.onConflict((conflict) => conflict.column('request_id').doNothing()).execute()
      for (const running of some) running.hasRow = true
    }
  }

  async #store(): Promise<void> {
    if (this.#running.size === 0) return
    // A piece without the row of its reply would be deleted.
    await this.#begin()
    const at = seconds(this.#core.now())
    const expires_at = at + this.#keptSeconds
    const fresh = [...this.#running.values()].flatMap(({ reply, hasRow }) => {
      const events = hasRow ? reply.unstored : []
      const [first, last] = [events[0]?.first, events.at(-1)?.last]
      if (first === undefined || last === undefined) return []
      const bytes = Buffer.from(events.map(({ text }) => text).join(''), 'latin1')
      return [{ reply, piece: { requestId: reply.facts.requestId, first, last, bytes } }]
    })
    await this.#pieces.write(fresh.map(({ piece }) => piece))
    for (const { reply, piece } of fresh) reply.noteStored(piece.last)
    await this.#renew(at, expires_at)
    this.#forget()
  }

  /** Renews the leases, tells who is left alone, and stops what another node was asked to cancel. */
  async #renew(at: number, expires_at: number): Promise<void> {
    for (const isLeft of [0, 1]) {
      const ids = [...this.#running.entries()].filter(([, { reply }]) => reply.isFollowed === (isLeft === 0)).map(([id]) => id)
      if (ids.length === 0) continue
      const rows = await this.#core.db
        .updateTable('resumable_replies')
        .set({ lease_until: at + leaseSeconds, expires_at, is_left: isLeft })
        .where('request_id', 'in', ids)
        .where('state', '=', 'running')
        .returning(['request_id', 'is_cancelled'])
        .execute()
      for (const { request_id, is_cancelled } of rows) if (is_cancelled === 1) this.#running.get(request_id)?.call.leave()
    }
  }

  /** Keeps the events in memory within a bound: the stored ones are read from the database then. */
  #forget(): void {
    let bytes = this.#memoryBytes
    for (const { reply } of this.#running.values()) {
      if (bytes <= memoryBytesMax) return
      bytes -= reply.bytes
      reply.forget()
      bytes += reply.bytes
    }
  }

  /** While the database is away nothing can be forgotten: beyond the bound, those that nobody follows are ended. */
  #endExcess(): void {
    let bytes = this.#memoryBytes
    for (const { reply, call } of this.#running.values()) {
      if (bytes <= memoryBytesMax) return
      if (reply.isFollowed) continue
      bytes -= reply.bytes
      call.leave()
    }
  }

  get #memoryBytes(): number {
    let bytes = 0
    for (const { reply } of this.#running.values()) bytes += reply.bytes
    return bytes
  }

  #watch(requestId: string): void {
    const running = this.#running.get(requestId)
    if (running?.reply.state !== 'running') return
    if (running.reply.isFollowed) this.#deadlines.cancel(running.grace)
    else this.#deadlines.refresh(running.grace, this.#core.options.current['resume.grace_seconds'] * 1000)
  }

  #giveUp(requestId: string): void {
    const running = this.#running.get(requestId)
    if (running && !running.reply.isFollowed) running.call.leave()
  }

  /** A running reply whose node is gone. */
  #isLost(requestId: string, node: string, until: number): boolean {
    if (node === this.#core.node) return !this.#running.has(requestId)
    return isOnlyNode(this.#core) || until < seconds(this.#core.now())
  }

  get #keptSeconds(): number {
    return this.#core.options.current['resume.kept_minutes'] * 60
  }
}

/** A retry that names itself one comes within this time. */
const leftSecondsMax = 900
const rowsAtOnce = 200
const piecesAtOnce = 50
const listedMax = 100

function isOf(owner: Owner, { userId, tokenId }: Partial<Owner>): boolean {
  return (userId === undefined || owner.userId === userId) && (tokenId === undefined || owner.tokenId === tokenId)
}
