import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Row } from '../../base/db/schema.ts'
import type { Core } from '../../base/options/core.ts'

/**
 * The ledger's high-water mark, stored in a file beside the database. A database restored to an older state is consistent in
 * itself, so no sum in it reveals the missing rows; this mark does.
 */
interface Mark {
  /** The identity of the database: the mark of another one, such as a database created again, is ignored. */
  readonly database: string
  readonly id: number
  readonly reference: string
  /** Unix seconds. */
  readonly at: number
}

/** Charges and credits of this time are missing from the ledger. Unix seconds. */
export interface LedgerGap {
  readonly from: number
  readonly to: number
}

type Last = Pick<Row<'ledger'>, 'id' | 'reference' | 'created_at'>

/** Rows that the ledger lost since the mark was made, if any. */
export async function findLedgerGap(core: Core): Promise<LedgerGap | undefined> {
  const mark = readMark(core)
  if (!mark || mark.database !== (await nameOf(core))) return undefined
  const row = await core.db.selectFrom('ledger').select('reference').where('id', '=', mark.id).executeTakeFirst()
  if (row?.reference === mark.reference) return undefined
  // New rows reuse the ids of the lost ones, so the remaining rows are found by time: the last one at or before the mark.
  const before = await lastRow(core, mark.at)
  return { from: before?.created_at ?? 0, to: mark.at }
}

/** Stores the last row of the ledger as the mark. */
export async function markLedger(core: Core): Promise<void> {
  const last = await lastRow(core)
  if (!last) return
  const mark: Mark = { database: await nameOf(core), id: last.id, reference: last.reference, at: last.created_at }
  const file = fileOf(core)
  mkdirSync(core.env.DATA_DIR, { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.new`, JSON.stringify(mark), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function lastRow({ db }: Core, beforeSeconds?: number): Promise<Last | undefined> {
  return db
    .selectFrom('ledger')
    .select(['id', 'reference', 'created_at'])
    .$if(beforeSeconds !== undefined, (query) => query.where('created_at', '<=', beforeSeconds ?? 0))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The first data key identifies the database: it is generated when a database is created. */
async function nameOf({ db }: Core): Promise<string> {
  const key = await db.selectFrom('key_ring').select('id').orderBy('created_at').orderBy('id').executeTakeFirst()
  return key?.id ?? ''
}

function readMark(core: Core): Mark | undefined {
  try {
    // Only `markLedger` writes this file.
    return JSON.parse(readFileSync(fileOf(core), 'utf8')) as Mark
  } catch {
    return undefined
  }
}

function fileOf({ env }: Core): string {
  return join(env.DATA_DIR, 'ledger-mark.json')
}
