import type { ExpressionBuilder } from 'kysely'
import type { Batch, BatchLine } from '../../../contract/entities/batch.ts'
import type { PageOf } from '../../base/db/page.ts'
import type { Row, Tables } from '../../base/db/schema.ts'
import { csvOfPieces } from '../../base/lib/bytes/csv.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'
import { batchForms } from './batch-form.ts'
import { readBatch } from './batch-table.ts'

/** Filters of the list; 0, '' and absent mean any. Times are inclusive. */
interface BatchFilter {
  /** Only those of this user, as their owner sees them. */
  readonly userId?: number
  readonly channel_id?: number
  readonly username?: string
  readonly batch_id: string
  readonly state: string
  readonly start_timestamp: number
  readonly end_timestamp: number
}

/** A page of batches, newest first. */
export async function listAllBatches({ db }: Core, { filter, page }: { filter: BatchFilter; page: PageOf }) {
  const matching = db.selectFrom('batches').where(fits(filter))
  const { total } = await matching.select((row) => row.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const rows = await matching
    .selectAll('batches')
    .select((row) => row.selectFrom('users').select('username').whereRef('users.id', '=', 'batches.user_id').as('username'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(page.offset)
    .limit(page.limit)
    .execute()
  const items = rows.map((row, at) => ({ id: page.offset + at + 1, ...present(row, row.username ?? '') }))
  const isOwners = filter.userId !== undefined
  return { items: isOwners ? items.map((item) => ({ ...item, channel_id: 0, username: '' })) : items, total: Number(total) }
}

function fits(filter: BatchFilter) {
  const { userId, channel_id, username, batch_id, state, start_timestamp: from, end_timestamp: to } = filter
  return (row: ExpressionBuilder<Tables, 'batches'>) =>
    row.and([
      row('state', '<>', 'checking'),
      ...(userId === undefined ? [] : [row('user_id', '=', userId)]),
      ...(channel_id ? [row('channel_id', '=', channel_id)] : []),
      ...(username
        ? [row('user_id', 'in', row.selectFrom('users').select('users.id').where('users.username', '=', username))]
        : []),
      ...(batch_id === '' ? [] : [row('id', '=', batch_id.replace(/^batches\//, ''))]),
      ...(state === '' ? [] : [row('state', '=', state)]),
      ...(from > 0 ? [row('created_at', '>=', from)] : []),
      ...(to > 0 ? [row('created_at', '<=', to)] : []),
    ])
}

function present(row: Row<'batches'>, username: string): Omit<Batch, 'id'> {
  const batch = readBatch(row)
  const { dialect, state, vendorObject } = batch
  const form = batchForms[dialect]
  const counts = form.counts(vendorObject)
  return {
    ...{
      batch_id: batch.id,
      user_id: batch.userId,
      username,
      channel_id: batch.channelId,
      dialect,
      models: Object.keys(batch.prices),
      state,
    },
    ...{
      requests: batch.requests,
      ...counts,
      held: state === 'settled' || state === 'failed' ? 0 : batch.held,
      quota: batch.charged,
    },
    ...{ created_at: batch.createdAt, ended_at: batch.endedAt, output_file: batch.outputFile, error_file: batch.errorFile },
    fail_reason: state === 'failed' ? form.failure(vendorObject).slice(0, 2000) : '',
  }
}

/** Whose batch the requests are of: a user's own, or anybody's. */
interface LinesOf {
  readonly batchId: string
  readonly userId?: number
}

/** A page of the requests of a batch, in their order. Throws `batch_unknown`. */
export async function listLines(core: Core, asked: LinesOf, page: PageOf) {
  const requests = await requestsOf(core, asked)
  return { items: await readLines(core, asked.batchId, { after: page.offset, limit: page.limit }), total: requests }
}

/** The requests of a batch, as CSV. Throws `batch_unknown`. */
export async function exportLines(core: Core, asked: LinesOf): Promise<AsyncGenerator<string>> {
  await requestsOf(core, asked)
  return csvOfPieces({ columns: lineColumns, pieces: piecesOf(core, asked.batchId) })
}

const lineColumns = [
  ...(['line', 'custom_id', 'model'] as const),
  { name: 'charged', value: ({ charged }: BatchLine) => (charged ? 1 : 0) },
  ...(['prompt_tokens', 'completion_tokens', 'held', 'quota'] as const),
  { name: 'estimated', value: ({ estimated }: BatchLine) => (estimated ? 1 : 0) },
]

async function* piecesOf(core: Core, batchId: string): AsyncGenerator<readonly BatchLine[]> {
  for (let after = 0; ; ) {
    const lines = await readLines(core, batchId, { after, limit: linesAtOnce })
    yield lines
    if (lines.length < linesAtOnce) return
    after = lines.at(-1)?.line ?? after
  }
}

const linesAtOnce = 500

async function requestsOf({ db }: Core, { batchId, userId }: LinesOf): Promise<number> {
  const row = await db
    .selectFrom('batches')
    .select('requests')
    .where('id', '=', batchId)
    .where('state', '<>', 'checking')
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
    .executeTakeFirst()
  return row?.requests ?? fail('batch_unknown', { id: batchId.slice(0, 100) })
}

/** Requests are numbered from 1 without a gap. */
async function readLines(
  { db }: Core,
  batchId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<BatchLine[]> {
  const rows = await db
    .selectFrom('batch_lines')
    .select(['line', 'custom_id', 'model', 'state', 'prompt_tokens', 'completion_tokens', 'held', 'amount', 'estimated'])
    .where('batch_id', '=', batchId)
    .where('line', '>', after)
    .orderBy('line')
    .limit(limit)
    .execute()
  return rows.map(({ state, amount: quota, estimated, ...line }) => {
    return { ...line, charged: state === 'charged', quota, estimated: estimated === 1 }
  })
}
