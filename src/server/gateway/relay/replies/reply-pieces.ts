import { sql } from 'kysely'
import type { Core } from '../../../base/options/core.ts'

/**
 * A piece of a stored reply: the events `first` to `last` of a stream, which number from 1, or one part of a whole body, which number
 * from 0.
 */
interface ReplyPiece {
  readonly requestId: string
  readonly first: number
  readonly last: number
  readonly bytes: Buffer
}

const rowsAtOnce = 200

/** The bytes of stored replies: encrypted, in pieces, in the database, so that every node has them. */
export class ReplyPieces {
  readonly #core: Pick<Core, 'db' | 'secrets'>

  constructor(core: Pick<Core, 'db' | 'secrets'>) {
    this.#core = core
  }

  /** Stores pieces. A repeat after an error may find some of them written. */
  async write(pieces: readonly ReplyPiece[]): Promise<void> {
    for (let from = 0; from < pieces.length; from += rowsAtOnce) {
      const rows = pieces.slice(from, from + rowsAtOnce).map(({ requestId, first, last, bytes }) => {
        const sealed = this.#core.secrets.sealBytes(bytes, placeOf(requestId, first))
        return { request_id: requestId, first, last, sealed, bytes: bytes.length }
      })
      await this.#core.db
        .insertInto('reply_pieces')
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(['request_id', 'first']).doUpdateSet((row) => ({
            last: row.ref('excluded.last'),
            sealed: row.ref('excluded.sealed'),
            bytes: row.ref('excluded.bytes'),
          })),
        )
        .execute()
    }
  }

  /** The pieces that end after this number, in order; at most `countMax` of them. */
  async after(requestId: string, number: number, countMax: number): Promise<ReplyPiece[]> {
    const rows = await this.#core.db
      .selectFrom('reply_pieces')
      .select(['first', 'last', 'sealed'])
      .where('request_id', '=', requestId)
      .where('last', '>', number)
      .orderBy('first')
      .limit(countMax)
      .execute()
    return rows.map(({ first, last, sealed }) => {
      return { requestId, first, last, bytes: this.#core.secrets.openBytes(sealed, placeOf(requestId, first)) }
    })
  }

  /** Deletes the pieces of replies that neither a key nor a stream refers to any more. */
  async purge(): Promise<void> {
    await this.#core.db
      .deleteFrom('reply_pieces')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('resumable_replies')
              .select(sql`1`.as('one'))
              .whereRef('resumable_replies.request_id', '=', 'reply_pieces.request_id'),
          ),
        ),
      )
      .where('request_id', 'not in', this.#core.db.selectFrom('idempotent_requests').select('request_id'))
      .execute()
  }
}

function placeOf(requestId: string, first: number) {
  return { table: 'reply_pieces', column: 'sealed', row: `${requestId} ${first}` }
}
