import { type Selectable, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Within } from '../../../base/db/open.ts'
import type { NewRow, Tables } from '../../../base/db/schema.ts'
import { upTo } from '../../../base/lib/collections/cache-size.ts'
import { background } from '../../../base/lib/log/logger.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { type Core, isOnlyNode } from '../../../base/options/core.ts'
import type { CallLedger } from '../../../money/ledger/ledger.ts'
import { ownStoredForm } from '../../protocols/index.ts'
import { outputAsInput } from '../../protocols/openai-responses/history.ts'
import type { StoredForm } from '../../protocols/stored-form.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../../protocols/wire-format.ts'
import {
  type Content,
  contentPlace,
  endPlace,
  eventsPlace,
  failed,
  formOf,
  type LocalResponse,
  type NumberedEvent,
  type Owned,
  withStatus,
} from './local-response.ts'

/** All turns up to and including a response. */
interface History {
  readonly thread: string
  readonly items: readonly unknown[]
}

/** Ids of items contain the id of their response. */
const ownItemId = /^[a-z]+_(\d{17}[0-9A-Za-z]{12})_\d+$/
const readTogether = 16
const leaseSeconds = 60
const daySeconds = 24 * 60 * 60
/** After so many bytes written for one user, the user's limit is checked. */
const uncheckedBytes = 1024 * 1024

/**
 * Turns of conversations whose channels store nothing: encrypted, by user and id, in the database, so that every node has them. Each row
 * has one turn and the id of the previous one. A running response has a lease of its node: when that expires, the response has failed.
 */
export class LocalResponses {
  readonly #core: Core
  readonly #ledger: Pick<CallLedger, 'charged'>
  readonly #written = new LRUCache<number, number>(upTo(20_000))

  constructor(core: Core, ledger: Pick<CallLedger, 'charged'>) {
    this.#core = core
    this.#ledger = ledger
  }

  get isOn(): boolean {
    return this.#core.options.current['responses.keep_enabled']
  }

  /**
   * Stores a response that has ended, before its charge: nobody finds it until that is durable. Or creates the row of one that this node
   * runs. Resolves when it is durable; a repeat changes nothing.
   */
  async keep(own: LocalResponse): Promise<void> {
    const row = this.#rowOf(own)
    await this.#core.db
      .insertInto('own_responses')
      .values(row)
      .onConflict((conflict) => conflict.columns(['user_id', 'response_id']).doNothing())
      .execute()
    if (own.previousId !== '') await this.#renew(own, row.expires_at)
    this.#noteWritten(own.userId, row.bytes)
  }

  /** Renews the lease of a running response and stores its new events. Returns whether the run may continue. */
  async advance(owned: Owned, events: readonly NumberedEvent[]): Promise<boolean> {
    return this.#core.db.transaction().execute(async (within) => {
      if (events.length > 0) await this.#writeEvents(within, owned, events)
      const row = await within
        .updateTable('own_responses')
        .set({ lease_until: seconds(this.#core.now()) + leaseSeconds, status: 'in_progress' })
        .where((made) => made.and({ user_id: owned.userId, response_id: owned.id, node: this.#core.node }))
        .where('lease_until', '>', 0)
        .returning('is_cancelled')
        .executeTakeFirst()
      return row?.is_cancelled === 0
    })
  }

  /** Stores the end of a response in the background, before its charge: if its node dies after the charge, it has not failed. */
  async keepEnd(own: LocalResponse): Promise<void> {
    await this.#core.db
      .updateTable('own_responses')
      .set({
        ends_as: textAt(own.response, 'status'),
        end_sealed: this.#core.secrets.seal(JSON.stringify(own.response), endPlace(own)),
      })
      .where((made) => made.and({ user_id: own.userId, response_id: own.id, node: this.#core.node }))
      .where('lease_until', '>', 0)
      .execute()
  }

  /** Stores the end of a response. A response that was declared failed meanwhile stays failed. */
  async finish(own: LocalResponse, events: readonly NumberedEvent[], eventBytes: number): Promise<void> {
    const { status, content_sealed, bytes } = this.#rowOf(own)
    await this.#core.db.transaction().execute(async (within) => {
      if (events.length > 0) await this.#writeEvents(within, own, events)
      await within
        .updateTable('own_responses')
        .set({ status, content_sealed, bytes: bytes + eventBytes, lease_until: 0, ends_as: '', end_sealed: '' })
        .where((made) => made.and({ user_id: own.userId, response_id: own.id, node: this.#core.node }))
        .where('lease_until', '>', 0)
        .execute()
    })
    this.#noteWritten(own.userId, bytes + eventBytes)
  }

  /** Undefined for an id that this user does not have, or while storing is disabled. */
  async find({ userId, id }: Owned): Promise<LocalResponse | undefined> {
    // No query is needed for the ids of upstreams.
    const form = ownStoredForm(id)
    if (!this.isOn || !form) return undefined
    const row = await this.#core.db
      .selectFrom('own_responses')
      .selectAll()
      .where((made) => made.and({ user_id: userId, response_id: id }))
      .where('expires_at', '>', seconds(this.#core.now()))
      .executeTakeFirst()
    if (!row || (row.is_background === 0 && !(await this.#isCharged(row)))) return undefined
    const { input, response } = this.#open({ userId, id }, row.content_sealed)
    return {
      userId,
      id,
      tokenId: row.token_id,
      model: row.model,
      thread: row.thread,
      previousId: row.previous_id,
      isBackground: row.is_background === 1,
      createdAt: row.created_at,
      input,
      requestId: row.request_id,
      response: await this.#now(form, row, response),
    }
  }

  /** A response as it is now: that of a node that died has its end if it was charged, and has failed otherwise. */
  async #now(form: StoredForm, row: Selectable<Tables['own_responses']>, response: JsonObject): Promise<JsonObject> {
    const isLost = this.#isLost(row)
    if (row.ends_as !== '' && (isLost ? await this.#isCharged(row) : row.status === row.ends_as))
      // Written by `keepEnd` only, and encrypted since.
      return JSON.parse(
        this.#core.secrets.open(row.end_sealed, endPlace({ userId: row.user_id, id: row.response_id })),
      ) as JsonObject
    return isLost ? failed(form, response) : withStatus(form, response, row.status)
  }

  /** Rows of earlier versions name no request; they were written after their charge. */
  async #isCharged({ request_id: requestId }: { readonly request_id: string }): Promise<boolean> {
    return requestId === '' || (await this.#ledger.charged(requestId)) !== undefined
  }

  /** Undefined when a turn of the conversation was deleted. */
  async historyOf({ userId, id, thread }: LocalResponse): Promise<History | undefined> {
    const links = await this.#core.db
      .selectFrom('own_responses')
      .select(['response_id', 'previous_id'])
      .where((made) => made.and({ user_id: userId, thread }))
      .execute()
    const before = new Map(links.map((row) => [row.response_id, row.previous_id]))
    const ids: string[] = []
    for (let at: string | undefined = id; at !== ''; at = before.get(at)) {
      if (at === undefined || !before.has(at)) return undefined
      ids.unshift(at)
    }
    const rows = await this.#core.db
      .selectFrom('own_responses')
      .select(['response_id', 'content_sealed'])
      .where('user_id', '=', userId)
      .where('response_id', 'in', ids)
      .execute()
    const turns = new Map(rows.map((row) => [row.response_id, row.content_sealed]))
    const items = ids.flatMap((turn) => {
      const sealed = turns.get(turn)
      if (sealed === undefined) return []
      const { input, response } = this.#open({ userId, id: turn }, sealed)
      return [...input, ...formOf(turn).outputAsInput(response)]
    })
    return { thread, items }
  }

  /**
   * The items of stored answers by id, in the form of input items; an empty list for an item that cannot be an input. Unknown ids
   * are absent.
   */
  async itemsOf(userId: number, itemIds: readonly string[]): Promise<ReadonlyMap<string, readonly unknown[]>> {
    const found = new Map<string, readonly unknown[]>()
    const wanted = new Set(itemIds)
    const responses = [...new Set(itemIds.flatMap((id) => ownItemId.exec(id)?.[1] ?? []))].map((id) => `resp_${id}`)
    for (let at = 0; at < responses.length && this.isOn; at += readTogether) {
      const ids = responses.slice(at, at + readTogether)
      const rows = await this.#core.db
        .selectFrom('own_responses')
        .select(['response_id', 'content_sealed', 'request_id', 'is_background'])
        .where('user_id', '=', userId)
        .where('response_id', 'in', ids)
        .where('expires_at', '>', seconds(this.#core.now()))
        .execute()
      for (const row of rows) {
        if (row.is_background === 0 && !(await this.#isCharged(row))) continue
        const { response } = this.#open({ userId, id: row.response_id }, row.content_sealed)
        for (const item of arrayAt(response, 'output').filter(isObject))
          if (wanted.has(textAt(item, 'id'))) found.set(textAt(item, 'id'), outputAsInput([item]))
      }
      // The request is refused for the first id that is missing.
      if (rows.length < ids.length) break
    }
    return found
  }

  /** The stored events of a response after the event with this number. */
  async eventsAfter({ userId, id }: Owned, number: number): Promise<NumberedEvent[]> {
    const rows = await this.#core.db
      .selectFrom('own_response_events')
      .select(['number', 'events_sealed'])
      .where((made) => made.and({ user_id: userId, response_id: id }))
      .where('number', '>', number)
      .orderBy('number')
      .execute()
    return rows.flatMap((row) => {
      const place = eventsPlace({ userId, id }, row.number)
      // Written by `#writeEvents` only, and encrypted since.
      const events = JSON.parse(this.#core.secrets.open(row.events_sealed, place)) as NumberedEvent[]
      return events.filter((event) => event.number > number)
    })
  }

  /** Asks the node that runs the response to stop. */
  async cancel({ userId, id }: Owned): Promise<void> {
    await this.#core.db
      .updateTable('own_responses')
      .set({ is_cancelled: 1 })
      .where((made) => made.and({ user_id: userId, response_id: id }))
      .execute()
  }

  async forget({ userId, id }: Owned): Promise<void> {
    await this.#core.db.transaction().execute(async (within) => {
      for (const table of ['own_response_events', 'own_responses'] as const)
        await within.deleteFrom(table).where('user_id', '=', userId).where('response_id', '=', id).execute()
    })
  }

  /** A running response whose node is gone has failed, unless its end is stored and charged. */
  async endLost(): Promise<void> {
    const { db, node } = this.#core
    const now = seconds(this.#core.now())
    const isLost = isOnlyNode(this.#core) ? sql<boolean>`node <> ${node}` : sql<boolean>`lease_until < ${now}`
    const lost = db.selectFrom('own_responses').select(['user_id', 'response_id', 'request_id', 'ends_as'])
    for (const row of await lost.where('lease_until', '>', 0).where(isLost).execute()) {
      const status = row.ends_as !== '' && (await this.#isCharged(row)) ? row.ends_as : 'failed'
      await db
        .updateTable('own_responses')
        .set({ status, lease_until: 0 })
        .where((made) => made.and({ user_id: row.user_id, response_id: row.response_id }))
        .where('lease_until', '>', 0)
        .where(isLost)
        .execute()
    }
  }

  /** Deletes expired responses; all responses while storing is disabled. */
  async purge(): Promise<void> {
    const until = this.isOn ? seconds(this.#core.now()) : Number.MAX_SAFE_INTEGER
    await this.#core.db.deleteFrom('own_response_events').where('expires_at', '<=', until).execute()
    await this.#core.db.deleteFrom('own_responses').where('expires_at', '<=', until).where('lease_until', '=', 0).execute()
  }

  /** Extends the lifetime of earlier turns of a conversation that continues, at most once a day. */
  async #renew({ userId, thread }: LocalResponse, until: number): Promise<void> {
    await this.#core.db
      .updateTable('own_responses')
      .set({ expires_at: until })
      .where((made) => made.and({ user_id: userId, thread }))
      .where('expires_at', '<', until - daySeconds)
      .execute()
  }

  #noteWritten(userId: number, bytes: number): void {
    const written = (this.#written.get(userId) ?? uncheckedBytes) + bytes
    if (written < uncheckedBytes) {
      this.#written.set(userId, written)
      return
    }
    this.#written.set(userId, 0)
    background(this.#core.logger, 'remove the oldest responses of a user', this.#removeOldest(userId))
  }

  async #removeOldest(userId: number): Promise<void> {
    const rows = await this.#core.db
      .selectFrom('own_responses')
      .select(['response_id', 'bytes', 'lease_until'])
      .where('user_id', '=', userId)
      .orderBy('created_at', 'desc')
      .orderBy('response_id', 'desc')
      .execute()
    let sum = 0
    const bytesMax = this.#core.options.current['responses.keep_megabytes'] * 1024 * 1024
    for (const row of rows) {
      sum += row.bytes
      if (sum > bytesMax && row.lease_until === 0) await this.forget({ userId, id: row.response_id })
    }
  }

  async #writeEvents(within: Within, { userId, id }: Owned, events: readonly NumberedEvent[]): Promise<void> {
    const number = events.at(-1)?.number ?? 0
    const text = JSON.stringify(events)
    await within
      .insertInto('own_response_events')
      .values({
        user_id: userId,
        response_id: id,
        number,
        events_sealed: this.#core.secrets.seal(text, eventsPlace({ userId, id }, number)),
        bytes: text.length,
        expires_at: this.#expiry(),
      })
      .execute()
  }

  #rowOf(own: LocalResponse): NewRow<'own_responses'> {
    const content: Content = { input: own.input, response: own.response }
    const text = JSON.stringify(content)
    const runs = formOf(own.id).isRunning(own.response)
    return {
      user_id: own.userId,
      response_id: own.id,
      token_id: own.tokenId,
      model: own.model,
      status: textAt(own.response, 'status'),
      thread: own.thread,
      previous_id: own.previousId,
      is_background: own.isBackground ? 1 : 0,
      request_id: own.requestId,
      content_sealed: this.#core.secrets.seal(text, contentPlace(own)),
      bytes: text.length,
      node: this.#core.node,
      lease_until: runs ? seconds(this.#core.now()) + leaseSeconds : 0,
      created_at: own.createdAt,
      expires_at: this.#expiry(),
    }
  }

  #expiry(): number {
    return seconds(this.#core.now()) + this.#core.options.current['responses.keep_days'] * daySeconds
  }

  #open(owned: Owned, sealed: string): Content {
    // Written by `#rowOf` only, and encrypted since.
    return JSON.parse(this.#core.secrets.open(sealed, contentPlace(owned))) as Content
  }

  #isLost({ node, lease_until: until }: { node: string; lease_until: number }): boolean {
    if (until === 0) return false
    return isOnlyNode(this.#core) ? node !== this.#core.node : until < seconds(this.#core.now())
  }
}
