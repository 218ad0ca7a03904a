import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** The time at which a notice that could not be sent is retried; 0 when it was sent. */
export async function noticeRetries(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, zero } = columnsOf(dialect)
  await db.schema.alterTable('user_notices').addColumn('retry_at', integer, zero).execute()
  await addIndex(db, 'user_notices', ['kind', 'retry_at'])
}
