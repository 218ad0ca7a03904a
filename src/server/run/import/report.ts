/** The counts of one imported table. */
export interface TableReport {
  read: number
  taken: number
  /** Rows that an earlier run imported. */
  same: number
  /** Imported rows in which a value differs from the source. */
  changed: number
  skipped: number
  refused: number
  /** Null values that were read as an empty text or 0. */
  nulls: number
  readonly findings: Finding[]
}

interface Finding {
  readonly kind: 'refused' | 'skipped' | 'changed' | 'noted'
  readonly what: string
  rows: number
  /** The first thousand source ids, with the value concerned. */
  readonly ids: { readonly id: number | string; readonly value?: string }[]
}

/** Quota units as strings of digits, because the sum of many balances may exceed the safe integers. */
interface BalanceReport {
  /** The sum of all balances in the source. */
  readonly source: string
  /** The sum of the opening balances that this run credited. */
  readonly opened: string
  /** The grant of the first start to its super admin, which the import reverses. */
  readonly takenBack: string
  readonly before: string
  readonly after: string
  /** Whether after = before - takenBack + opened. */
  readonly agree: boolean
}

export interface ImportReport {
  readonly source: { readonly family: string; readonly kind: string; readonly version: string }
  readonly dryRun: boolean
  readonly tables: Readonly<Record<string, TableReport>>
  readonly balances: BalanceReport
  /** Tables with rows, and columns, that have no counterpart in Sluice. */
  readonly withoutCounterpart: readonly string[]
}

const idsMax = 1000

export function newTableReport(): TableReport {
  return { read: 0, taken: 0, same: 0, changed: 0, skipped: 0, refused: 0, nulls: 0, findings: [] }
}

export function addFinding(
  table: TableReport,
  kind: Finding['kind'],
  { what, value }: { readonly what: string; readonly value?: string },
  id: number | string,
): void {
  const finding = findingOf(table, kind, what)
  finding.rows++
  if (finding.ids.length < idsMax) finding.ids.push({ id, ...(value === undefined ? {} : { value }) })
}

/** Adds the counts and findings of one batch. */
export function addReport(table: TableReport, { findings, ...counts }: TableReport): void {
  for (const name of Object.keys(counts) as (keyof typeof counts)[]) table[name] += counts[name]
  for (const part of findings) {
    const finding = findingOf(table, part.kind, part.what)
    finding.rows += part.rows
    finding.ids.push(...part.ids.slice(0, idsMax - finding.ids.length))
  }
}

function findingOf(table: TableReport, kind: Finding['kind'], what: string): Finding {
  const known = table.findings.find((one) => one.kind === kind && one.what === what)
  if (known) return known
  const finding: Finding = { kind, what, rows: 0, ids: [] }
  table.findings.push(finding)
  return finding
}

/** The report as text. */
export function linesOfReport({ source, dryRun, tables, balances, withoutCounterpart }: ImportReport): string[] {
  return [
    `${source.family} ${source.version}, ${source.kind}${dryRun ? ': a dry run, nothing was written' : ''}`,
    ...Object.entries(tables).flatMap(([name, table]) => [
      `${name.padEnd(13)} ${table.read} read, ${table.taken} taken (${table.changed} changed), ${table.same} taken before, ${table.skipped} skipped, ${table.refused} refused${table.nulls > 0 ? `; null read as empty: ${table.nulls}` : ''}`,
      ...table.findings.map(({ kind, what, rows, ids }) => `  ${kind}: ${what} (${rows}): ${shown(ids, rows)}`),
    ]),
    `Balances      source ${balances.source}; here before ${balances.before}, taken back ${balances.takenBack}, opened ${balances.opened}, after ${balances.after}: ${balances.agree ? 'they agree' : 'THEY DIFFER'}`,
    ...(withoutCounterpart.length > 0 ? [`Without counterpart here: ${withoutCounterpart.join(', ')}`] : []),
  ]
}

function shown(ids: Finding['ids'], rows: number): string {
  const first = ids.slice(0, 10).map(({ id, value }) => (value === undefined ? `${id}` : `${id} ${value}`))
  return first.join(', ') + (rows > first.length ? ' …' : '')
}
