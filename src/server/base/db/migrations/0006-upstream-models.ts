import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** The last model list of each channel's upstream, and its changes since an admin last looked. */
export async function upstreamModels(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required } = columnsOf(dialect)
  await db.schema
    .createTable('upstream_models')
    .addColumn('channel_id', integer, (column) => column.primaryKey().notNull())
    .addColumn('models', text, required)
    .addColumn('added', text, required)
    .addColumn('removed', text, required)
    .addColumn('checked_at', integer, required)
    .execute()
}
