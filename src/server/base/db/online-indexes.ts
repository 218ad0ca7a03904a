import { type Kysely, sql } from 'kysely'
import { droppedBy, type Index, indexOf, isLarge, statementsOf } from './migration-statements.ts'
import { migrations } from './migrations/index.ts'
import type { OnlineSchema, Postgres } from './online-schema.ts'
import type { Queries } from './open.ts'
import { isPartitioned, partitionsOf } from './partitions.ts'
import { queriesOver } from './queries-over.ts'

/**
 * Indexes of large tables on PostgreSQL: to build one within a migration would lock its table for minutes. Migrations leave them out, and a
 * job builds them beside requests, with `concurrently`. Until then the queries that they serve are slow. Which indexes the schema has is
 * read from the migrations themselves.
 */

/** The queries of a migration, which leaves indexes of large tables out, and keeps those that they replace. */
export function withoutLargeIndexes(within: Kysely<unknown>): Kysely<unknown> {
  let leftOut = 0
  return queriesOver('postgres', async (query) => {
    const index = indexOf(query.sql)
    if (index && (await isLarge(within, index.table))) leftOut++
    else if (leftOut === 0 || droppedBy(query.sql) === undefined) return (await within.executeQuery(query)).rows
    return []
  })
}

/** The indexes that the schema of this version has and this database has not, and those that are no longer used. */
export async function indexesToBuild({
  db,
}: Postgres): Promise<{ readonly missing: readonly Index[]; readonly unused: readonly string[] }> {
  const { wanted, dropped } = await indexesOfMigrations()
  const { rows } = await sql<{ name: string; valid: boolean }>`
    select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
    where pg_table_is_visible(i.indrelid)`.execute(db)
  const valid = new Set(rows.filter((row) => row.valid).map(({ name }) => name))
  const present = new Set(rows.map(({ name }) => name))
  return { missing: wanted.filter(({ name }) => !valid.has(name)), unused: dropped.filter((name) => present.has(name)) }
}

/** Builds what is missing, one after the other, then drops what is unused. An interrupted build begins again. Returns how many it built. */
export async function buildIndexes(database: Postgres, signal: AbortSignal, tell: (detail: string) => void): Promise<number> {
  const { missing, unused } = await indexesToBuild(database)
  if (missing.length + unused.length === 0) return 0
  const { OnlineSchema } = await import('./online-schema.ts')
  const schema = new OnlineSchema(database, signal, tell)
  try {
    for (const index of missing) {
      if (await isPartitioned(database.db, index.table)) await buildOfPartitions(database, schema, index)
      else await build(schema, index)
    }
    for (const name of unused) await dropUnused(database, schema, name)
    return missing.length
  } finally {
    await schema.close()
  }
}

async function build(schema: OnlineSchema, { name, table, definition }: Index): Promise<void> {
  await schema.long(`drop index concurrently if exists "${name}"`, name)
  await schema.long(`create index concurrently "${name}" on "${table}" ${definition}`, name)
}

/** PostgreSQL builds the index of a partitioned table beside requests only partition by partition; the whole then takes these over. */
async function buildOfPartitions({ db }: Postgres, schema: OnlineSchema, { name, table, definition }: Index): Promise<void> {
  for (const partition of await partitionsOf(db, table)) {
    const part = { name: nameOfPart(name, table, partition.name), table: partition.name, definition }
    if (!(await isValid(db, part.name))) await build(schema, part)
  }
  await schema.brief([table], async (run) => {
    // An interrupted run may have left it without all of its parts.
    await run(`drop index if exists "${name}"`)
    await run(`create index "${name}" on "${table}" ${definition}`)
  })
}

/** The index of a partition: that of the table, with the name of the partition in place of the table's. */
export function nameOfPart(index: string, table: string, partition: string): string {
  return `${partition}_${index.replace(`${table}_`, '')}`.slice(0, identifierMax)
}

/** Greatest length of a name in PostgreSQL. */
const identifierMax = 63

async function isValid(db: Queries, name: string): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_index where indexrelid = to_regclass(${name}) and indisvalid`.execute(db)
  return rows.length > 0
}

async function dropUnused({ db }: Postgres, schema: OnlineSchema, name: string): Promise<void> {
  const { rows } = await sql`select 1 from pg_class where oid = to_regclass(${name}) and relkind = 'I'`.execute(db)
  // PostgreSQL drops the index of a partitioned table only at once.
  if (rows.length > 0) await schema.brief([], (run) => run(`drop index "${name}"`))
  else await schema.long(`drop index concurrently if exists "${name}"`, name)
}

/** The indexes that all migrations create and keep, and those that one of them drops. Unique ones are never left out. */
async function indexesOfMigrations(): Promise<{ readonly wanted: readonly Index[]; readonly dropped: readonly string[] }> {
  const texts = (await Promise.all(migrations.map((migration) => statementsOf(migration, 'postgres')))).flat()
  const dropped = texts.flatMap((text) => droppedBy(text) ?? [])
  return { wanted: texts.flatMap((text) => indexOf(text) ?? []).filter(({ name }) => !dropped.includes(name)), dropped }
}
