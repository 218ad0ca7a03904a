import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Budgets, the sums charged in each of their windows, and the charges that these sums contain. */
export async function budgets(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { id, integer, text, required, zero, one, empty } = columnsOf(dialect)
  await id(db.schema.createTable('budgets'))
    .addColumn('scope', text, required)
    .addColumn('subject', text, required)
    .addColumn('subject_id', integer, zero)
    .addColumn('name', text, empty)
    .addColumn('period', text, required)
    .addColumn('seconds', integer, zero)
    .addColumn('amount', integer, required)
    .addColumn('is_hard', integer, one)
    .addColumn('shares', text, empty)
    .addColumn('set_by', text, required)
    .addColumn('override_amount', integer, zero)
    .addColumn('override_until', integer, zero)
    .addColumn('has_override', integer, zero)
    .addColumn('created_at', integer, required)
    .execute()
  await addIndex(db, 'budgets', ['scope', 'subject'])

  await db.schema
    .createTable('budget_sums')
    .addColumn('budget_id', integer, required)
    .addColumn('start', integer, required)
    .addColumn('charged', integer, zero)
    .addColumn('forgiven', integer, zero)
    .addColumn('held', integer, zero)
    .addColumn('noticed', integer, zero)
    .addPrimaryKeyConstraint('budget_sums_key', ['budget_id', 'start'] as never)
    .execute()

  await db.schema
    .createTable('budget_charges')
    .addColumn('request_id', text, required)
    .addColumn('budget_id', integer, required)
    .addColumn('start', integer, required)
    .addColumn('amount', integer, required)
    .addPrimaryKeyConstraint('budget_charges_key', ['request_id', 'budget_id'] as never)
    .execute()
  await addIndex(db, 'budget_charges', ['budget_id', 'start'])

  await db.schema.alterTable('holds').addColumn('budgets', text, empty).execute()
}
