import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Requests of members of an organisation for a greater amount of a budget. */
export async function budgetRaises(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { id, integer, text, required, zero, empty } = columnsOf(dialect)
  await id(db.schema.createTable('budget_raises'))
    .addColumn('organisation_id', integer, required)
    .addColumn('budget_id', integer, required)
    .addColumn('user_id', integer, required)
    .addColumn('amount', integer, required)
    .addColumn('reason', text, empty)
    .addColumn('created_at', integer, required)
    .addColumn('answer', text, empty)
    .addColumn('answered_by', text, empty)
    .addColumn('answered_at', integer, zero)
    .execute()
  await addIndex(db, 'budget_raises', ['organisation_id'])
  await addIndex(db, 'budget_raises', ['budget_id'])
}
