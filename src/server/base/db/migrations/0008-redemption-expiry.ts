import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** Redemption codes with an expiry time. */
export async function redemptionExpiry(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, zero } = columnsOf(dialect)
  await db.schema.alterTable('redemptions').addColumn('expired_time', integer, zero).execute()
}
