import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Channel and key of stored responses, so that continuations are sent there; and responses with a pending charge. */
export async function upstreamResponses(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required, zero, empty } = columnsOf(dialect)
  await db.schema
    .createTable('kept_responses')
    .addColumn('user_id', integer, required)
    .addColumn('response_id', text, required)
    .addColumn('token_id', integer, required)
    .addColumn('channel_id', integer, required)
    .addColumn('key_id', integer, required)
    .addColumn('model', text, required)
    .addColumn('tokens', integer, zero)
    .addColumn('expires_at', integer, required)
    .addPrimaryKeyConstraint('kept_responses_key', ['user_id', 'response_id'] as never)
    .execute()
  await addIndex(db, 'kept_responses', ['expires_at'])

  await db.schema
    .createTable('open_responses')
    .addColumn('request_id', text, (column) => column.notNull().primaryKey())
    .addColumn('user_id', integer, required)
    .addColumn('response_id', text, required)
    .addColumn('channel_id', integer, required)
    .addColumn('key_id', integer, required)
    .addColumn('held', integer, required)
    .addColumn('bill', text, required)
    .addColumn('node', text, empty)
    .addColumn('lease_until', integer, zero)
    .addColumn('ask_at', integer, zero)
    .addColumn('asked', integer, zero)
    .addColumn('created_at', integer, required)
    .execute()
  await addIndex(db, 'open_responses', ['user_id', 'response_id'], true)
}
