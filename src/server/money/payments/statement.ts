import type { LedgerRow, LedgerSort } from '../../../contract/entities/ledger-row.ts'
import { logType } from '../../../contract/entities/log.ts'
import type { SortBy } from '../../../contract/envelope.ts'
import type { Queries } from '../../base/db/open.ts'
import type { PageOf } from '../../base/db/page.ts'
import { type CsvColumn, csvOfPieces } from '../../base/lib/bytes/csv.ts'
import { isAlongIndex, ledgerPieces, type OwnRow, readLedger, type Wanted } from '../ledger/ledger-order.ts'

interface Asked {
  readonly userId: number
  /** Only rows of this kind; '' for all. */
  readonly kind?: string
  readonly sort?: SortBy<LedgerSort> | undefined
}

interface AskedPage extends Asked {
  /** The id after which the page begins; takes precedence over the number of the page; 0 for none. */
  readonly before: number
  readonly page: PageOf
}

type Balanced = OwnRow & { readonly balance: number | null }

/**
 * A user's ledger rows, newest first by default, each with the balance after it if they are sorted by time and not filtered by
 * kind. `next` is the `before` of the following page, 0 when there is none. Sorted by time, the rows of a page cost the same at any
 * depth; the balance costs the sum of the skipped rows.
 */
export async function listLedgerRows(db: Queries, asked: AskedPage): Promise<{ items: LedgerRow[]; next: number }> {
  const { before, page } = asked
  const wanted = wantedOf(asked, { by: 'id', descending: true })
  const rows = await readLedger(db, wanted, { after: before, skip: before > 0 ? 0 : page.offset, limit: page.limit + 1 })
  const shown = rows.slice(0, page.limit)
  const calls = await readCalls(db, wanted.userId, shown)
  const items = (await withBalances(db, wanted)(shown)).map((row) => {
    const { model_name = '', token_name = '' } = calls.get(row.reference) ?? {}
    return { ...row, model_name, token_name }
  })
  return { items, next: rows.length > page.limit ? (shown.at(-1)?.id ?? 0) : 0 }
}

const columns: readonly CsvColumn<Balanced>[] = [
  'id',
  { name: 'time', time: (row) => row.created_at },
  ...(['kind', 'amount', 'balance', 'reference', 'token_id', 'detail'] as const),
]

/**
 * A user's ledger rows as CSV, oldest first by default, with the balance after each if they are sorted by time and not filtered by
 * kind. Amounts are units. Rows are read with back-pressure; some rows written meanwhile may be included.
 */
export function statementCsv(db: Queries, { timeZone = '', ...asked }: Asked & { readonly timeZone?: string }) {
  const wanted = wantedOf(asked, { by: 'id', descending: false })
  return csvOfPieces({ columns, timeZone, pieces: balancedPieces(db, wanted) })
}

async function* balancedPieces(db: Queries, wanted: Wanted): AsyncGenerator<readonly Balanced[]> {
  const balanced = withBalances(db, wanted)
  for await (const rows of ledgerPieces(db, wanted)) yield await balanced(rows)
}

function wantedOf({ userId, kind = '', sort }: Asked, begins: SortBy<LedgerSort>): Wanted {
  return { userId, kind, sort: sort ?? begins }
}

/** Adds the balances to rows, piece by piece: the first row's balance is read, and each further one follows from the row before. */
function withBalances(db: Queries, wanted: Wanted) {
  const { descending } = wanted.sort
  let before: { readonly amount: number; readonly balance: number } | undefined

  return async (rows: readonly OwnRow[]): Promise<Balanced[]> => {
    const [first] = rows
    if (!first || !isAlongIndex(wanted)) return rows.map((row) => ({ ...row, balance: null }))
    const known = before === undefined ? await balanceAt(db, wanted, first.id) : undefined
    return rows.map((row) => {
      const balance: number = before ? before.balance + (descending ? -before.amount : row.amount) : (known ?? 0)
      before = { amount: row.amount, balance }
      return { ...row, balance }
    })
  }
}

/** The balance after a row, computed from the nearer end when pages are read in order. One statement, so that it is consistent. */
async function balanceAt(db: Queries, { userId, sort }: Wanted, rowId: number): Promise<number> {
  const user = await db
    .selectFrom('users')
    .select('quota')
    .select((eb) =>
      eb
        .selectFrom('ledger')
        .select(({ fn }) => fn.coalesce(fn.sum<number>('amount'), eb.lit(0)).as('sum'))
        .where('user_id', '=', userId)
        .where('id', sort.descending ? '>' : '<=', rowId)
        .as('sum'),
    )
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  const sum = Number(user.sum ?? 0)
  return sort.descending ? user.quota - sum : sum
}

/** Model and token of charges, from their log rows, which are written in the same transaction; purged log rows have none. */
async function readCalls(db: Queries, userId: number, rows: readonly { kind: string; reference: string; created_at: number }[]) {
  const charges = rows.filter(({ kind }) => kind === 'charge')
  if (charges.length === 0) return new Map<string, { model_name: string; token_name: string }>()
  const logs = await db
    .selectFrom('logs')
    .select(['request_id', 'model_name', 'token_name'])
    .where('user_id', '=', userId)
    .where('type', '=', logType.consume)
    .where('created_at', 'in', [...new Set(charges.map(({ created_at }) => created_at))])
    .where(
      'request_id',
      'in',
      charges.map(({ reference }) => reference.slice('charge:'.length)),
    )
    .execute()
  return new Map(logs.map(({ request_id, ...call }) => [`charge:${request_id}`, call]))
}
