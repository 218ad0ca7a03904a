import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** The run of the server that writes the journal of charges (`money/ledger/sqlite/read-journal.ts`); zeros until the first start. */
export async function journalRuns(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { text } = columnsOf(dialect)
  await db.schema
    .alterTable('ledger_journal')
    .addColumn('run', text, (column) => column.notNull().defaultTo('0000000000000000'))
    .execute()
}
