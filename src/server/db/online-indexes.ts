import { setTimeout as pause } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { droppedBy, type Index, indexOf, isLarge, statementsOf } from './migration-statements.ts'
import { migrations } from './migrations/index.ts'
import type { Database } from './open.ts'
import { queriesOver } from './queries-over.ts'

/**
 * Indexes of large tables on PostgreSQL: to build one within a migration would lock its table for minutes. Migrations leave them out, and a
 * job builds them beside requests, with `concurrently`. Until then the queries that they serve are slow. Which indexes the schema has is
 * read from the migrations themselves.
 */
type Postgres = Extract<Database, { dialect: 'postgres' }>

const progressMs = 1000

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
  const { openUnlimitedPostgres } = await import('./postgres.ts')
  // A build waits for transactions that began before it, for as long as they take.
  const pool = openUnlimitedPostgres(database.direct)
  try {
    for (const { name, text } of missing) {
      await run(`drop index concurrently if exists "${name}"`, name)
      await run(text.replace(/^create index/, 'create index concurrently'), name)
    }
    for (const name of unused) await run(`drop index concurrently if exists "${name}"`, name)
    return missing.length
  } finally {
    await pool.end()
  }

  async function run(text: string, name: string): Promise<void> {
    signal.throwIfAborted()
    const ended = new AbortController()
    const cancel = () => void cancelBuild(database, name)
    signal.addEventListener('abort', cancel)
    const telling = tellProgress(database, { name, tell, signal: ended.signal })
    try {
      await pool.query(text)
    } finally {
      ended.abort()
      signal.removeEventListener('abort', cancel)
      await telling
    }
  }
}

/** What PostgreSQL says of the builds of an index. */
const progressOf = (name: string) =>
  sql`pg_stat_progress_create_index p join pg_class c on c.oid = p.index_relid where c.relname = ${name}`

async function cancelBuild({ db }: Postgres, name: string): Promise<void> {
  await sql`select pg_cancel_backend(p.pid) from ${progressOf(name)}`.execute(db).catch(() => {})
}

async function tellProgress(
  { db }: Postgres,
  { name, tell, signal }: { readonly name: string; readonly tell: (detail: string) => void; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await sql<{ phase: string; percent: number | null }>`
      select p.phase, floor(100.0 * p.blocks_done / nullif(p.blocks_total, 0)) as percent from ${progressOf(name)}`
      .execute(db)
      .catch(() => ({ rows: [] }))
    const [row] = rows
    if (row) tell(row.percent === null ? `${name}: ${row.phase}` : `${name}: ${row.phase}, ${row.percent} %`)
    await pause(progressMs, undefined, { signal, ref: false }).catch(() => {})
  }
}

/** The indexes that all migrations create and keep, and those that one of them drops. Unique ones are never left out. */
async function indexesOfMigrations(): Promise<{ readonly wanted: readonly Index[]; readonly dropped: readonly string[] }> {
  const texts = (await Promise.all(migrations.map((migration) => statementsOf(migration, 'postgres')))).flat()
  const dropped = texts.flatMap((text) => droppedBy(text) ?? [])
  return { wanted: texts.flatMap((text) => indexOf(text) ?? []).filter(({ name }) => !dropped.includes(name)), dropped }
}
