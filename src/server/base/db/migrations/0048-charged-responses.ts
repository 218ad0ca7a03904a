import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/**
 * The request that is charged for a stored response, and the end of one in the background that its charge makes valid. The events of
 * resumable replies become pieces of any stored reply.
 */
export async function chargedResponses(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { text } = columnsOf(dialect)
  for (const name of ['request_id', 'ends_as', 'end_sealed'])
    await db.schema
      .alterTable('own_responses')
      .addColumn(name, text, (column) => column.notNull().defaultTo(''))
      .execute()
  await db.schema.alterTable('resumable_events').renameTo('reply_pieces').execute()
  await db.schema.alterTable('reply_pieces').renameColumn('events_sealed', 'sealed').execute()
}
