/** Values as the driver returns them: integers may be numbers, bigints or strings of digits. */
export type SourceValues = Readonly<Record<string, unknown>>

/**
 * A read-only, consistent snapshot of the database of another program. Every table except `options` has an ascending `id` and is read in pages
 * by it, so that memory use is that of one page.
 */
export interface Source {
  /** The kind of database, for the report. */
  readonly kind: string
  /** The columns of each table. */
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
  /** Rows with ids greater than `after`, ordered by id; with `since` (unix seconds) only rows created then or later. */
  page(table: string, where: { readonly after: bigint; readonly limit: number; readonly since?: number }): Promise<SourceValues[]>
  /** All rows of a short table. */
  all(table: string): Promise<SourceValues[]>
  count(table: string, since?: number): Promise<number>
  close(): Promise<void>
}

/** The id of a row, exact even beyond the safe range of numbers, so that the next page begins after it. */
export function exactId({ id }: SourceValues): bigint {
  return BigInt(String(id))
}

/** The part of a source that differs between databases. */
export interface SourceConnection {
  readonly kind: string
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
  quoted(name: string): string
  query(text: string): Promise<SourceValues[]>
  close(): Promise<void>
}

/** Builds the queries, which are the same for every database. Only integers and the names of known tables become part of their text. */
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
      const rows = from(table, [`${quoted('id')} > ${after}`, created(since)])
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
