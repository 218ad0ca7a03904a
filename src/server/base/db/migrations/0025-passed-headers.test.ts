import { expect, it } from 'vitest'
import { testCore } from '../../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../../test/helpers/databases.ts'
import { passedHeaders } from './0025-passed-headers.ts'

eachDatabase('the switch for headers that decide on billing', (fresh) => {
  it('becomes a list; other settings are unchanged', async () => {
    const test = await fresh()
    const database = await test.open()
    const { db } = await testCore(database)
    const settings = ['{"proxy":"","pass_account_headers":true}', '{"pass_account_headers":false}', '{"cost_ratio":2}']
    for (const [at, setting] of settings.entries())
      await db
        .insertInto('channels')
        .values({ id: at + 1, type: 1, name: 'x', key_sealed: '', created_time: 1, setting })
        .execute()
    await passedHeaders(db as never)
    const rows = await db.selectFrom('channels').select('setting').orderBy('id').execute()
    expect(rows.map(({ setting }) => JSON.parse(setting))).toEqual([
      { proxy: '', passed_headers: ['openai-organization', 'openai-project', 'session_id', 'x-codex-turn-state'] },
      {},
      { cost_ratio: 2 },
    ])
    await database.close()
    await test.drop()
  })
})
