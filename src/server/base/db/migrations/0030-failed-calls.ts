import { type Kysely, sql } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/**
 * Rows of failed calls in the log. Their indexes are partial, so that charges pay nothing for them: one with every column that such rows
 * are filtered by, and one for the request id that callers quote.
 */
export async function failedCalls(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, zero, empty } = columnsOf(dialect)
  await db.schema.alterTable('logs').addColumn('error_status', integer, zero).execute()
  await db.schema.alterTable('logs').addColumn('error_code', text, empty).execute()
  await sql`
    create index logs_failed on logs
      (created_at, id, user_id, error_status, error_code, channel_id, model_name, token_name, token_id, "group") where type = 5
  `.execute(db)
  await sql`create index logs_failed_request on logs (request_id) where type = 5`.execute(db)
}
