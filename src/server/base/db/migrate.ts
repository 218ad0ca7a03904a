import { setTimeout as pause } from 'node:timers/promises'
import { type Kysely, sql, type Transaction } from 'kysely'
import { isContention, reserveTimeout, schemaLockTimeout } from './contention.ts'
import { requireOwn } from './foreign-database.ts'
import { resuming } from './interrupted-migration.ts'
import { changedBy, statementsOf } from './migration-statements.ts'
import { type Migration, migrations } from './migrations/index.ts'
import { withoutLargeIndexes } from './online-indexes.ts'
import type { Database } from './open.ts'
import type { Tables } from './schema.ts'
import { isBusy, lockForServer } from './sqlite-file.ts'

/** How long a migration waits for other nodes that migrate, and for the locks of its tables. */
const waitMs = 5 * 60_000
const retryMs = 200
/** The migrator of Kysely, which older versions use, takes the same lock. */
const lockId = '3853314791062309107'
/** Also the name in databases of older versions. */
const applied = sql.table('kysely_migration')

interface MigrationSettings {
  readonly lockWaitMs?: number
  readonly tell?: (name: string) => void
}

/**
 * Brings the schema up to date. Each migration and its row are one transaction: a process that ends within one leaves nothing of it.
 * Several nodes may call it at once: one runs a migration, the others wait. Refuses a schema newer than this program, and on SQLite a
 * file that a server of another version still uses after `lockWaitMs`. `tell` gets the name of each migration of an older database.
 */
export async function migrate(database: Database, { lockWaitMs = 5000, tell = () => {} }: MigrationSettings = {}): Promise<void> {
  const { dialect } = database
  const before = await appliedMigrations(database)
  if (pendingAfter(before).length === 0) return
  await requireOwnTables(database)
  const lock = dialect === 'sqlite' && before.size > 0 ? lockForServer(database.file, lockWaitMs) : undefined
  try {
    for (const migration of pendingAfter(before)) {
      if (before.size > 0) tell(migration.name)
      await waitForLocks(migration, () => apply(database, migration))
    }
  } finally {
    lock?.close()
  }
}

/** Throws unless the schema is that of this program: commands that only read a database, or repair one row, change no schema. */
export async function requireCurrentSchema(database: Database): Promise<void> {
  const before = await appliedMigrations(database)
  if (before.size === 0)
    throw new Error('There is no database of Sluice here: check DATA_DIR and DATABASE_URL, or start the server once')
  if (pendingAfter(before).length > 0)
    throw new Error('The database is of an older version: start the server of this version once, which brings it up to date')
}

/** The migrations that the database lacks, in their order. Throws when it is of a newer version. */
export async function pendingMigrations(database: Database): Promise<readonly Migration[]> {
  await requireOwnTables(database)
  return pendingAfter(await appliedMigrations(database))
}

/** The names of the migrations that the database has. Throws when one of them is of a newer version. */
async function appliedMigrations({ db, dialect }: Database): Promise<ReadonlySet<string>> {
  const found =
    dialect === 'sqlite'
      ? sql`select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'`
      : sql`select 1 where to_regclass('kysely_migration') is not null`
  if ((await found.execute(db)).rows.length === 0) return new Set()
  const { rows } = await sql<{ name: string }>`select name from ${applied} order by name`.execute(db)
  const newer = rows.findLast(({ name }) => !migrations.some((migration) => migration.name === name))
  if (newer)
    throw new Error(
      `The database is of a newer version, which has the migration ${newer.name}: start that version again, or restore a backup that was made before the upgrade`,
    )
  return new Set(rows.map(({ name }) => name))
}

function pendingAfter(before: ReadonlySet<string>): readonly Migration[] {
  return migrations.filter(({ name }) => !before.has(name))
}

async function apply({ db, dialect }: Database, migration: Migration): Promise<void> {
  const { name, up } = migration
  await db.transaction().execute(async (within: Transaction<Tables>) => {
    if (dialect === 'postgres') {
      await sql`select set_config('lock_timeout', ${schemaLockTimeout}, true), pg_advisory_xact_lock(${sql.lit(lockId)}::bigint)`.execute(
        within,
      )
    }
    await sql`create table if not exists ${applied} (name varchar(255) not null primary key, timestamp varchar(255) not null)`.execute(
      within,
    )
    const { rows } = await sql`select 1 from ${applied} where name = ${name}`.execute(within)
    if (rows.length > 0) return
    if (dialect === 'postgres') await reserveTables(within, migration)
    // A migration is about the schema as it is then, which no type describes.
    const schema = within as unknown as Kysely<unknown>
    await up(dialect === 'sqlite' ? resuming(schema, name) : withoutLargeIndexes(schema), dialect)
    await sql`insert into ${applied} (name, timestamp) values (${name}, ${new Date().toISOString()})`.execute(within)
  })
}

/** Keeps autovacuum out of the tables that a migration changes, which it may otherwise hold for longer than anybody waits. */
async function reserveTables(within: Transaction<Tables>, migration: Migration): Promise<void> {
  await sql`select set_config('lock_timeout', ${reserveTimeout}, true)`.execute(within)
  const changed = (await statementsOf(migration, 'postgres')).flatMap((text) => changedBy(text) ?? [])
  for (const table of new Set(changed)) {
    const { rows } = await sql`select 1 where to_regclass(${table}) is not null`.execute(within)
    if (rows.length > 0) await sql`lock table ${sql.table(table)} in share update exclusive mode`.execute(within)
  }
  await sql`select set_config('lock_timeout', ${schemaLockTimeout}, true)`.execute(within)
}

async function waitForLocks({ name }: Migration, attempt: () => Promise<void>): Promise<void> {
  for (const latest = performance.now() + waitMs; ; ) {
    try {
      return await attempt()
    } catch (cause) {
      if (!isLocked(cause)) throw new Error(`Migration ${name} failed`, { cause })
      if (performance.now() > latest)
        throw new Error(
          `Migration ${name} has waited ${waitMs / 60_000} minutes for locks: end what holds them, and start again`,
          {
            cause,
          },
        )
      await pause(retryMs)
    }
  }
}

function isLocked(error: unknown): boolean {
  return isBusy(error) || isContention(error) || (error instanceof Error && isContention(error.cause))
}

/** The same check for PostgreSQL; a SQLite file is checked before it is opened (`open.ts`). */
async function requireOwnTables({ db, dialect }: Database): Promise<void> {
  if (dialect === 'sqlite') return
  const tables = await db.introspection.getTables()
  requireOwn(
    new Map(tables.map(({ name, columns }) => [name, columns.map((column) => column.name)])),
    'the one that DATABASE_URL names',
  )
}
