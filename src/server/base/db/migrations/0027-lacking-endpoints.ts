import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** Endpoints that the upstreams of channels were found to lack. */
export async function lackingEndpoints(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { text, empty } = columnsOf(dialect)
  await db.schema.alterTable('channels').addColumn('lacking', text, empty).execute()
}
