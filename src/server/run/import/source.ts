import { strangenessOf, type TableShape } from './table-shapes.ts'

/** Values as the driver returns them: integers may be numbers, bigints or strings of digits. */
export type SourceValues = Readonly<Record<string, unknown>>

/**
 * A read-only, consistent snapshot of the database of another program. Every table that is imported, except `options`, has an ascending
 * `id` and is read in pages by it, so that memory use is that of one page.
 */
export interface Source {
  /** The kind of database, for the report. */
  readonly kind: string
  /** The columns of each table, also of foreign ones, which have any shape. */
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
  /** Tables that have the name of one that is imported and are another one, and why. They are not among `tables`. */
  readonly left: ReadonlyMap<string, string>
  /**
   * Rows with ids greater than `after`, ordered by id; with `since` (unix seconds) only rows created then or later. Fewer than `limit` when
   * they are large; none after the last. Of rows with one id only the first.
   */
  page(table: string, where: { readonly after: bigint; readonly limit: number; readonly since?: number }): Promise<SourceValues[]>
  /** All rows of a short table. Throws when it is long. */
  all(table: string): Promise<SourceValues[]>
  count(table: string, since?: number): Promise<number>
  /** Whether a foreign table has rows, or cannot be read. */
  hasRows(table: string): Promise<boolean>
  close(): Promise<void>
}

/** The id of a row, exact even beyond the safe range of numbers, so that the next page begins after it. */
export function exactId({ id }: SourceValues): bigint {
  return BigInt(String(id))
}

/** The part of a source that differs between databases. */
interface SourceConnection {
  readonly kind: string
  readonly shapes: readonly TableShape[]
  quoted(name: string): string
  /** The expression for the number of bytes of a quoted column. */
  bytesOf(column: string): string
  /** Where a column of integers may have other values: the condition that it has one. */
  readonly hasInteger?: (column: string) => string
  query(text: string): Promise<SourceValues[]>
  /** A query whose failure leaves the connection usable. */
  attempt?(text: string): Promise<SourceValues[]>
  close(): Promise<void>
}

/** The bytes of one page, unless one row alone has more. */
const pageBytesMax = 16 << 20
const rowBytesMax = 128 << 20
const shortRowsMax = 10_000

/** Builds the queries, which are the same for every database. Only integers and the names of known tables become part of their text. */
export function sourceOver(connection: SourceConnection): Source {
  const { kind, shapes, quoted, query, hasInteger, attempt = query } = connection
  const id = quoted('id')
  const created = (since: number | undefined) => (since ? `${quoted('created_at')} >= ${Math.trunc(since)}` : undefined)
  const from = (table: string, conditions: readonly (string | undefined)[]) => {
    const given = conditions.filter((condition) => condition !== undefined)
    return `from ${quoted(table)}${given.length > 0 ? ` where ${given.join(' and ')}` : ''}`
  }
  const strange = shapes.flatMap((shape) => {
    const why = strangenessOf(shape)
    return why === undefined ? [] : [[shape.name, why] as const]
  })
  const left = new Map(strange)
  const byteSums = new Map(shapes.map(({ name, columns }) => [name, byteSumOf(connection, columns)]))
  return {
    kind,
    left,
    tables: new Map(shapes.filter(({ name }) => !left.has(name)).map(({ name, columns }) => [name, new Set(columns.keys())])),
    async page(table, { after, limit, since }) {
      const rows = from(table, [`${id} > ${after}`, hasInteger?.(id), created(since)])
      const sizes = await query(
        `select ${id}, ${byteSums.get(table) ?? 0} as bytes_there ${rows} order by ${id} limit ${Math.trunc(limit)}`,
      )
      const page = await query(`select * ${rows} order by ${id} limit ${fitting(table, sizes)}`)
      return page.filter((row, at) => at === 0 || exactId(row) !== exactId(page[at - 1] ?? row))
    },
    async all(table) {
      const rows = await query(`select * ${from(table, [])} limit ${shortRowsMax + 1}`)
      if (rows.length > shortRowsMax)
        throw new Error(`${table} has more than ${shortRowsMax} rows: it is not a table of settings`)
      return rows
    },
    async count(table, since) {
      const [row] = await query(`select count(*) as rows_there ${from(table, [created(since)])}`)
      return Number(row?.rows_there ?? 0)
    },
    hasRows: (table) =>
      attempt(`select 1 as found ${from(table, [])} limit 1`).then(
        (rows) => rows.length > 0,
        () => true,
      ),
    close: () => connection.close(),
  }
}

/** The expression for the bytes of a row in columns that can be long. */
function byteSumOf({ quoted, bytesOf }: SourceConnection, columns: TableShape['columns']): string {
  const long = [...columns].flatMap(([name, isInteger]) => (isInteger ? [] : [`coalesce(${bytesOf(quoted(name))}, 0)`]))
  return long.join(' + ') || '0'
}

/** How many of the next rows are read together, at least one. Throws when the first alone is too large to be read. */
function fitting(table: string, sizes: readonly SourceValues[]): number {
  let bytes = 0
  for (const [at, row] of sizes.entries()) {
    bytes += Number(row.bytes_there)
    if (at === 0 && bytes > rowBytesMax)
      throw new Error(
        `${table}: the row with the id ${exactId(row)} has ${bytes >> 20} MB, more than the ${rowBytesMax >> 20} MB that a row may have. Shorten it in the source`,
      )
    if (at > 0 && bytes > pageBytesMax) return at
  }
  return Math.max(1, sizes.length)
}
