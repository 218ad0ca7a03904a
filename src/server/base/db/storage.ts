import { type Kysely, sql } from 'kysely'
import type { Dialect } from './columns.ts'

/** The disk that a database takes, in bytes. */
interface Storage {
  readonly bytes: number
  /** Deleted space within the file of SQLite, which new rows reuse and `sluice compact` gives back; 0 on PostgreSQL. */
  readonly unusedBytes: number
}

export interface TableSize {
  readonly name: string
  /** With its indexes. */
  readonly bytes: number
  /** 0 for a table that is not partitioned. */
  readonly partitions: number
}

export async function storageOf<Schema>({ dialect, db }: Queried<Schema>): Promise<Storage> {
  const query =
    dialect === 'sqlite'
      ? sql<{ bytes: number; unused: number }>`
          select page_count * page_size as bytes, freelist_count * page_size as unused
          from pragma_page_count, pragma_freelist_count, pragma_page_size`
      : sql<{ bytes: number; unused: number }>`select pg_database_size(current_database()) as bytes, 0 as unused`
  const [row] = (await query.execute(db)).rows
  return { bytes: row?.bytes ?? 0, unusedBytes: row?.unused ?? 0 }
}

/** Every table, the largest first. On SQLite this reads the whole file. */
export async function tableSizes<Schema>({ dialect, db }: Queried<Schema>): Promise<readonly TableSize[]> {
  const query =
    dialect === 'sqlite'
      ? sql<TableSize>`
          select coalesce(s.tbl_name, d.name) as name, sum(d.pgsize) as bytes, 0 as partitions
          from dbstat d left join sqlite_schema s on s.name = d.name
          where d.aggregate = 1 group by 1 order by bytes desc, name`
      : sql<TableSize>`
          select coalesce(whole.relname, c.relname) as name, sum(pg_total_relation_size(c.oid)) as bytes, count(whole.oid) as partitions
          from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class whole on whole.oid = i.inhparent
          where c.relkind = 'r' and pg_table_is_visible(c.oid) and c.relnamespace <> 'pg_catalog'::regnamespace
          group by 1 order by bytes desc, name`
  return (await query.execute(db)).rows
}

interface Queried<Schema> {
  readonly dialect: Dialect
  readonly db: Kysely<Schema>
}
