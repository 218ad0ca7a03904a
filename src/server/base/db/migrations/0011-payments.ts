import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** The providers' ids of an order, and refunds and disputes of its payment. */
export async function payments(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { empty, integer, text, zero } = columnsOf(dialect)
  // SQLite adds one column at a time.
  await db.schema.alterTable('top_ups').addColumn('provider_id', text, empty).execute()
  await db.schema.alterTable('top_ups').addColumn('payment_id', text, empty).execute()
  await db.schema.alterTable('top_ups').addColumn('refunded_minor', integer, zero).execute()
  await db.schema.alterTable('top_ups').addColumn('dispute', text, empty).execute()
  await db.schema.alterTable('top_ups').addColumn('withdrawn', integer, zero).execute()
  await addIndex(db, 'top_ups', ['payment_id'])
}
