import { Migrator, sql } from 'kysely'
import { requireOwn } from './foreign-database.ts'
import { migrations } from './migrations/index.ts'
import type { Database } from './open.ts'
import { lockForServer } from './sqlite-file.ts'

/**
 * Brings the schema up to date. Several nodes may call it at once: one runs, the others wait. Refuses a schema newer than this program,
 * and on SQLite a file that a server of another version still uses after `lockWaitMs`.
 */
export async function migrate(database: Database, lockWaitMs = 5000): Promise<void> {
  const { dialect } = database
  const state = await schemaOf(database)
  if (state === 'current') return
  await requireOwnTables(database)
  const lock = dialect === 'sqlite' && state === 'other' ? lockForServer(database.file, lockWaitMs) : undefined
  try {
    const migrator = migratorOf(database)
    const first = await migrator.migrateToLatest()
    // SQLite has no lock for migrations: a process started at the same time may have run them first. Then nothing is left to do.
    const { error, results } = first.error && dialect === 'sqlite' ? await migrator.migrateToLatest() : first
    const failed = results?.find((result) => result.status === 'Error')
    if (error) throw new Error(`Migration ${failed?.migrationName ?? ''} failed`, { cause: error })
  } finally {
    lock?.close()
  }
}

/** Whose schema the database has: none, that of this program, or that of another version. Found out without reading all of it. */
async function schemaOf({ db, dialect }: Database): Promise<'none' | 'current' | 'other'> {
  const table = 'kysely_migration'
  const hasTable =
    dialect === 'sqlite'
      ? sql<{ found: 1 }>`select 1 as found from sqlite_master where type = 'table' and name = ${table}`
      : sql<{ found: 1 }>`select 1 as found where to_regclass(${table}) is not null`
  if ((await hasTable.execute(db)).rows.length === 0) return 'none'
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(db)
  const done = new Set(rows.map(({ name }) => name))
  return done.size === migrations.length && migrations.every(({ name }) => done.has(name)) ? 'current' : 'other'
}

/** Throws unless the schema is that of this program: commands that only read a database, or repair one row, change no schema. */
export async function requireCurrentSchema(database: Database): Promise<void> {
  const done = await database.db.introspection.getTables()
  const isNew = !done.some(({ name }) => name === 'users')
  if (isNew) throw new Error('There is no database of Sluice here: check DATA_DIR and DATABASE_URL, or start the server once')
  const states = await migratorOf(database).getMigrations()
  if (states.some(({ executedAt }) => executedAt === undefined))
    throw new Error('The database is of an older version: start the server of this version once, which brings it up to date')
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

function migratorOf({ db, dialect }: Database): Migrator {
  return new Migrator({
    db,
    provider: {
      getMigrations: async () => Object.fromEntries(migrations.map(({ name, up }) => [name, { up: (trx) => up(trx, dialect) }])),
    },
  })
}
