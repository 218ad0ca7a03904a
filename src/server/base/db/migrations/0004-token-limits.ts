import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** Limits of single tokens: requests and tokens within a number of seconds, and concurrent requests. */
export async function tokenLimits(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, zero, value } = columnsOf(dialect)
  await db.schema.alterTable('tokens').addColumn('limit_seconds', integer, value(60)).execute()
  for (const limit of ['limit_requests', 'limit_tokens', 'limit_concurrency'])
    await db.schema.alterTable('tokens').addColumn(limit, integer, zero).execute()
}
