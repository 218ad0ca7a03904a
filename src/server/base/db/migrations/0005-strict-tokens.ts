import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** Strict tokens: they refuse a translation that would lose a field. */
export async function strictTokens(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, zero } = columnsOf(dialect)
  await db.schema.alterTable('tokens').addColumn('strict_translation', integer, zero).execute()
}
