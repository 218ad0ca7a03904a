import { setTimeout as pause } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type pg from 'pg'
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
  const pool = openUnlimitedPostgres(database.url)
  try {
    for (const { name, text } of missing) {
      await run(`drop index concurrently if exists "${name}"`)
      await run(text.replace(/^create index/, 'create index concurrently'), name)
    }
    for (const name of unused) await run(`drop index concurrently if exists "${name}"`)
    return missing.length
  } finally {
    await pool.end()
  }

  async function run(text: string, building?: string): Promise<void> {
    signal.throwIfAborted()
    const client = await pool.connect()
    const process = processOf(client)
    const cancel = () => void sql`select pg_cancel_backend(${process})`.execute(database.db).catch(() => {})
    signal.addEventListener('abort', cancel)
    const ended = new AbortController()
    const telling =
      building === undefined ? undefined : tellProgress(database, { process, name: building, tell, signal: ended.signal })
    try {
      await client.query(text)
    } finally {
      ended.abort()
      signal.removeEventListener('abort', cancel)
      client.release()
      await telling
    }
  }
}

/** The number of the server process of a connection, which the client knows but does not declare. */
function processOf(client: pg.PoolClient): number {
  return (client as unknown as { readonly processID: number }).processID
}

async function tellProgress(
  { db }: Postgres,
  { process, name, tell, signal }: { process: number; name: string; tell: (detail: string) => void; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await sql<{ phase: string; percent: number | null }>`
      select phase, floor(100.0 * blocks_done / nullif(blocks_total, 0)) as percent
      from pg_stat_progress_create_index where pid = ${process}`
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
