import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Calls that the site makes itself, with what they cost; incidents of the status page, with their updates. */
export async function statusPage(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { id, integer, text, required, zero, one, empty } = columnsOf(dialect)
  await db.schema.alterTable('site_costs').addColumn('calls', integer, one).execute()
  await db.schema
    .createTable('site_cost_days')
    .addColumn('reason', text, required)
    .addColumn('day', integer, required)
    .addColumn('amount', integer, zero)
    .addPrimaryKeyConstraint('site_cost_days_key', ['reason', 'day'])
    .execute()

  await id(db.schema.createTable('incidents'))
    .addColumn('kind', text, required)
    .addColumn('title', text, required)
    .addColumn('state', text, required)
    .addColumn('impact', text, required)
    .addColumn('groups', text, empty)
    .addColumn('models', text, empty)
    .addColumn('starts_at', integer, required)
    .addColumn('ends_at', integer, zero)
    .addColumn('created_by', text, required)
    .addColumn('created_at', integer, required)
    .execute()
  await addIndex(db, 'incidents', ['starts_at'])

  await id(db.schema.createTable('incident_updates'))
    .addColumn('incident_id', integer, required)
    .addColumn('state', text, required)
    .addColumn('message', text, required)
    .addColumn('created_by', text, required)
    .addColumn('created_at', integer, required)
    .execute()
  await addIndex(db, 'incident_updates', ['incident_id'])
}
