import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Streamed answers that their callers may continue, with their encrypted events; and tokens whose streams are such. */
export async function resumableReplies(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required, zero } = columnsOf(dialect)
  await db.schema
    .createTable('resumable_replies')
    .addColumn('request_id', text, (column) => column.primaryKey().notNull())
    .addColumn('user_id', integer, required)
    .addColumn('token_id', integer, required)
    .addColumn('fingerprint', text, required)
    .addColumn('model', text, required)
    .addColumn('response_id', text, required)
    .addColumn('state', text, required)
    .addColumn('is_left', integer, required)
    .addColumn('is_cancelled', integer, required)
    .addColumn('node', text, required)
    .addColumn('lease_until', integer, required)
    .addColumn('created_at', integer, required)
    .addColumn('expires_at', integer, required)
    .execute()
  await addIndex(db, 'resumable_replies', ['user_id', 'token_id', 'fingerprint'])
  await addIndex(db, 'resumable_replies', ['user_id', 'response_id'])
  await addIndex(db, 'resumable_replies', ['expires_at'])
  await db.schema
    .createTable('resumable_events')
    .addColumn('request_id', text, required)
    .addColumn('first', integer, required)
    .addColumn('last', integer, required)
    .addColumn('events_sealed', text, required)
    .addColumn('bytes', integer, required)
    .addPrimaryKeyConstraint('resumable_events_key', ['request_id', 'first'])
    .execute()
  await db.schema.alterTable('tokens').addColumn('resumable', integer, zero).execute()
}
