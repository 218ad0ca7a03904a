import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Files that users store at vendors, by the ids of this site; and uploads in parts. */
export async function files(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required } = columnsOf(dialect)
  await db.schema
    .createTable('files')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('user_id', integer, required)
    .addColumn('token_id', integer, required)
    .addColumn('channel_id', integer, required)
    .addColumn('key_id', integer, required)
    .addColumn('dialect', text, required)
    .addColumn('vendor_id', text, required)
    .addColumn('state', text, required)
    .addColumn('filename', text, required)
    .addColumn('purpose', text, required)
    .addColumn('bytes', integer, required)
    .addColumn('vendor_object', text, required)
    .addColumn('created_at', integer, required)
    .addColumn('expires_at', integer, required)
    .addColumn('ask_at', integer, required)
    .execute()
  await addIndex(db, 'files', ['user_id', 'dialect', 'created_at', 'id'])
  await addIndex(db, 'files', ['expires_at'])
  await addIndex(db, 'files', ['state', 'ask_at'])
}
