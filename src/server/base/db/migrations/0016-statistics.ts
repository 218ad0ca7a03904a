import { type Kysely, sql } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/**
 * Indexes that keep lists and sums fast over a long log, all of them cheap to write: the index of users now contains token names,
 * one is for the few rows that are not charges, and everything else is found by way of the hour buckets, which get few new rows.
 * And the purges of the log, with their progress.
 */
export async function statistics(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { id, integer, text, required, zero } = columnsOf(dialect)
  await addIndex(db, 'logs', ['user_id', 'created_at', 'id', 'token_name'])
  await db.schema.dropIndex('logs_user_id_created_at_id').execute()
  await sql`create index logs_other_types on logs (type, created_at, id) where type <> 2`.execute(db)
  await addIndex(db, 'quota_data', ['user_id', 'created_at'])
  await addIndex(db, 'quota_data', ['model_name', 'created_at'])
  await addIndex(db, 'quota_data', ['channel_id', 'created_at'])
  await addIndex(db, 'quota_data', ['group', 'created_at'])

  await id(db.schema.createTable('log_purges'))
    .addColumn('before', integer, required)
    .addColumn('asked_by', text, required)
    .addColumn('asked_at', integer, required)
    .addColumn('oldest', integer, required)
    .addColumn('position', integer, required)
    .addColumn('removed', integer, zero)
    .addColumn('finished_at', integer, zero)
    .execute()
}
