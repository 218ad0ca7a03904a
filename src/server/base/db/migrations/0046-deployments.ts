import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** The versions of the program that ran here, one row for each change of the version. */
export async function deployments(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required } = columnsOf(dialect)
  await db.schema
    .createTable('deployments')
    .addColumn('number', integer, (column) => column.primaryKey().notNull())
    .addColumn('version', text, required)
    .addColumn('at', integer, required)
    .execute()
}
