import { type Kysely, sql } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** How far the journal of charges is applied, which only SQLite has (`money/ledger/sqlite/charge-journal.ts`). */
export async function ledgerJournal(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required } = columnsOf(dialect)
  await db.schema.createTable('ledger_journal').addColumn('id', text, required).addColumn('applied', integer, required).execute()
  if (dialect === 'sqlite') await sql`insert into ledger_journal (id, applied) values (lower(hex(randomblob(8))), 0)`.execute(db)
}
