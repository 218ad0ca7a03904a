import { setImmediate } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import { type LedgerSort, ledgerKindLabels } from '../../../contract/entities/ledger-row.ts'
import type { SortBy } from '../../../contract/envelope.ts'
import type { Queries } from '../../base/db/open.ts'
import type { LedgerKind, Tables } from '../../base/db/schema.ts'

/**
 * A user's ledger rows in any order. The order of time uses an index. A scan without an index (an amount, a kind) would occupy the
 * database for all rows of the user, and another index would slow every charge; so it reads in pieces, between which other queries
 * run.
 */
export interface Wanted {
  readonly userId: number
  /** Only rows of this kind; all for '' and unknown kinds. */
  readonly kind: string
  readonly sort: SortBy<LedgerSort>
}

/** The start of a page: behind the row with the id `after` (0: from the first row), and behind `skip` further rows. */
interface From {
  readonly after: number
  readonly skip?: number
  readonly limit: number
}

const columns = ['id', 'created_at', 'kind', 'amount', 'reference', 'token_id', 'detail'] as const
export type OwnRow = Pick<Selectable<Tables['ledger']>, (typeof columns)[number]>

const pieceRows = 5000
const keptMax = 20_000
const idsAtOnce = 1000

export async function readLedger(db: Queries, wanted: Wanted, { after, skip = 0, limit }: From): Promise<OwnRow[]> {
  const { userId, sort } = wanted
  if (isAlongIndex(wanted))
    return alongIndex(db, userId, { after, descending: sort.descending }).select(columns).offset(skip).limit(limit).execute()

  let last = after === 0 ? undefined : await findPlace(db, userId, after)
  for (let left = skip; left > 0; left -= keptMax) {
    const passed = await firstPlaces(db, wanted, { last, limit: Math.min(left, keptMax) })
    last = passed.at(-1)
    if (!last || passed.length < Math.min(left, keptMax)) return []
  }
  const places = await firstPlaces(db, wanted, { last, limit })
  return readRows(
    db,
    places.map(({ id }) => id),
  )
}

/** All rows, in pieces that are read on demand. */
export async function* ledgerPieces(db: Queries, wanted: Wanted): AsyncGenerator<readonly OwnRow[]> {
  // Each piece of an order without an index scans all rows of the user.
  const limit = isAlongIndex(wanted) ? idsAtOnce : keptMax
  for (let after = 0; ; ) {
    const rows = await readLedger(db, wanted, { after, limit })
    yield rows
    if (rows.length < limit) return
    after = rows.at(-1)?.id ?? 0
  }
}

/** Whether the rows are complete and in the order of time, so that each balance follows from the row before. */
export function isAlongIndex({ kind, sort }: Wanted): boolean {
  return sort.by === 'id' && kindOf(kind) === undefined
}

const kindOf = (text: string) => (Object.keys(ledgerKindLabels) as LedgerKind[]).find((name) => name === text)

interface Place {
  readonly id: number
  readonly amount: number
}

/** The first `limit` positions behind `last`. */
async function firstPlaces(
  db: Queries,
  { userId, kind, sort }: Wanted,
  { last, limit }: { last: Place | undefined; limit: number },
): Promise<Place[]> {
  const wanted = kindOf(kind)
  const byTime = sort.by === 'id'
  const compare = inOrder(sort)
  let best: Place[] = []

  // In the order of time the scan begins behind the last position and ends when there are enough rows.
  for (let after = byTime ? (last?.id ?? 0) : 0; ; ) {
    const piece = await alongIndex(db, userId, { after, descending: !byTime || sort.descending })
      .select(['id', 'amount', 'kind'])
      .limit(pieceRows)
      .execute()
    const end = best.length < limit ? undefined : best.at(-1)
    const better = piece.filter(
      (row) =>
        (wanted === undefined || row.kind === wanted) &&
        (last === undefined || compare(last, row) < 0) &&
        (end === undefined || compare(row, end) < 0),
    )
    if (better.length > 0) best = [...best, ...better].sort(compare).slice(0, limit)
    after = piece.at(-1)?.id ?? 0
    if (piece.length < pieceRows || (byTime && best.length === limit)) return best
    await setImmediate()
  }
}

/** Rows with the same amount are sorted newest first, in either direction. */
function inOrder({ by, descending }: SortBy<LedgerSort>) {
  const sign = descending ? -1 : 1
  return (one: Place, other: Place) => (one[by] - other[by]) * sign || other.id - one.id
}

function alongIndex(db: Queries, userId: number, { after, descending }: { after: number; descending: boolean }) {
  return db
    .selectFrom('ledger')
    .where('user_id', '=', userId)
    .$if(after > 0, (query) => query.where('id', descending ? '<' : '>', after))
    .orderBy('id', descending ? 'desc' : 'asc')
}

function findPlace(db: Queries, userId: number, id: number): Promise<Place | undefined> {
  return db.selectFrom('ledger').select(['id', 'amount']).where('user_id', '=', userId).where('id', '=', id).executeTakeFirst()
}

/** The rows with these ids, in their order. */
async function readRows(db: Queries, ids: readonly number[]): Promise<OwnRow[]> {
  const rows: OwnRow[] = []
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const some = ids.slice(from, from + idsAtOnce)
    const found = new Map(
      (await db.selectFrom('ledger').select(columns).where('id', 'in', some).execute()).map((row) => [row.id, row]),
    )
    rows.push(...some.flatMap((id) => found.get(id) ?? []))
    await setImmediate()
  }
  return rows
}
