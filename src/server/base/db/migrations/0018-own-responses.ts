import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Responses that this server stores for channels that store none, and the streams of background responses. */
export async function localResponses(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required, zero, empty } = columnsOf(dialect)
  await db.schema
    .createTable('own_responses')
    .addColumn('user_id', integer, required)
    .addColumn('response_id', text, required)
    .addColumn('token_id', integer, required)
    .addColumn('model', text, required)
    .addColumn('status', text, required)
    .addColumn('thread', text, required)
    .addColumn('previous_id', text, required)
    .addColumn('is_background', integer, zero)
    .addColumn('content_sealed', text, required)
    .addColumn('bytes', integer, required)
    .addColumn('node', text, empty)
    .addColumn('lease_until', integer, zero)
    .addColumn('is_cancelled', integer, zero)
    .addColumn('created_at', integer, required)
    .addColumn('expires_at', integer, required)
    .addPrimaryKeyConstraint('own_responses_key', ['user_id', 'response_id'] as never)
    .execute()
  await addIndex(db, 'own_responses', ['user_id', 'thread'])
  await addIndex(db, 'own_responses', ['user_id', 'created_at'])
  await addIndex(db, 'own_responses', ['expires_at'])
  await addIndex(db, 'own_responses', ['lease_until'])

  await db.schema
    .createTable('own_response_events')
    .addColumn('user_id', integer, required)
    .addColumn('response_id', text, required)
    .addColumn('number', integer, required)
    .addColumn('events_sealed', text, required)
    .addColumn('bytes', integer, required)
    .addColumn('expires_at', integer, required)
    .addPrimaryKeyConstraint('own_response_events_key', ['user_id', 'response_id', 'number'] as never)
    .execute()
  await addIndex(db, 'own_response_events', ['expires_at'])
}
