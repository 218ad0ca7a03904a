import { setImmediate } from 'node:timers/promises'
import { type Bill, billOf } from '../../../contract/bill.ts'
import { logType } from '../../../contract/entities/log.ts'
import { type Factors, readFactors } from '../../../contract/log-factors.ts'
import type { Queries } from '../../base/db/open.ts'
import { lastImportedLogId } from '../../usage/imported-logs.ts'

/** A charge whose log row, ledger row and recomputed amount are not equal. Amounts in units. */
interface ChargeDifference {
  readonly requestId: string
  readonly charged: number
  /** Undefined when the ledger has no row for the request. */
  readonly ledger: number | undefined
  /** Computed from the factors of the log row; undefined when the row lacks one. */
  readonly recomputed: number | undefined
  /** Columns of the ledger row, besides the amount, that are not those of the log row; `site_cost` if that is not as recomputed or not in its table. */
  readonly columns: readonly LinkedColumn[]
}

type LinkedColumn = 'user_id' | 'token_id' | 'created_at' | 'kind' | 'site_cost'

export interface VerifiedCharges {
  /** Log rows of charges. */
  readonly rows: number
  /** Log rows from before the cut of an import: another program made their charges, so the ledger has no rows for them. */
  readonly imported: number
  /** Log rows that have every factor of their charge. */
  readonly recomputed: number
  /** Charges of the ledger without a log row: logging was off, or the rows were removed. */
  readonly withoutRow: number
  readonly differences: readonly ChargeDifference[]
  /** The total number of differences; `differences` has the first 100. */
  readonly differing: number
}

const pageSize = 1000
const differencesMax = 100

/**
 * Compares every charge of the log with its row of the ledger, and with the amount computed from its own factors. Reads the whole log in pages;
 * rows written meanwhile are left to the next run. `onProgress` gets the rows so far and their total.
 */
export async function verifyCharges(
  db: Queries,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<VerifiedCharges> {
  // One statement, so that a running server cannot write between the two reads.
  const { last, charges } = await db
    .selectFrom('logs')
    .select(({ fn, selectFrom }) => [
      fn.max<number | null>('id').as('last'),
      selectFrom('ledger')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('reference', 'like', 'charge:%')
        .as('charges'),
    ])
    .executeTakeFirstOrThrow()
  const total = last ?? 0
  const differences: ChargeDifference[] = []
  let [rows, recomputed, matched, differing] = [0, 0, 0, 0]

  for (let after = lastImportedLogId; after < total; ) {
    const page = await pageOf(db, after, total)
    if (page.length === 0) break
    after = page.at(-1)?.id ?? total
    for (const row of page) {
      const { charged, ledger } = row
      const factors = readFactors(row.other)
      const bill = billOf({ quota: charged, factors })
      const units = bill?.units
      const columns: LinkedColumn[] = isBorneAsTold(row, factors, bill) ? row.columns : [...row.columns, 'site_cost']
      rows++
      if (ledger !== undefined) matched++
      if (units !== undefined) recomputed++
      if (ledger === charged && columns.length === 0 && (units === undefined || units === charged)) continue
      differing++
      const difference = { requestId: row.request_id, charged, ledger, recomputed: units, columns }
      if (differences.length < differencesMax) differences.push(difference)
    }
    onProgress(after, total)
    await setImmediate()
  }

  const imported = await db
    .selectFrom('logs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('id', '<=', lastImportedLogId)
    .executeTakeFirstOrThrow()
  return { rows, imported: imported.count, recomputed, withoutRow: Math.max(0, (charges ?? 0) - matched), differences, differing }
}

async function pageOf(db: Queries, after: number, last: number) {
  const rows = await db
    .selectFrom('logs')
    .leftJoin('ledger', (join) =>
      join.on(({ eb, ref, val }) => eb('ledger.reference', '=', eb(val('charge:'), '||', ref('logs.request_id')))),
    )
    .leftJoin('site_costs', 'site_costs.request_id', 'logs.request_id')
    .select(['site_costs.amount as borne', 'site_costs.reason as borneFor'])
    .select(['logs.id', 'logs.request_id', 'logs.quota as charged', 'logs.other', 'ledger.amount', 'ledger.kind'])
    .select(['logs.user_id', 'logs.token_id', 'logs.created_at'])
    .select(['ledger.user_id as ledgerUser', 'ledger.token_id as ledgerToken', 'ledger.created_at as ledgerAt'])
    .where('logs.type', '=', logType.consume)
    .where('logs.id', '>', after)
    .where('logs.id', '<=', last)
    .orderBy('logs.id')
    .limit(pageSize)
    .execute()
  return rows.map((row) => {
    const { id, request_id, charged, other, amount, borne, borneFor } = row
    const base = { id, request_id, charged, other, borne, borneFor }
    if (amount === null) return { ...base, ledger: undefined, columns: [] }
    return { ...base, ledger: 0 - amount, columns: differingColumns(row) }
  })
}

interface Borne {
  readonly charged: number
  readonly borne: number | null
  readonly borneFor: string | null
}

/**
 * Whether the site's cost is the rest of the call's cost, in the row and in its table. The cost of an implausible report cannot be
 * recomputed from the row. A charge that was given back, because its reply was not delivered, became a cost later.
 */
function isBorneAsTold(
  { charged, borne, borneFor }: Borne,
  { admin_info: info, usage_implausible }: Factors,
  bill: Bill | undefined,
): boolean {
  const told = info?.site_cost
  if (!told) return borne === null || (borneFor === 'undelivered' && borne === charged)
  if (borne !== told.amount || borneFor !== told.reason) return false
  return usage_implausible === true || bill === undefined || bill.rounded - charged === told.amount
}

interface LinkedRows {
  readonly user_id: number
  readonly token_id: number
  readonly created_at: number
  readonly ledgerUser: number | null
  readonly ledgerToken: number | null
  readonly ledgerAt: number | null
  readonly kind: string | null
}

function differingColumns({
  user_id,
  token_id,
  created_at,
  ledgerUser,
  ledgerToken,
  ledgerAt,
  kind,
}: LinkedRows): LinkedColumn[] {
  const isEqual = { user_id: user_id === ledgerUser, token_id: token_id === ledgerToken, created_at: created_at === ledgerAt }
  const columns = (['user_id', 'token_id', 'created_at'] as const).filter((column) => !isEqual[column])
  return kind === 'charge' ? columns : [...columns, 'kind']
}
