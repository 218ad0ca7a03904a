import { LRUCache } from 'lru-cache'
import type { NewRow } from '../db/schema.ts'
import { seconds } from '../lib/clock.ts'
import type { Core } from '../options/core.ts'

/** A response that an upstream keeps, and where. */
export interface KeptResponse {
  readonly id: string
  readonly userId: number
  readonly tokenId: number
  readonly channelId: number
  readonly keyId: number
  /** As the caller named it. */
  readonly model: string
  /** How long the conversation is with it: what the next answer to it reads. */
  readonly tokens: number
}

/** As long as the vendor keeps a response. */
const livesSeconds = 30 * 24 * 60 * 60
const knownMax = 20_000
const batchMax = 500
const idMax = 200

/**
 * Which channel and key made a response, by user and id: only there can it be read, continued or removed, and only by its user. Rows that
 * come while others are written are written together.
 */
export class KeptResponses {
  readonly #core: Core
  readonly #known = new LRUCache<string, KeptResponse>({ max: knownMax })
  #queue = new Map<string, KeptResponse>()
  #writing: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(core: Core) {
    this.#core = core
  }

  /** Resolves when it is durable. */
  keep(kept: KeptResponse): Promise<void> {
    if (kept.id === '' || kept.id.length > idMax) return Promise.resolve()
    const key = keyOf(kept.userId, kept.id)
    this.#known.set(key, kept)
    this.#queue.set(key, kept)
    this.#next ??= this.#afterThis()
    return this.#next
  }

  /** Undefined for an id that this user has none of. */
  async find(userId: number, id: string): Promise<KeptResponse | undefined> {
    if (id.length > idMax) return undefined
    const known = this.#known.get(keyOf(userId, id))
    if (known) return known
    const row = await this.#core.db
      .selectFrom('kept_responses')
      .selectAll()
      .where('user_id', '=', userId)
      .where('response_id', '=', id)
      .where('expires_at', '>', seconds(this.#core.now()))
      .executeTakeFirst()
    if (!row) return undefined
    const { token_id: tokenId, channel_id: channelId, key_id: keyId, model, tokens } = row
    return { id, userId, tokenId, channelId, keyId, model, tokens }
  }

  async forget({ userId, id }: Pick<KeptResponse, 'userId' | 'id'>): Promise<void> {
    this.#known.delete(keyOf(userId, id))
    await this.#core.db.deleteFrom('kept_responses').where('user_id', '=', userId).where('response_id', '=', id).execute()
  }

  async purge(): Promise<void> {
    await this.#core.db.deleteFrom('kept_responses').where('expires_at', '<=', seconds(this.#core.now())).execute()
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

  #rowOf({ id, userId, tokenId, channelId, keyId, model, tokens }: KeptResponse): NewRow<'kept_responses'> {
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
