import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** Why the last test of a channel failed; '' when it passed. */
export async function channelTests(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { text, empty } = columnsOf(dialect)
  await db.schema.alterTable('channels').addColumn('test_failure', text, empty).execute()
}
