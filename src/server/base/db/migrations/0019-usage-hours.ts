import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/**
 * The roll-up of the charges of each past hour (`usage/roll-up`): sums by dimension, and the used tokens. Charges do not write here.
 */
export async function usageHours(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required } = columnsOf(dialect)
  await db.schema
    .createTable('usage_hours')
    .addColumn('side', text, required)
    .addColumn('hour', integer, required)
    .addColumn('sums', text, required)
    .addPrimaryKeyConstraint('usage_hours_key', ['side', 'hour'])
    .execute()

  await db.schema
    .createTable('token_hours')
    .addColumn('user_id', integer, required)
    .addColumn('token_name', text, required)
    .addColumn('hour', integer, required)
    .addColumn('count', integer, required)
    .addColumn('quota', integer, required)
    .addPrimaryKeyConstraint('token_hours_key', ['user_id', 'token_name', 'hour'])
    .execute()
  await addIndex(db, 'token_hours', ['token_name', 'hour'])
}
