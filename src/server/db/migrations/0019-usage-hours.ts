import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/**
 * What `usage/roll-up` makes of the charges of each hour that is over: the sums by each side, and which tokens were used. No charge
 * writes here.
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
