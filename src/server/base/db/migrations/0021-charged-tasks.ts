import { type Kysely, sql } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/**
 * The dimensions of a task's charge, so that a refund is subtracted from the same sums. And an index over imported passwords, which
 * are few.
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
