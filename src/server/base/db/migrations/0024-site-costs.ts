import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Upstream costs of requests that no user is charged for: one row per request, written with its charge. */
export async function siteCosts(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required } = columnsOf(dialect)
  await db.schema
    .createTable('site_costs')
    .addColumn('request_id', text, (column) => column.notNull().primaryKey())
    .addColumn('user_id', integer, required)
    .addColumn('channel_id', integer, required)
    .addColumn('model', text, required)
    .addColumn('amount', integer, required)
    .addColumn('reason', text, required)
    .addColumn('created_at', integer, required)
    .execute()
  await addIndex(db, 'site_costs', ['reason', 'created_at'])
}
