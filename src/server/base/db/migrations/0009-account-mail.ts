import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Mailed codes and links, the number of mails per address, and the time of a user's last notice. */
export async function accountMail(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required, zero } = columnsOf(dialect)
  await db.schema
    .createTable('mailed_codes')
    .addColumn('key', text, (column) => column.primaryKey().notNull())
    .addColumn('code_hash', text, required)
    .addColumn('user_id', integer, required)
    .addColumn('expires_at', integer, required)
    .addColumn('guesses', integer, zero)
    .execute()
  await addIndex(db, 'mailed_codes', ['user_id'])

  await db.schema
    .createTable('mailed_addresses')
    .addColumn('email', text, (column) => column.primaryKey().notNull())
    .addColumn('sent_at', integer, required)
    .addColumn('window_start', integer, required)
    .addColumn('sends', integer, required)
    .execute()

  await db.schema
    .createTable('user_notices')
    .addColumn('user_id', integer, required)
    .addColumn('kind', text, required)
    .addColumn('sent_at', integer, required)
    .addPrimaryKeyConstraint('user_notices_key', ['user_id', 'kind'] as never)
    .execute()
}
