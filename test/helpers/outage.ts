import { sql } from 'kysely'
import { onTestFinished } from 'vitest'
import { type Database, openDatabase } from '../../src/server/db/open.ts'
import { openSqlite } from '../../src/server/db/sqlite-file.ts'

/**
 * Makes the database of a server or a ledger unavailable: locked on SQLite, unreachable on PostgreSQL. Returns a function that
 * restores it.
 */
export async function interruptDatabase(database: Database): Promise<() => Promise<void>> {
  if (database.dialect === 'sqlite') {
    const other = openSqlite(database.file)
    other.exec('begin immediate')
    return async () => {
      other.exec('rollback')
      other.close()
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

/**
 * Makes the database refuse new rows of a table that meet a condition on `new`, or all of them. Returns a function that accepts
 * them again.
 */
export async function refuseRows({ db, dialect }: Database, table: string, condition = 'true'): Promise<() => Promise<void>> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  const message = `no new rows in ${table}`
  if (dialect === 'sqlite') {
    await run(`create trigger refuse before insert on ${table} when ${condition} begin select raise(abort, '${message}'); end`)
    return () => run('drop trigger refuse')
  }
  await run(`create function refuse() returns trigger language plpgsql as $$ begin raise exception '${message}'; end $$`)
  await run(`create trigger refuse before insert on ${table} for each row when (${condition}) execute function refuse()`)
  return () => run(`drop trigger refuse on ${table}`)
}
