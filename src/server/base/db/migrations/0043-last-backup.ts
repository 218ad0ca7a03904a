import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** The newest backup, in one row (`base/db/last-backup.ts`). */
export async function lastBackup(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, required } = columnsOf(dialect)
  await db.schema
    .createTable('last_backup')
    .addColumn('id', integer, (column) => column.primaryKey().notNull())
    .addColumn('made_at', integer, required)
    .addColumn('duration_ms', integer, required)
    .addColumn('bytes', integer, required)
    .addColumn('rows', integer, required)
    .execute()
}
