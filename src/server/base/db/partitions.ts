import { type Kysely, sql } from 'kysely'

/** A partition of a table of PostgreSQL by ranges of whole numbers. */
export interface Partition {
  readonly name: string
  /** The first value that it does not hold; undefined for the one that holds what no other does. */
  readonly end: number | undefined
}

/** The partitions of a table, in the order of their values; none for a table that is not partitioned. */
export async function partitionsOf<Schema>(db: Kysely<Schema>, table: string): Promise<readonly Partition[]> {
  const { rows } = await sql<{ name: string; bound: string }>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass(${table})`.execute(db)
  return rows
    .map(({ name, bound }) => ({ name, end: endIn(bound) }))
    .sort((one, other) => (one.end ?? Number.POSITIVE_INFINITY) - (other.end ?? Number.POSITIVE_INFINITY))
}

export async function isPartitioned<Schema>(db: Kysely<Schema>, table: string): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_partitioned_table where partrelid = to_regclass(${table})`.execute(db)
  return rows.length > 0
}

/** A bound reads `FOR VALUES FROM ('1762000000') TO ('1764547200')`, or `DEFAULT`. */
function endIn(bound: string): number | undefined {
  const [, end] = /TO \('?(\d+)'?\)/.exec(bound) ?? []
  return end === undefined ? undefined : Number(end)
}
