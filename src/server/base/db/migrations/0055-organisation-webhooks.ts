import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** Webhooks of organisations; 0 is the site. */
export async function organisationWebhooks(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, zero } = columnsOf(dialect)
  await db.schema.alterTable('destinations').addColumn('organisation_id', integer, zero).execute()
}
