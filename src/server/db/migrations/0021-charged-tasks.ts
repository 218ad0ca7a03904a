import { type Kysely, sql } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/**
 * What a drawing or a piece of music was charged as, so that a refund is taken off the sums that the charge went into. And an index over
 * the passwords that another program has left, which are few and get fewer.
 */
export async function chargedTasks(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { text, empty } = columnsOf(dialect)
  for (const table of ['midjourneys', 'tasks']) {
    await db.schema.alterTable(table).addColumn('charged_model', text, empty).execute()
    await db.schema.alterTable(table).addColumn('charged_group', text, empty).execute()
  }
  await sql`create index users_imported_passwords on users (substr(password_hash, 5, 2)) where substr(password_hash, 1, 2) = '$2'`.execute(
    db,
  )
}
