import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** When the models in upstreams' lists end, and notes of alerts. */
export async function modelEnds(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { text, empty } = columnsOf(dialect)
  await db.schema.alterTable('upstream_models').addColumn('ends', text, empty).execute()
  await db.schema.alterTable('alerts').addColumn('note', text, empty).execute()
}
