import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Columns for polling drawings and music: request, key and the time of the next poll. */
export async function tasks(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, zero, empty } = columnsOf(dialect)
  for (const [table, id] of [
    ['midjourneys', 'mj_id'],
    ['tasks', 'task_id'],
  ] as const) {
    await db.schema.alterTable(table).addColumn('request_id', text, empty).execute()
    for (const name of ['key_id', 'ask_at', 'asked']) await db.schema.alterTable(table).addColumn(name, integer, zero).execute()
    await addIndex(db, table, ['ask_at'])
    await addIndex(db, table, ['channel_id', id])
    await addIndex(db, table, ['submit_time'])
  }
}
