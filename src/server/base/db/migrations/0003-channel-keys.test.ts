import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { testCore } from '../../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../../test/helpers/databases.ts'
import { openKey } from '../../../gateway/channels/row/keys.ts'
import { channelKeys } from './0003-channel-keys.ts'

eachDatabase('the migration of keys to a separate table', (fresh, kind) => {
  it('makes the key of each channel its first key, which can be decrypted as before', async () => {
    const test = await fresh()
    const database = await test.open()
    const core = await testCore(database)
    await sql`drop table channel_keys`.execute(core.db)
    for (const id of [1, 2, 3]) {
      const sealed = id === 3 ? '' : core.secrets.seal(`key-${id}`, { table: 'channels', column: 'key_sealed', row: id })
      await core.db.insertInto('channels').values({ id, type: 1, name: 'x', key_sealed: sealed, created_time: id }).execute()
    }

    await channelKeys(core.db as never, kind)
    const rows = await core.db.selectFrom('channel_keys').selectAll().orderBy('id').execute()
    expect(rows).toMatchObject([
      { channel_id: 1, status: 1, created_time: 1 },
      { channel_id: 2, status: 1, created_time: 2 },
    ])
    expect(rows.map((row) => openKey(core, row))).toEqual(['key-1', 'key-2'])
    await database.close()
    await test.drop()
  })
})
