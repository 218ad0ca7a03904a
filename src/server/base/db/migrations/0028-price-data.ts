import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** Published price data: the data used instead of the package's, and the newer data found. */
export async function priceData(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required, zero, empty } = columnsOf(dialect)
  await db.schema
    .createTable('price_data')
    .addColumn('slot', text, (column) => column.primaryKey().notNull())
    .addColumn('hash', text, required)
    .addColumn('vendors', text, empty)
    .addColumn('left_out', integer, zero)
    .addColumn('fetched_at', integer, required)
    .addColumn('dismissed', integer, zero)
    .execute()
}
