import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { continueIds } from '../../base/db/backup.ts'
import type { Within } from '../../base/db/open.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { recordAudit } from '../../base/options/audit.ts'
import type { Core } from '../../base/options/core.ts'
import { takeChannel } from './channels.ts'
import type { Entity, Import, IntoExisting } from './context.ts'
import { type Family, requireFamily } from './families.ts'
import { takeHours } from './hours.ts'
import { takeLogs } from './logs.ts'
import { takeOptions } from './options.ts'
import { takeDrawing, takeTask, takeTopUp, unitsPerUsdOf } from './orders.ts'
import { takeRedemption } from './redemptions.ts'
import { addFinding, addReport, type ImportReport, newTableReport, type TableReport } from './report.ts'
import { exactId, type Source } from './source.ts'
import { Refused, Skipped, SourceRow } from './source-row.ts'
import { takeToken } from './tokens.ts'
import { compareUser, takeUser } from './users.ts'

export interface ImportOrder {
  readonly family: Family
  readonly source: Source
  /** The database of the log, if it is separate from `source`. */
  readonly logs?: Source | undefined
  /** Only log rows from this time on, in unix seconds; 0 for all. */
  readonly logsSince?: number
  readonly intoExisting: IntoExisting
  readonly dryRun: boolean
  readonly onProgress?: (text: string) => void
}

/** The import of one table. */
interface Step {
  /** Its name in the source and in Sluice. */
  readonly table: Entity
  /** Inserts a row and returns its new id. Throws `Refused` or `Skipped`. */
  readonly take: (run: Import, within: Within, row: SourceRow) => Promise<number>
  /** Compares a row with the one that an earlier run imported. */
  readonly compare?: (run: Import, within: Within, row: SourceRow, id: number) => Promise<void>
  /** A column with random values, which identify a source database. */
  readonly secret?: string
}

const steps: readonly Step[] = [
  { table: 'users', take: takeUser, compare: compareUser, secret: 'password' },
  { table: 'tokens', take: takeToken, secret: 'key' },
  { table: 'channels', take: takeChannel, secret: 'key' },
  { table: 'redemptions', take: takeRedemption, secret: 'key' },
  { table: 'top_ups', take: takeTopUp },
  { table: 'midjourneys', take: takeDrawing },
  { table: 'tasks', take: takeTask },
]

const batchSize = 200
const logBatchSize = 1000
const knownAgainBy = 500

/** Runs work in a transaction: one for each batch, or in a dry run a single one that is rolled back. */
type InTransaction = <Result>(work: (within: Within) => Promise<Result>) => Promise<Result>

/**
 * Imports a database. Rows that an earlier run imported are left unchanged. Each batch is one transaction, which also records its rows in
 * `imported_rows`, so that the next run continues an interrupted one. A dry run does the same in one transaction that is rolled back.
 */
export async function runImport(core: Core, order: ImportOrder): Promise<ImportReport> {
  requireFamily(order.family, order.source)
  if (!order.dryRun) return importRows(core, order, (work) => core.db.transaction().execute(work))
  let report: ImportReport | undefined
  await core.db
    .transaction()
    .execute(async (within) => {
      // The transaction is idle while the source is read.
      if (core.database.dialect === 'postgres') await sql`set local idle_in_transaction_session_timeout = 0`.execute(within)
      report = await importRows(core, order, (work) => work(within))
      throw new RollBack()
    })
    .catch((error: unknown) => {
      if (!(error instanceof RollBack)) throw error
    })
  if (!report) throw new Error('The dry run did not finish')
  return report
}

class RollBack extends Error {}

async function importRows(core: Core, order: ImportOrder, inTransaction: InTransaction): Promise<ImportReport> {
  const { family, source, logs = source, logsSince = 0, intoExisting, dryRun, onProgress = () => {} } = order
  const begun = await inTransaction((within) => beginImport(core, within, family, source))
  const sums = noSums()
  const unitsPerUsd = await unitsPerUsdOf({ source })
  const run: Import = { core, ...begun, family, source, intoExisting, unitsPerUsd, sums, onProgress }
  const tables: Record<string, TableReport> = {}
  const before = await inTransaction(totalBalance)

  for (const step of steps) {
    if (!hasTable(family, source, step.table)) continue
    tables[step.table] = await takeTable(run, step, inTransaction)
  }
  if (hasTable(family, source, 'options')) {
    tables.options = newTableReport()
    await inBatch(run, tables.options, inTransaction, takeOptions)
  }
  const pages = { inTransaction, since: logsSince }
  if (hasTable(family, logs, 'logs'))
    tables.logs = await takePages(run, logs, { ...pages, name: 'logs', size: logBatchSize, take: takeLogs })
  if (hasTable(family, source, 'quota_data'))
    tables.quota_data = await takePages(run, source, { ...pages, since: 0, name: 'quota_data', size: batchSize, take: takeHours })

  const after = await inTransaction(totalBalance)
  const balances = {
    source: String(sums.source),
    opened: String(sums.opened),
    takenBack: String(sums.takenBack),
    before: String(before),
    after: String(after),
    agree: after === before - sums.takenBack + sums.opened,
  }
  const report: ImportReport = {
    source: { family: family.name, kind: source.kind, version: await family.version(source) },
    dryRun,
    tables,
    balances,
    withoutCounterpart: await withoutCounterpart(family, source),
  }
  if (!dryRun) await finish(run, report, inTransaction)
  return report
}

/** Whether a source has a table of its program; what a program of another family calls so is foreign. */
function hasTable({ columns }: Family, { tables }: Source, table: string): boolean {
  return tables.has(table) && Object.hasOwn(columns, table)
}

/** The earlier import of this database, or a new one. */
async function beginImport(
  core: Core,
  within: Within,
  family: Family,
  source: Source,
): Promise<{ id: number; keepsIds: boolean }> {
  for (const { table, secret } of steps) {
    if (!secret || !hasTable(family, source, table)) continue
    const rows = (await source.page(table, { after: 0n, limit: knownAgainBy })).map((values) => new SourceRow(values))
    const marks = new Map(rows.map((row) => [markOf(core, row, secret), row.id]))
    if (marks.size === 0) continue
    const known = await within
      .selectFrom('imported_rows')
      .innerJoin('imports', 'imports.id', 'imported_rows.import_id')
      .select(['imports.id', 'imports.keeps_ids', 'mark', 'source_id'])
      .where('family', '=', family.name)
      .where('entity', '=', table)
      .where('mark', 'in', [...marks.keys()])
      .execute()
    const earlier = known.find(({ mark, source_id }) => marks.get(mark) === source_id)
    if (earlier) return { id: earlier.id, keepsIds: earlier.keeps_ids === 1 }
  }
  const keepsIds = !family.withoutIds && (await isUnused(within))
  const { id } = await within
    .insertInto('imports')
    .values({ family: family.name, keeps_ids: Number(keepsIds), started_at: seconds(core.now()) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, keepsIds }
}

/** Whether the site is unused: it has at most the super admin of the first start. */
async function isUnused(within: Within): Promise<boolean> {
  for (const table of ['tokens', 'channels', 'redemptions', 'top_ups', 'imports'] as const)
    if (await within.selectFrom(table).select('id').limit(1).executeTakeFirst()) return false
  const users = await within.selectFrom('users').select('id').limit(2).execute()
  const booked = await within.selectFrom('ledger').select('id').limit(2).execute()
  return users.length <= 1 && booked.length <= 1
}

function takeTable(run: Import, step: Step, inTransaction: InTransaction): Promise<TableReport> {
  return takePages(run, run.source, {
    inTransaction,
    since: 0,
    name: step.table,
    size: batchSize,
    async take(_run, within, rows, table) {
      await takeBatch(run, within, step, { rows, table })
      if (run.core.database.dialect === 'postgres') await continueIds(within, [step.table])
    },
  })
}

interface Pages {
  readonly inTransaction: InTransaction
  readonly since: number
  readonly name: string
  readonly size: number
  readonly take: (run: Import, within: Within, rows: readonly SourceRow[], table: TableReport) => Promise<void>
}

/** Imports a table page by page, each page in one transaction. */
async function takePages(run: Import, source: Source, { inTransaction, since, name, size, take }: Pages): Promise<TableReport> {
  const table = newTableReport()
  const total = await source.count(name, since)
  for (let after = -(2n ** 63n); ; ) {
    const page = await source.page(name, { after, limit: size, since })
    const last = page.at(-1)
    if (!last) break
    await inBatch(run, table, inTransaction, (batch, within, part) =>
      take(
        batch,
        within,
        page.map((values) => new SourceRow(values)),
        part,
      ),
    )
    after = exactId(last)
    run.onProgress(`${name} ${table.read} of ${total}`)
    await setImmediate()
  }
  const without = total - table.read
  if (without > 0) {
    table.read = total
    table.refused += without
    table.findings.push({
      kind: 'refused',
      what: 'its id is empty, not an integer, or that of another row',
      rows: without,
      ids: [],
    })
  }
  return table
}

/** Runs a batch in a transaction. Its counts are added after the commit, because the database may repeat the transaction. */
async function inBatch(
  run: Import,
  table: TableReport,
  inTransaction: InTransaction,
  work: (batch: Import, within: Within, part: TableReport) => Promise<void>,
): Promise<void> {
  const { part, sums } = await inTransaction(async (within) => {
    const part = newTableReport()
    const sums = noSums()
    await work({ ...run, sums }, within, part)
    return { part, sums }
  })
  addReport(table, part)
  run.sums.source += sums.source
  run.sums.opened += sums.opened
  run.sums.takenBack += sums.takenBack
}

function noSums(): Import['sums'] {
  return { source: 0n, opened: 0n, takenBack: 0n }
}

interface Batch {
  readonly rows: readonly SourceRow[]
  readonly table: TableReport
}

async function takeBatch(run: Import, within: Within, step: Step, { rows, table }: Batch): Promise<void> {
  const known = await within
    .selectFrom('imported_rows')
    .select(['source_id', 'row_id'])
    .where('import_id', '=', run.id)
    .where('entity', '=', step.table)
    .where(
      'source_id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute()
  const taken = new Map(known.map(({ source_id, row_id }) => [source_id, row_id]))
  for (const row of rows) {
    table.read++
    const earlier = taken.get(row.id)
    await takeRow(run, within, step, { row, table, earlier })
    for (const finding of row.changes) addFinding(table, 'changed', finding, row.id)
    for (const finding of row.notes) addFinding(table, 'noted', finding, row.id)
    if (step.table === 'users') run.sums.source += row.units('quota')
  }
}

async function takeRow(
  run: Import,
  within: Within,
  step: Step,
  { row, table, earlier }: { row: SourceRow; table: TableReport; earlier: number | undefined },
): Promise<void> {
  try {
    if (earlier !== undefined) {
      await step.compare?.(run, within, row, earlier)
      table.same++
      return
    }
    const row_id = await step.take(run, within, row)
    const mark = step.secret ? markOf(run.core, row, step.secret) : ''
    await within
      .insertInto('imported_rows')
      .values({ import_id: run.id, entity: step.table, source_id: row.id, row_id, mark })
      .execute()
    table.taken++
    table.nulls += row.nulls
    if (row.changes.length > 0) table.changed++
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Skipped)) throw error
    const kind = error instanceof Refused ? 'refused' : 'skipped'
    table[kind]++
    row.changes.length = 0
    addFinding(table, kind, { what: error.message }, row.id)
  }
}

function markOf({ secrets }: Core, row: SourceRow, secret: string): string {
  return secrets.mac('import', `${row.id} ${row.text(secret)}`)
}

async function totalBalance(within: Within): Promise<bigint> {
  const { rows } = await sql<{ total: string | null }>`select cast(sum(quota) as text) as total from users`.execute(within)
  return BigInt(rows[0]?.total ?? 0)
}

async function withoutCounterpart({ columns }: Family, source: Source): Promise<string[]> {
  const found: string[] = []
  for (const [table, given] of source.tables) {
    if (table.startsWith('sqlite_') || ownColumnsOf(columns, table) === '*') continue
    const known = new Set(ownColumnsOf(columns, table)?.split(' '))
    if (known.size > 0) found.push(...[...given].filter((column) => !known.has(column)).map((column) => `${table}.${column}`))
    else if (await source.hasRows(table)) found.push(table)
  }
  for (const [table, why] of source.left) if (ownColumnsOf(columns, table) !== '*') found.push(`${table} (${why})`)
  return found.sort()
}

/** A foreign table may be called `constructor`. */
function ownColumnsOf(columns: Family['columns'], table: string): string | undefined {
  return Object.hasOwn(columns, table) ? columns[table] : undefined
}

/** Writes the audit entry and notifies the nodes, unless the run imported nothing. */
async function finish(
  { core, id, family }: Import,
  { tables, balances }: ImportReport,
  inTransaction: InTransaction,
): Promise<void> {
  const taken = Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, table.taken]))
  if (Object.values(taken).every((count) => count === 0)) return
  const after = { taken, opened: balances.opened, taken_back: balances.takenBack }
  await inTransaction((within) =>
    recordAudit(core, within, { caller: undefined, action: `import.${family.name}`, target: `import:${id}`, after }),
  )
  for (const topic of ['options', 'channels', 'user', 'token'] as const) core.bus.publish(topic)
}
