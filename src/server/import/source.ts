/** A value as any of the drivers gives it: integers as numbers, as bigints or as their digits. */
export type SourceValues = Readonly<Record<string, unknown>>

/**
 * The database of another program, of one consistent state, and only for reading. All of its tables but options have an `id` that grows,
 * by which they are read in pages: a table of any length takes the memory of one page.
 */
export interface Source {
  /** What it is, for people. */
  readonly kind: string
  /** The columns of each table. */
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
  /** Rows in the order of their ids, behind `after`; with `since` only those that were created then or later, in unix seconds. */
  page(table: string, where: { readonly after: number; readonly limit: number; readonly since?: number }): Promise<SourceValues[]>
  /** All rows of a short table. */
  all(table: string): Promise<SourceValues[]>
  count(table: string, since?: number): Promise<number>
  close(): Promise<void>
}

/** What the kinds of database differ in. */
export interface SourceConnection {
  readonly kind: string
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
  quoted(name: string): string
  query(text: string): Promise<SourceValues[]>
  close(): Promise<void>
}

/** The queries of an import, which are the same everywhere. Only whole numbers of our own and names of known tables become part of them. */
export function sourceOver(connection: SourceConnection): Source {
  const { kind, tables, quoted, query } = connection
  const created = (since: number | undefined) => (since ? `${quoted('created_at')} >= ${Math.trunc(since)}` : undefined)
  const from = (table: string, conditions: readonly (string | undefined)[]) => {
    const given = conditions.filter((condition) => condition !== undefined)
    return `from ${quoted(table)}${given.length > 0 ? ` where ${given.join(' and ')}` : ''}`
  }
  return {
    kind,
    tables,
    page(table, { after, limit, since }) {
      const rows = from(table, [`${quoted('id')} > ${Math.trunc(after)}`, created(since)])
      return query(`select * ${rows} order by ${quoted('id')} limit ${Math.trunc(limit)}`)
    },
    all: (table) => query(`select * ${from(table, [])}`),
    async count(table, since) {
      const [row] = await query(`select count(*) as rows_there ${from(table, [created(since)])}`)
      return Number(row?.rows_there ?? 0)
    },
    close: () => connection.close(),
  }
}
