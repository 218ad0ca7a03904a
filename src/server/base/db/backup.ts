import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { backupId, copyBackup, damageOf, removeDatabaseFile, sealBackup } from './backup-file.ts'
import { endlessLease } from './endless-lease.ts'
import { migrate, requireCurrentSchema } from './migrate.ts'
import { type Database, openSqliteDatabase, type Queries } from './open.ts'
import type { Tables } from './schema.ts'

/**
 * Backups: a SQLite file with every row, whichever database the rows come from and go to, so that a site can also be moved from one
 * kind of database to the other. Secrets stay sealed; the master key is not part of a backup.
 */
interface Copied {
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>
}

/**
 * Tables of running processes; recordings of calls, which are deleted after some days and must not survive in backups; the identity
 * of the journal, so that files of another database are never applied to a restored one; and the note of the last backup, because
 * none was made of a restored database.
 */
const leftOut: ReadonlySet<string> = new Set([
  'leases',
  'nodes',
  'revisions',
  'recordings',
  'ledger_journal',
  'last_backup',
  'resumable_replies',
  'reply_pieces',
])
const pageSize = 1000
/** Greatest number of parameters of one statement, below the limit of either database. */
const parametersMax = 20_000

interface CopySettings {
  readonly onProgress?: (text: string) => void
  /** Aborts the work with its reason; nothing of it is left. */
  readonly signal?: AbortSignal
}

/**
 * Writes a backup of one consistent state, also while servers write, in a folder that is made if needed. The file appears when it is complete and verified against the
 * data read. Throws when it exists, and when the database belongs to another version of the program.
 */
export async function writeBackup(database: Database, file: string, settings: CopySettings = {}): Promise<Copied> {
  if (existsSync(file)) throw new Error(`${file} exists: a backup overwrites nothing`)
  await requireCurrentSchema(database)
  const partial = `${file}.partial`
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  removeDatabaseFile(partial)
  const target = openSqliteDatabase(partial)
  const source = await withoutTimeLimits(database)
  try {
    await migrate(target)
    // Nobody needs a part of the file, so that nothing is written twice.
    target.raw.exec('pragma journal_mode = memory; pragma synchronous = off')
    const copied = await inSnapshot(source, (db) => copyTables({ ...database, db }, target, settings))
    settings.onProgress?.('checking the file')
    requireWhole(target, file)
    // Keeps everything in one file, without a write-ahead log.
    target.raw.exec(`pragma application_id = ${backupId}; pragma journal_mode = delete`)
    await target.close()
    sealBackup(partial)
    renameSync(partial, file)
    return copied
  } catch (error) {
    await target.close().catch(() => {})
    removeDatabaseFile(partial)
    throw error
  } finally {
    await source.close()
  }
}

/** The same database on a connection of its own, whose statements and pauses may take as long as they need. */
async function withoutTimeLimits(database: Database): Promise<Database> {
  if (database.dialect === 'sqlite') return { ...database, close: async () => {} }
  const { openUnlimitedPostgres } = await import('./postgres.ts')
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openUnlimitedPostgres(database.direct) }) })
  return { ...database, db, close: () => db.destroy() }
}

/** A backup that is complete and of this version, in a copy beside it. */
export interface OpenBackup {
  /** False for one of an earlier version, which is read without its content being compared with a checksum. */
  readonly hasChecksum: boolean
  readonly source: Database
  /** Removes the copy. */
  close(): Promise<void>
}

/**
 * Checks a backup, and migrates a copy of it when it is of an older version. To be done before anything of the target is touched. Throws
 * when the backup is damaged or of a newer version, with what to do.
 */
export async function openBackup(file: string, settings: CopySettings = {}): Promise<OpenBackup> {
  if (!existsSync(file)) throw new Error(`${file} does not exist`)
  // The backup itself stays unchanged.
  const working = `${file}.restoring`
  removeDatabaseFile(working)
  let source: Extract<Database, { dialect: 'sqlite' }> | undefined
  const close = async () => {
    await source?.close()
    removeDatabaseFile(working)
  }
  try {
    settings.onProgress?.('checking the file')
    const hasChecksum = copyBackup(file, working)
    source = openSqliteDatabase(working)
    requireWhole(source, file)
    await migrate(source)
    return { hasChecksum, source, close }
  } catch (error) {
    await close()
    throw damageOf(error, file) ?? error
  }
}

/** Loads a backup into an empty database. All rows are loaded, or none. Throws when the database has rows. */
export async function restoreBackup({ source }: OpenBackup, target: Database, settings: CopySettings = {}): Promise<Copied> {
  await migrate(target)
  const { count } = await target.db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count > 0) throw new Error('The database is in use: a restore overwrites nothing')
  const unlimited = await withoutTimeLimits(target)
  try {
    return await copyTables(source, unlimited, settings)
  } finally {
    await unlimited.close()
  }
}

/** Copies all rows in one transaction of the target, and compares their numbers on both sides. */
function copyTables(source: Database, target: Database, { onProgress, signal }: CopySettings): Promise<Copied> {
  return target.db.transaction().execute(async (within) => {
    const rows: Record<string, number> = {}
    for (const { name } of await within.introspection.getTables()) {
      if (leftOut.has(name)) continue
      const { count: wanted } = await countOf(source.db, name)
      let copied = 0
      for await (const page of pagesOf(source, name)) {
        await insertRows(within, name, page)
        // SQLite answers at once: only then a signal is seen.
        await turn()
        signal?.throwIfAborted()
        copied += page.length
        onProgress?.(`${name} ${copied} of ${wanted}`)
      }
      const { count } = await countOf(within, name)
      if (copied !== wanted || count !== wanted)
        throw new Error(`${name}: ${copied} of ${wanted} rows were copied, and ${count} are there`)
      rows[name] = copied
    }
    await orphanHolds(within, target.dialect)
    if (target.dialect === 'postgres') await continueIds(within, Object.keys(rows))
    return { rows }
  })
}

type Row = Record<string, unknown>

async function* pagesOf({ db, dialect }: Database, table: string): AsyncGenerator<Row[]> {
  if (dialect === 'sqlite') {
    // Rows of an imported log have ids below 0.
    for (let last = Number.MIN_SAFE_INTEGER; ; ) {
      const { rows } = await sql<Row & { copied_row: number }>`
        select rowid as copied_row, * from ${sql.table(table)} where rowid > ${last} order by rowid limit ${pageSize}`.execute(db)
      if (rows.length === 0) return
      last = rows.at(-1)?.copied_row ?? 0
      yield rows.map(({ copied_row: _row, ...row }) => row)
    }
  }
  await sql`declare copied no scroll cursor for select * from ${sql.table(table)}`.execute(db)
  for (;;) {
    const { rows } = await sql<Row>`fetch forward ${sql.lit(pageSize)} from copied`.execute(db)
    if (rows.length === 0) break
    yield rows
  }
  await sql`close copied`.execute(db)
}

async function insertRows(within: Queries, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const atOnce = Math.max(1, Math.floor(parametersMax / columns.length))
  const names = sql.join(columns.map((column) => sql.ref(column)))
  for (let at = 0; at < rows.length; at += atOnce) {
    const values = rows.slice(at, at + atOnce).map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
    await sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}`.execute(within)
  }
}

/**
 * No running node owns the holds that were open: the next start settles or releases them, except durable ones. PostgreSQL counts all of
 * these rows as held, SQLite the durable ones.
 */
async function orphanHolds(within: Queries, dialect: Database['dialect']): Promise<void> {
  await within.updateTable('holds').set({ lease_until: 0 }).where('lease_until', '<>', endlessLease).execute()
  const counted = dialect === 'postgres' ? sql`true` : sql`lease_until = ${sql.lit(endlessLease)}`
  for (const [table, column] of [
    ['users', 'user_id'],
    ['tokens', 'token_id'],
  ] as const) {
    const held = sql`coalesce((select sum(amount) from holds where ${sql.ref(column)} = ${sql.table(table)}.id and ${counted}), 0)`
    await sql`update ${sql.table(table)} set held = ${held}`.execute(within)
  }
  const windows =
    dialect === 'postgres'
      ? sql`cross join lateral jsonb_array_elements(nullif(budgets, '')::jsonb) w where (w.value->>0)::bigint = budget_id and (w.value->>1)::bigint = start`
      : sql`, json_each(budgets) w where w.value->>0 = budget_id and w.value->>1 = start`
  await sql`update budget_sums set held = coalesce((
    select sum(amount) from (select amount, budgets from holds where budgets <> '' and ${counted}) h ${windows}
  ), 0)`.execute(within)
}

/** New rows get ids after the existing ones, and after those that running servers have already drawn. */
export async function continueIds(within: Queries, tables: readonly string[]): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'id' and is_identity = 'YES'`.execute(within)
  for (const { name } of rows) {
    if (!tables.includes(name)) continue
    const sequence = sql`pg_get_serial_sequence(${sql.lit(name)}, 'id')`
    const given = sql`coalesce(pg_sequence_last_value(${sequence}::regclass), 0)`
    const next = sql`(select greatest(coalesce(max(id), 0), ${given}) + 1 from ${sql.table(name)})`
    await sql`select setval(${sequence}, ${next}, false)`.execute(within)
  }
}

function inSnapshot<Result>({ db, dialect }: Database, read: (db: Queries) => Promise<Result>): Promise<Result> {
  if (dialect === 'postgres')
    return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
  return db.connection().execute(async (connection) => {
    // Not plain `begin`, which takes the write lock.
    await sql`begin deferred`.execute(connection)
    try {
      return await read(connection)
    } finally {
      await sql`rollback`.execute(connection)
    }
  })
}

async function countOf(db: Queries, table: string): Promise<{ count: number }> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db)
  return rows[0] ?? { count: 0 }
}

/** Throws when a page of the file is corrupt. */
function requireWhole({ raw }: Extract<Database, { dialect: 'sqlite' }>, file: string): void {
  const [row] = raw.prepare('pragma integrity_check').all()
  if (row?.integrity_check !== 'ok') throw new Error(`${file} is damaged: ${String(row?.integrity_check)}`)
}
