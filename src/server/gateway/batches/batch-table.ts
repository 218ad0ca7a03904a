import type { ExpressionBuilder } from 'kysely'
import type { Queries } from '../../base/db/open.ts'
import type { NewRow, Row, Tables } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import type { Price } from '../../money/pricing/quote.ts'
import type { UsageBound } from '../../money/pricing/usage-bound.ts'
import type { RelayCaller } from '../../people/tokens/authenticate.ts'
import type { CallerFormat } from '../protocols/format.ts'
import type { JsonObject, RequestFacts } from '../protocols/wire-format.ts'
import type { BatchCall } from '../relay/http/batch-paths.ts'

/**
 * `checking`: its requests are being judged, and nothing is held. `held`: its hold stands, and nothing was ordered at the vendor.
 * `creating`: the order is on its way, and the vendor may have it. `running`: the vendor has it. `ended`: the vendor has finished it, and it is not charged yet. `settled`: it is charged. `failed`: it was refused, or
 * never came to its vendor.
 */
export type BatchState = 'checking' | 'held' | 'creating' | 'running' | 'ended' | 'settled' | 'failed'

/** What the caller has asked, without the requests. */
export interface AskedBatch {
  readonly format: CallerFormat
  /** The path of the requests. */
  readonly endpoint: string
  /** The id of the input file at this site; '' for requests in the body. */
  readonly inputFile: string
  /** The model in the path of the order, of vendors that have it there. */
  readonly model?: string
  /** Members of the caller's body that the vendor gets too. */
  readonly members: JsonObject
}

/** Who has asked, for the log rows. */
type BatchCaller = Pick<RelayCaller, 'username' | 'tokenName'> & { readonly address: string }

/** What a model of the batch costs, as it was when the batch was ordered. */
export interface BatchPrice {
  readonly price: Price
  readonly otherPrices?: readonly Price[] | undefined
  readonly factor: number
  readonly group: string
  readonly upstreamModel: string
  /** The budgets that count its charges, as text. */
  readonly budgets: string
}

export interface KeptBatch {
  /** The id of this site, which callers see. */
  readonly id: string
  readonly userId: number
  readonly tokenId: number
  readonly channelId: number
  readonly keyId: number
  readonly dialect: BatchCall['dialect']
  readonly vendorId: string
  readonly state: BatchState
  readonly asked: AskedBatch
  readonly caller: BatchCaller
  readonly prices: Readonly<Record<string, BatchPrice>>
  /** The vendor's object as it was last seen, without its ids. */
  readonly vendorObject: JsonObject
  readonly requests: number
  readonly held: number
  readonly charged: number
  readonly outputFile: string
  readonly errorFile: string
  /** Unix seconds; 0 before. */
  readonly createdAt: number
  readonly sentAt: number
  readonly endedAt: number
}

/** What the charge of a request needs besides its price. */
export interface LineFacts {
  readonly facts: RequestFacts
  readonly inputTokens: number
  readonly bound?: UsageBound | undefined
}

/** A request of a batch that was admitted. */
export interface AdmittedLine {
  readonly line: number
  readonly customId: string
  readonly model: string
  readonly held: number
  readonly kept: LineFacts
}

type Parts = Pick<Core, 'db' | 'now'>

export async function addBatch(
  { db }: Parts,
  batch: Omit<KeptBatch, 'sentAt' | 'endedAt' | 'charged'>,
  askAt: number,
): Promise<void> {
  const row: NewRow<'batches'> = {
    ...{ id: batch.id, user_id: batch.userId, token_id: batch.tokenId, channel_id: batch.channelId, key_id: batch.keyId },
    ...{ dialect: batch.dialect, vendor_id: batch.vendorId, state: batch.state, asked: JSON.stringify(batch.asked) },
    ...{ caller: JSON.stringify(batch.caller), prices: JSON.stringify(batch.prices) },
    ...{ vendor_object: JSON.stringify(batch.vendorObject), requests: batch.requests, held: batch.held, charged: 0 },
    ...{
      output_file: '',
      error_file: '',
      created_at: batch.createdAt,
      sent_at: 0,
      ended_at: 0,
      ask_at: askAt,
      settling_until: 0,
      fence: 0,
    },
  }
  await db.insertInto('batches').values(row).execute()
}

export async function addLines({ db }: Parts, batchId: string, lines: readonly AdmittedLine[]): Promise<void> {
  if (lines.length === 0) return
  const rows = lines.map(({ line, customId, model, held, kept }): NewRow<'batch_lines'> => {
    const known = { batch_id: batchId, line, custom_id: customId, model, held, facts: JSON.stringify(kept) }
    return { ...known, state: '', prompt_tokens: 0, completion_tokens: 0, amount: 0, borne: 0, estimated: 0 }
  })
  await db.insertInto('batch_lines').values(rows).execute()
}

/** Deletes a batch of which nothing may be left. */
export async function forgetBatch(db: Queries, id: string): Promise<void> {
  await db.deleteFrom('batch_lines').where('batch_id', '=', id).execute()
  await db.deleteFrom('batches').where('id', '=', id).execute()
}

/** Changes a batch while it is in one of these states. Returns whether it was. */
export async function updateBatch(
  db: Queries,
  { id, from }: { readonly id: string; readonly from: readonly BatchState[] },
  change: Partial<NewRow<'batches'>> & { readonly state?: BatchState },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('batches')
    .set(change)
    .where('id', '=', id)
    .where('state', 'in', from)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Throws `batch_unknown` for an id that this user does not have, in this dialect if one is given. */
export async function findBatch(
  { db }: Parts,
  userId: number,
  { dialect, id }: { readonly dialect?: KeptBatch['dialect']; readonly id: string },
): Promise<KeptBatch> {
  const row = /^[\w-]{1,64}$/.test(id)
    ? await db
        .selectFrom('batches')
        .selectAll()
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .$if(dialect !== undefined, (query) => query.where('dialect', '=', dialect ?? ''))
        .where('state', '<>', 'checking')
        .executeTakeFirst()
    : undefined
  return row ? readBatch(row) : fail('batch_unknown', { id: id.slice(0, 100) })
}

/** A batch as it is now; undefined when it was deleted. */
export async function readAgain({ db }: Pick<Parts, 'db'>, { id }: Pick<KeptBatch, 'id'>): Promise<KeptBatch | undefined> {
  const row = await db.selectFrom('batches').selectAll().where('id', '=', id).executeTakeFirst()
  return row && readBatch(row)
}

/** The batch whose results a file is; undefined for other files. */
export async function batchOfFile({ db }: Parts, userId: number, fileId: string): Promise<KeptBatch | undefined> {
  const row = await db
    .selectFrom('batches')
    .selectAll()
    .where('user_id', '=', userId)
    .where((batch) => batch.or([batch('output_file', '=', fileId), batch('error_file', '=', fileId)]))
    .executeTakeFirst()
  return row && readBatch(row)
}

export interface BatchPage {
  readonly limit: number
  readonly after?: string | undefined
  readonly before?: string | undefined
}

/** A page of a user's batches, newest first, behind the batch with the id `after` or before the one with `before`. */
export async function listBatches(
  parts: Parts,
  userId: number,
  { dialect, limit, after, before }: BatchPage & Pick<KeptBatch, 'dialect'>,
): Promise<KeptBatch[]> {
  const anchor = after ?? before
  const from = anchor === undefined ? undefined : await findBatch(parts, userId, { dialect, id: anchor })
  const isTurned = after === undefined && before !== undefined
  const rows = await parts.db
    .selectFrom('batches')
    .selectAll()
    .where('user_id', '=', userId)
    .where('dialect', '=', dialect)
    .where('state', '<>', 'checking')
    .$if(from !== undefined, (query) => query.where(behind(from, isTurned ? '>' : '<')))
    .orderBy('created_at', isTurned ? 'asc' : 'desc')
    .orderBy('id', isTurned ? 'asc' : 'desc')
    .limit(limit)
    .execute()
  const batches = rows.map(readBatch)
  return isTurned ? batches.reverse() : batches
}

function behind(from: KeptBatch | undefined, direction: '<' | '>') {
  const { createdAt = 0, id = '' } = from ?? {}
  return (row: ExpressionBuilder<Tables, 'batches'>) =>
    row.or([row('created_at', direction, createdAt), row.and([row('created_at', '=', createdAt), row('id', direction, id)])])
}

/** Batches whose vendor is to be asked now, each given to one caller of all nodes, and again after a while. */
export async function claimDue(
  { db, now }: Parts,
  { limit, againSeconds }: { limit: number; againSeconds: number },
): Promise<KeptBatch[]> {
  const at = seconds(now())
  const due = db
    .selectFrom('batches')
    .select('id')
    .where('ask_at', '>', 0)
    .where('ask_at', '<=', at)
    .orderBy('ask_at')
    .limit(limit)
  const rows = await db
    .updateTable('batches')
    .set({ ask_at: at + againSeconds })
    .where('id', 'in', due)
    .where('ask_at', '<=', at)
    .returningAll()
    .execute()
  return rows.map(readBatch)
}

export function readBatch(row: Row<'batches'>): KeptBatch {
  return {
    id: row.id,
    userId: row.user_id,
    tokenId: row.token_id,
    channelId: row.channel_id,
    keyId: row.key_id,
    // Written by this file only, like the other texts.
    dialect: row.dialect as KeptBatch['dialect'],
    vendorId: row.vendor_id,
    state: row.state as BatchState,
    asked: JSON.parse(row.asked) as AskedBatch,
    caller: JSON.parse(row.caller) as BatchCaller,
    prices: JSON.parse(row.prices) as KeptBatch['prices'],
    vendorObject: JSON.parse(row.vendor_object) as JsonObject,
    requests: row.requests,
    held: row.held,
    charged: row.charged,
    outputFile: row.output_file,
    errorFile: row.error_file,
    createdAt: row.created_at,
    sentAt: row.sent_at,
    endedAt: row.ended_at,
  }
}
