import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Replies that named another model than was sent, by channel and hour. */
export async function answeredModels(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required } = columnsOf(dialect)
  await db.schema
    .createTable('answered_models')
    .addColumn('channel_id', integer, required)
    .addColumn('hour', integer, required)
    .addColumn('sent', text, required)
    .addColumn('answered', text, required)
    .addColumn('calls', integer, required)
    .addColumn('charged', integer, required)
    .addColumn('priced', integer, required)
    .addColumn('difference', integer, required)
    .addPrimaryKeyConstraint('answered_models_key', ['channel_id', 'hour', 'sent', 'answered'] as never)
    .execute()
  await addIndex(db, 'answered_models', ['hour'])
}
