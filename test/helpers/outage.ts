import { mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { sql } from 'kysely'
import { onTestFinished } from 'vitest'
import { type Database, openDatabase } from '../../src/server/base/db/open.ts'
import { openSqlite } from '../../src/server/base/db/sqlite-file.ts'

/**
 * Makes the database of a server or a ledger unavailable: unreachable on PostgreSQL; on SQLite locked, and its journal deleted, with
 * folders in its place. Returns a function that restores it.
 */
export async function interruptDatabase(database: Database): Promise<() => Promise<void>> {
  if (database.dialect === 'sqlite') {
    const unlock = await lockTables(database)
    const journal = [1, 2].map((number) => `${database.file}-charges-${number}`)
    for (const path of journal) {
      rmSync(path)
      mkdirSync(path)
    }
    return async () => {
      for (const path of journal) rmdirSync(path)
      await unlock()
    }
  }
  const url = new URL(database.url)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  const beside = await openDatabase({ DATABASE_URL: url.href, DATA_DIR: '' })
  onTestFinished(() => beside.close())
  await sql`alter database ${sql.id(name)} allow_connections false`.execute(beside.db)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(beside.db)
  return async () => void (await sql`alter database ${sql.id(name)} allow_connections true`.execute(beside.db))
}

/** Locks the tables of a SQLite file when all charges so far are in them. Returns a function that unlocks them. */
export async function lockTables(database: Extract<Database, { dialect: 'sqlite' }>): Promise<() => Promise<void>> {
  await database.db.selectFrom('ledger').select('id').limit(1).execute()
  const other = openSqlite(database.file)
  other.exec('begin immediate')
  return async () => {
    other.exec('rollback')
    other.close()
  }
}

/**
 * Makes the database refuse new rows of a table that meet a condition on `new`, or all of them. Returns a function that accepts
 * them again.
 */
export async function refuseRows(
  database: Database,
  table: string,
  condition = 'true',
): Promise<(reopened?: Database) => Promise<void>> {
  const { dialect } = database
  const run = async (text: string, { db }: Database = database) => void (await sql.raw(text).execute(db))
  const message = `no new rows in ${table}`
  if (dialect === 'sqlite') {
    await run(`create trigger refuse before insert on ${table} when ${condition} begin select raise(abort, '${message}'); end`)
    return (reopened) => run('drop trigger refuse', reopened)
  }
  await run(`create function refuse() returns trigger language plpgsql as $$ begin raise exception '${message}'; end $$`)
  await run(`create trigger refuse before insert on ${table} for each row when (${condition}) execute function refuse()`)
  return (reopened) => run(`drop trigger refuse on ${table}`, reopened)
}
