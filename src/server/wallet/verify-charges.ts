import { setImmediate } from 'node:timers/promises'
import { billOf } from '../../contract/bill.ts'
import { logType } from '../../contract/entities/log.ts'
import { readFactors } from '../../contract/log-factors.ts'
import type { Queries } from '../db/open.ts'
import { lastImportedLogId } from '../usage/imported-logs.ts'

/** A charge whose log row, ledger row and recomputed amount are not equal. Amounts in units. */
export interface ChargeDifference {
  readonly requestId: string
  readonly charged: number
  /** Undefined when the ledger has no row for the request. */
  readonly ledger: number | undefined
  /** Computed from the factors of the log row; undefined when the row lacks one. */
  readonly recomputed: number | undefined
}

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
 * Compares every charge of the log with the ledger, and with the amount computed from its own factors. Reads the whole log in pages;
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
        .where('kind', '=', 'charge')
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
      const units = billOf({ quota: charged, factors: readFactors(row.other) })?.units
      rows++
      if (ledger !== undefined) matched++
      if (units !== undefined) recomputed++
      if (ledger === charged && (units === undefined || units === charged)) continue
      differing++
      if (differences.length < differencesMax) differences.push({ requestId: row.request_id, charged, ledger, recomputed: units })
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
    .select(['logs.id', 'logs.request_id', 'logs.quota as charged', 'logs.other', 'ledger.amount'])
    .where('logs.type', '=', logType.consume)
    .where('logs.id', '>', after)
    .where('logs.id', '<=', last)
    .orderBy('logs.id')
    .limit(pageSize)
    .execute()
  return rows.map(({ amount, ...row }) => ({ ...row, ledger: amount === null ? undefined : 0 - amount }))
}
