import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** Tokens that the upstreams of channels were found to add to prompts. */
export async function promptAdditions(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { text, empty } = columnsOf(dialect)
  await db.schema.alterTable('channels').addColumn('prompt_additions', text, empty).execute()
}
