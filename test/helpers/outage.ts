import { sql } from 'kysely'
import { onTestFinished } from 'vitest'
import { type Database, openDatabase } from '../../src/server/db/open.ts'
import { openSqlite } from '../../src/server/db/sqlite-file.ts'

/** Takes its database away from a server or a ledger: locked on SQLite, unreachable on PostgreSQL. Answers how to bring it back. */
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
