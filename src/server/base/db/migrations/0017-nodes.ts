import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** The running processes, for the admins to see. Nothing depends on it. */
export async function nodes(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required } = columnsOf(dialect)
  await db.schema
    .createTable('nodes')
    .addColumn('name', text, (column) => column.primaryKey().notNull())
    .addColumn('version', text, required)
    .addColumn('started_at', integer, required)
    .addColumn('seen_at', integer, required)
    .addColumn('memory_mb', integer, required)
    .execute()
}
