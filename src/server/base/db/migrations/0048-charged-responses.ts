import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** The request that is charged for a stored response, and the end of one in the background that its charge makes valid. */
export async function chargedResponses(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { text } = columnsOf(dialect)
  for (const name of ['request_id', 'ends_as', 'end_sealed'])
    await db.schema
      .alterTable('own_responses')
      .addColumn(name, text, (column) => column.notNull().defaultTo(''))
      .execute()
}
