import { type Kysely, sql } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/**
 * Several keys in one channel. The key of each channel becomes the first of its keys; it is bound to its channel, so that it can be
 * decrypted unchanged. `channels.key_sealed` stays for nodes of the previous version, and is dropped in a later release.
 */
export async function channelKeys(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { id, integer, text, required, zero, one, empty } = columnsOf(dialect)
  await id(db.schema.createTable('channel_keys'))
    .addColumn('channel_id', integer, required)
    .addColumn('key_sealed', text, required)
    .addColumn('status', integer, one)
    .addColumn('status_reason', text, empty)
    .addColumn('status_time', integer, zero)
    .addColumn('created_time', integer, required)
    .execute()
  await addIndex(db, 'channel_keys', ['channel_id', 'id'])

  await sql`
    insert into channel_keys (channel_id, key_sealed, created_time)
    select id, key_sealed, created_time from channels where key_sealed <> '' order by id`.execute(db)
}
