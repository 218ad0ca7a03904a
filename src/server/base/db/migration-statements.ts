import { type Kysely, sql } from 'kysely'
import type { Dialect } from './columns.ts'
import type { Migration } from './migrations/index.ts'
import { queriesOver } from './queries-over.ts'

/** The statements of migrations, and what they say about indexes. */
export interface Index {
  readonly name: string
  readonly table: string
  /** What follows the name of the table in the statement that creates it. */
  readonly definition: string
}

/** A table with more rows is large: an index of that many is built within about 50 ms. */
const rowsMax = 10_000

/** The statements that a migration would run on a database without rows. */
export async function statementsOf({ up }: Migration, dialect: Dialect): Promise<readonly string[]> {
  const texts: string[] = []
  const recorded = queriesOver<unknown>(dialect, async ({ sql }) => {
    texts.push(sql)
    return []
  })
  await up(recorded, dialect)
  return texts
}

/** The index that a statement creates; undefined for a unique one, which has to be there at once. */
export function indexOf(text: string): Index | undefined {
  const [, name, table, definition] = /^\s*create index "?(\w+)"? on "?(\w+)"?(.*)/s.exec(text) ?? []
  return name && table && definition ? { name, table, definition: definition.trim() } : undefined
}

/** The name of the index that a statement drops. */
export function droppedBy(text: string): string | undefined {
  return /^\s*drop index "?(\w+)"?/.exec(text)?.[1]
}

/** The table whose definition a statement changes. */
export function changedBy(text: string): string | undefined {
  return /^\s*alter table "?(\w+)"?/.exec(text)?.[1] ?? indexOf(text)?.table
}

/** Whether a table of PostgreSQL has so many rows that its indexes are built beside requests. A table that does not exist is not large. */
export async function isLarge<Schema>(db: Kysely<Schema>, table: string): Promise<boolean> {
  const { rows: found } = await sql`select 1 where to_regclass(${table}) is not null`.execute(db)
  if (found.length === 0) return false
  const { rows } = await sql`select 1 from ${sql.table(table)} offset ${rowsMax} limit 1`.execute(db)
  return rows.length > 0
}
