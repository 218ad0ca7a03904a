import { type LedgerRow, ledgerKindLabels } from '../../contract/entities/ledger-row.ts'
import type { Queries } from '../db/open.ts'
import type { PageOf } from '../db/page.ts'
import type { LedgerKind } from '../db/schema.ts'
import { csvLine, csvTime } from '../lib/csv.ts'

const rowsAtOnce = 1000
const columns = ['id', 'created_at', 'kind', 'amount', 'reference', 'token_id', 'detail'] as const

interface Asked {
  readonly userId: number
  /** The id that the page begins below, which comes before the number of the page; 0 for none. */
  readonly before: number
  readonly page: PageOf
  /** Only rows of this kind; '' for all. */
  readonly kind?: string
}

/**
 * A user's ledger rows, newest first, each with the balance after it, unless rows between are left out. `next` is the `before` of the
 * following page, 0 when there is none. The rows of a page cost the same at any depth; the balance costs the sum of what is newer.
 */
export async function listLedgerRows(db: Queries, asked: Asked): Promise<{ items: LedgerRow[]; next: number }> {
  const { userId, before, kind = '' } = asked
  const { offset, limit } = asked.page
  const wanted = (Object.keys(ledgerKindLabels) as LedgerKind[]).find((name) => name === kind)
  const rows = await db
    .selectFrom('ledger')
    .select(columns)
    .where('user_id', '=', userId)
    .$if(before > 0, (query) => query.where('id', '<', before))
    .$if(wanted !== undefined, (query) => query.where('kind', '=', wanted ?? 'charge'))
    .orderBy('id', 'desc')
    .offset(before > 0 ? 0 : offset)
    .limit(limit + 1)
    .execute()
  const shown = rows.slice(0, limit)
  const calls = await readCalls(db, userId, shown)
  let balance = wanted === undefined ? await balanceAt(db, userId, shown[0]?.id) : null

  const items = shown.map((row) => {
    const { model_name = '', token_name = '' } = calls.get(row.reference) ?? {}
    const item = { ...row, model_name, token_name, balance }
    if (balance !== null) balance -= row.amount
    return item
  })
  return { items, next: rows.length > limit ? (shown.at(-1)?.id ?? 0) : 0 }
}

/** What there was after a row: the balance without all that is newer. One statement, so that nothing can come between. */
async function balanceAt(db: Queries, userId: number, rowId = 0): Promise<number | null> {
  const user = await db
    .selectFrom('users')
    .select('quota')
    .select((eb) =>
      eb
        .selectFrom('ledger')
        .select(({ fn }) => fn.coalesce(fn.sum<number>('amount'), eb.lit(0)).as('newer'))
        .where('user_id', '=', userId)
        .where('id', '>', rowId)
        .as('newer'),
    )
    .where('id', '=', userId)
    .executeTakeFirst()
  return user ? user.quota - Number(user.newer ?? 0) : null
}

/** Model and token of charges, from their log rows, which are written in the same moment; what was purged from the log has none. */
async function readCalls(db: Queries, userId: number, rows: readonly { kind: string; reference: string; created_at: number }[]) {
  const charges = rows.filter(({ kind }) => kind === 'charge')
  if (charges.length === 0) return new Map<string, { model_name: string; token_name: string }>()
  const logs = await db
    .selectFrom('logs')
    .select(['request_id', 'model_name', 'token_name'])
    .where('user_id', '=', userId)
    .where('created_at', 'in', [...new Set(charges.map(({ created_at }) => created_at))])
    .where(
      'request_id',
      'in',
      charges.map(({ reference }) => reference.slice('charge:'.length)),
    )
    .execute()
  return new Map(logs.map(({ request_id, ...call }) => [`charge:${request_id}`, call]))
}

/**
 * All ledger rows of a user as CSV lines, oldest first, with the balance after each. Times are UTC, amounts units. Some thousand rows
 * are read at a time, as fast as they are taken; rows that are written meanwhile may be part of it.
 */
export async function* statementCsv(db: Queries, userId: number): AsyncGenerator<string> {
  yield csvLine(['id', 'time', 'kind', 'amount', 'balance', 'reference', 'token_id', 'detail'])
  let balance = 0
  let lastId = 0

  for (;;) {
    const rows = await db
      .selectFrom('ledger')
      .select(columns)
      .where('user_id', '=', userId)
      .where('id', '>', lastId)
      .orderBy('id')
      .limit(rowsAtOnce)
      .execute()
    let text = ''
    for (const row of rows) {
      balance += row.amount
      lastId = row.id
      text += csvLine([row.id, csvTime(row.created_at), row.kind, row.amount, balance, row.reference, row.token_id, row.detail])
    }
    if (text !== '') yield text
    if (rows.length < rowsAtOnce) return
  }
}
