import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** Tokens that refuse requests with hosted tools that the model lacks. */
export async function hostedTools(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, zero } = columnsOf(dialect)
  await db.schema.alterTable('tokens').addColumn('refuse_hosted_tools', integer, zero).execute()
}
