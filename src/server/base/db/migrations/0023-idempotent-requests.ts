import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Requests that name an `Idempotency-Key`, with their replies. */
export async function idempotentRequests(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required, zero, empty } = columnsOf(dialect)
  await db.schema
    .createTable('idempotent_requests')
    .addColumn('user_id', integer, required)
    .addColumn('token_id', integer, required)
    .addColumn('key_hash', text, required)
    .addColumn('fingerprint', text, required)
    .addColumn('request_id', text, required)
    .addColumn('state', text, required)
    .addColumn('node', text, required)
    .addColumn('lease_until', integer, zero)
    .addColumn('status', integer, zero)
    .addColumn('headers', text, empty)
    .addColumn('body_sealed', text, empty)
    .addColumn('bytes', integer, zero)
    .addColumn('created_at', integer, required)
    .addColumn('expires_at', integer, required)
    .addPrimaryKeyConstraint('idempotent_requests_key', ['user_id', 'token_id', 'key_hash'] as never)
    .execute()
  await addIndex(db, 'idempotent_requests', ['expires_at'])
  // Covers the sum of all stored bytes, and finds the oldest.
  await addIndex(db, 'idempotent_requests', ['created_at', 'bytes'])
}
