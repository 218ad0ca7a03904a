import { type Kysely, sql } from 'kysely'
import { queriesOver } from './queries-over.ts'

/** The last migration that ran on SQLite without a transaction, in versions before 1.0.0-rc.2. */
export const lastWithoutTransaction = '0042-model-ends'

/**
 * The queries of a migration in which a process of such a version may have been killed: statements whose result the database already has
 * are left out. Every prefix of the statements of those migrations may be there.
 */
export function resuming(within: Kysely<unknown>, name: string): Kysely<unknown> {
  if (name > lastWithoutTransaction) return within
  return queriesOver('sqlite', async (query) =>
    (await isDone(within, query.sql)) ? [] : (await within.executeQuery(query)).rows,
  )
}

async function isDone(db: Kysely<unknown>, text: string): Promise<boolean> {
  const statement = text.trim().replaceAll('"', '')
  const [, made] = /^create (?:table|(?:unique )?index|trigger) (\w+)/.exec(statement) ?? []
  if (made) return has(db, sql`select 1 from sqlite_master where name = ${made}`)
  const [, table, column] = /^alter table (\w+) add column (\w+)/.exec(statement) ?? []
  if (table && column) return has(db, sql`select 1 from pragma_table_info(${table}) where name = ${column}`)
  const [, dropped] = /^drop index (\w+)/.exec(statement) ?? []
  if (dropped) return !(await has(db, sql`select 1 from sqlite_master where name = ${dropped}`))
  // All rows that these migrations insert go into tables that they create themselves, with one statement.
  const [, filled] = /^insert into (\w+)/.exec(statement) ?? []
  return filled !== undefined && has(db, sql`select 1 from ${sql.table(filled)} limit 1`)
}

async function has(db: Kysely<unknown>, query: ReturnType<typeof sql>): Promise<boolean> {
  return (await query.execute(db)).rows.length > 0
}
