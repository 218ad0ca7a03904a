import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Named views of lists, stored with their account. */
export async function savedViews(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { id, integer, text, required, zero } = columnsOf(dialect)
  await id(db.schema.createTable('saved_views'))
    .addColumn('user_id', integer, required)
    .addColumn('list', text, required)
    .addColumn('name', text, required)
    .addColumn('shows', text, required)
    .addColumn('is_default', integer, zero)
    .execute()
  await addIndex(db, 'saved_views', ['user_id', 'list', 'name'], true)
}
