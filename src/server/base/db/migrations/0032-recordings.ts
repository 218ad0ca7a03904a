import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Recordings of relay calls, and the rules that say which calls are recorded. */
export async function recordings(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required } = columnsOf(dialect)
  await db.schema
    .createTable('recording_rules')
    .addColumn('kind', text, required)
    .addColumn('target', integer, required)
    .addColumn('per_mille', integer, required)
    .addColumn('until', integer, required)
    .addColumn('created_by', text, required)
    .addColumn('created_at', integer, required)
    .addPrimaryKeyConstraint('recording_rules_key', ['kind', 'target'] as never)
    .execute()
  await db.schema
    .createTable('recordings')
    .addColumn('request_id', text, (column) => column.primaryKey().notNull())
    .addColumn('user_id', integer, required)
    .addColumn('created_at', integer, required)
    .addColumn('bytes', integer, required)
    .addColumn('caller_sealed', text, required)
    .addColumn('upstream_sealed', text, required)
    .execute()
  // Covers the sum of all stored bytes, and finds the oldest.
  await addIndex(db, 'recordings', ['created_at', 'bytes'])
}
