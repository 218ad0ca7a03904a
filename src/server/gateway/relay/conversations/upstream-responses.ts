import { LRUCache } from 'lru-cache'
import type { NewRow } from '../../../base/db/schema.ts'
import { upTo } from '../../../base/lib/collections/cache-size.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Core } from '../../../base/options/core.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import type { StoredFormat } from '../../protocols/format.ts'
import { isObject, textAt } from '../../protocols/wire-format.ts'
import type { CallerHeaders } from '../../providers/provider.ts'
import type { ResponseAction } from '../http/endpoints.ts'
import { callUpstream, type UpstreamAnswer, type UpstreamCall, type UpstreamCallParts } from '../upstream/call-upstream.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'

/** A response that an upstream stores, and its channel and key. */
export interface UpstreamResponse {
  readonly id: string
  readonly userId: number
  readonly tokenId: number
  readonly channelId: number
  readonly keyId: number
  /** The model name of the caller's request. */
  readonly model: string
  /** Length of the conversation including it, in tokens: the input of the next turn. */
  readonly tokens: number
  /** Ids of its items, which a later request may reference one by one. */
  readonly items?: readonly string[]
}

/** Keys for an item, and for a message after which a thread continues. Ids of vendors contain no space. */
export const keptItem = (id: string) => `item ${id}`
export const keptMessage = (id: string) => `message ${id}`

/** How long vendors store a response. */
const livesSeconds = 30 * 24 * 60 * 60
const knownMax = 50_000
const batchMax = 500
const isId = /^[\x20-\x7e]{1,200}$/

/**
 * Records which channel and key made a response, by user and id: it can only be read, continued or deleted there, and only by its
 * user. Its items and the messages of threads have rows of their own. Rows that arrive during a write are written together in the
 * next one.
 */
export class UpstreamResponses {
  readonly #core: Core
  readonly #known = new LRUCache<string, UpstreamResponse>(upTo(knownMax))
  #queue = new Map<string, UpstreamResponse>()
  #writing: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(core: Core) {
    this.#core = core
  }

  /** Resolves when it is durable. */
  keep({ items = [], ...kept }: UpstreamResponse): Promise<void> {
    const ids = [kept.id, ...items.map(keptItem)].filter((id) => isId.test(id))
    if (ids.length === 0) return Promise.resolve()
    for (const id of ids) {
      const key = keyOf(kept.userId, id)
      this.#known.set(key, { ...kept, id })
      this.#queue.set(key, { ...kept, id })
    }
    this.#next ??= this.#afterThis()
    return this.#next
  }

  /** Undefined for an id that this user does not have. */
  async find(userId: number, id: string): Promise<UpstreamResponse | undefined> {
    return (await this.findAll(userId, [id])).get(id)
  }

  /** Finds responses by ids. Stops at the first batch in which one is missing. */
  async findAll(userId: number, ids: readonly string[]): Promise<ReadonlyMap<string, UpstreamResponse>> {
    const found = new Map<string, UpstreamResponse>()
    for (const id of ids) {
      const known = this.#known.get(keyOf(userId, id))
      if (known) found.set(id, known)
    }
    const unknown = ids.filter((id) => !found.has(id) && isId.test(id))
    for (let at = 0; at < unknown.length; at += batchMax) {
      const asked = unknown.slice(at, at + batchMax)
      const read = await this.#read(userId, asked)
      for (const kept of read) found.set(kept.id, kept)
      if (read.length < asked.length) break
    }
    return found
  }

  async forget({ userId, id }: Pick<UpstreamResponse, 'userId' | 'id'>): Promise<void> {
    this.#known.delete(keyOf(userId, id))
    await this.#core.db.deleteFrom('kept_responses').where('user_id', '=', userId).where('response_id', '=', id).execute()
  }

  async purge(): Promise<void> {
    await this.#core.db.deleteFrom('kept_responses').where('expires_at', '<=', seconds(this.#core.now())).execute()
  }

  async #read(userId: number, ids: readonly string[]): Promise<UpstreamResponse[]> {
    const rows = await this.#core.db
      .selectFrom('kept_responses')
      .selectAll()
      .where('user_id', '=', userId)
      .where('response_id', 'in', ids)
      .where('expires_at', '>', seconds(this.#core.now()))
      .execute()
    return rows.map(({ response_id: id, token_id: tokenId, channel_id: channelId, key_id: keyId, model, tokens }) => {
      return { id, userId, tokenId, channelId, keyId, model, tokens }
    })
  }

  async #afterThis(): Promise<void> {
    await this.#writing.catch(() => {})
    const rows = [...this.#queue.values()].map((kept) => this.#rowOf(kept))
    this.#queue = new Map()
    this.#next = undefined
    this.#writing = this.#write(rows)
    await this.#writing
  }

  async #write(rows: readonly NewRow<'kept_responses'>[]): Promise<void> {
    for (let at = 0; at < rows.length; at += batchMax) {
      await this.#core.db
        .insertInto('kept_responses')
        .values(rows.slice(at, at + batchMax))
        .onConflict((conflict) =>
          conflict.columns(['user_id', 'response_id']).doUpdateSet((set) => ({
            token_id: set.ref('excluded.token_id'),
            channel_id: set.ref('excluded.channel_id'),
            key_id: set.ref('excluded.key_id'),
            model: set.ref('excluded.model'),
            tokens: set.ref('excluded.tokens'),
            expires_at: set.ref('excluded.expires_at'),
          })),
        )
        .execute()
    }
  }

  #rowOf({ id, userId, tokenId, channelId, keyId, model, tokens }: UpstreamResponse): NewRow<'kept_responses'> {
    return {
      user_id: userId,
      response_id: id,
      token_id: tokenId,
      channel_id: channelId,
      key_id: keyId,
      model,
      tokens,
      expires_at: seconds(this.#core.now()) + livesSeconds,
    }
  }
}

function keyOf(userId: number, id: string): string {
  return `${userId} ${id}`
}

/** A call about an answer that an upstream stores: the path of its format, its id, and the paths below that. */
export interface AboutResponse {
  readonly format: StoredFormat
  readonly id: string
  /** The upstream's model name; some hosts need it in the URL. */
  readonly model: string
  readonly caller: CallerHeaders
  readonly query?: URLSearchParams
}

const methods = { read: 'GET', delete: 'DELETE', cancel: 'POST', items: 'GET' } as const
const suffixes = { read: '', delete: '', cancel: '/cancel', items: '/input_items' } as const
const timeoutMs = 60_000

export function callAbout(action: ResponseAction, { format, id, model, caller, query }: AboutResponse): UpstreamCall {
  return {
    format,
    model,
    method: methods[action],
    suffix: `/${encodeURIComponent(id)}${suffixes[action]}`,
    ...(query ? { query } : {}),
    caller,
    timeoutMs,
  }
}

export function askAbout(
  app: UpstreamCallParts,
  channel: RunningChannel,
  action: ResponseAction,
  about: AboutResponse,
): Promise<UpstreamAnswer | UpstreamFailure> {
  return callUpstream(app, channel, callAbout(action, about))
}

export function cancelResponse(app: UpstreamCallParts, channel: RunningChannel, about: AboutResponse) {
  return askAbout(app, channel, 'cancel', about)
}

/** The ids by which a later request may reference the items of an output. */
export function itemIdsIn(output: unknown): string[] {
  const items = Array.isArray(output) ? output.filter(isObject) : []
  return items.map((item) => textAt(item, 'id')).filter((id) => id !== '')
}
