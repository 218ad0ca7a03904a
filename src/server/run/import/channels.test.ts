import { expect, it, onTestFinished } from 'vitest'
import { freshCore } from '../../../../test/helpers/core.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import { changedOriginal, importFile, originalFile } from '../../../../test/helpers/family-database.ts'
import { openKey } from '../../gateway/channels/row/keys.ts'

anyDatabase('an import of channels', (fresh) => {
  const empty = async () => {
    const { core, close } = await freshCore(fresh)
    onTestFinished(close)
    return core
  }

  it('disables channels of one-api whose type is uncertain, so that no key reaches another vendor', async () => {
    const types = [2, 4, 26, 27, 28, 29, 30, 32, 33, 34, 35, 36, 37, 38, 39, 40, 42, 43, 44, 45, 48, 50, 51, 99]
    const file = changedOriginal('one-api-0.6', [
      ...types.map(
        (type) =>
          `insert into channels (id, type, "key", status, name, models) values (${100 + type}, ${type}, 'k', 1, 't${type}', 'm')`,
      ),
      `update channels set config = '{"region":"us-east-1","ak":"AK","sk":"SK"}' where type = 33`,
    ])
    const core = await empty()
    await importFile(core, file, 'one-api')
    const rows = await core.db
      .selectFrom('channels')
      .select(['id', 'type', 'base_url', 'status'])
      .where('id', '>', 100)
      .orderBy('id')
      .execute()
    expect(rows.map(({ id, type, base_url, status }) => [id - 100, type, base_url, status])).toEqual([
      [2, 1, 'https://oa.api2d.net', 1],
      [4, 1, '', 2],
      [26, 1, 'https://api.baichuan-ai.com', 1],
      [27, 35, '', 1],
      [28, 42, '', 1],
      [29, 1, 'https://api.groq.com/openai', 1],
      [30, 4, '', 1],
      [32, 1, 'https://api.stepfun.com', 1],
      [33, 33, '', 1],
      [34, 49, '', 1],
      [35, 34, '', 1],
      [36, 43, '', 1],
      [37, 39, '', 1],
      [38, 8, '', 2],
      [39, 1, 'https://api.together.xyz', 1],
      [40, 45, '', 1],
      [42, 41, '', 1],
      [43, 8, '', 2],
      [44, 40, '', 1],
      [45, 48, '', 1],
      [48, 8, '', 2],
      [50, 1, '', 2],
      [51, 24, '', 1],
      [99, 8, '', 2],
    ])
    await expect(importFile(core, originalFile('one-api-0.6'), 'new-api')).rejects.toThrow('sluice import one-api')
  })

  it('imports several keys of a channel with their statuses, and its overrides', async () => {
    const columns = ['header_override', 'channel_info'].map((column) => `alter table channels add column ${column} text`)
    const info = `{"is_multi_key":true,"multi_key_mode":"polling","multi_key_status_list":{"1":3,"2":2},"multi_key_disabled_reason":{"1":"quota"}}`
    const file = changedOriginal('new-api-0.6', [
      ...columns,
      `update channels set "key" = 'one' || char(10) || 'two' || char(10) || 'three', channel_info = '${info}', param_override = '{"temperature":0}', header_override = '{"x-a":"b"}', setting = '{"proxy":"","system_prompt":"Be kind.","pass_through_body_enabled":true}' where id = 1`,
      `insert into channels (id, type, "key", status, name, models, channel_info) values (2, 1, '["a","b"]', 1, 'list', 'm', '{"is_multi_key":true}'), (3, 41, '{"project_id":"p"}', 1, 'vertex', 'm', '{"is_multi_key":false}')`,
    ])
    const core = await empty()
    const { tables } = await importFile(core, file)
    expect(tables.channels?.findings.map(({ kind, what }) => `${kind} ${what}`)).toEqual([
      'noted setting.pass_through_body_enabled has no counterpart',
    ])
    const keys = await core.db.selectFrom('channel_keys').selectAll().orderBy('id').execute()
    expect(keys.map((row) => [row.channel_id, openKey(core, row), row.status, row.status_reason])).toEqual([
      [1, 'one', 1, ''],
      [1, 'two', 3, 'quota'],
      [1, 'three', 2, ''],
      [2, 'a', 1, ''],
      [2, 'b', 1, ''],
      [3, '{"project_id":"p"}', 1, ''],
    ])
    const channel = await core.db.selectFrom('channels').select('setting').where('id', '=', 1).executeTakeFirstOrThrow()
    expect(JSON.parse(channel.setting)).toEqual({
      system_prompt: 'Be kind.',
      system_prompt_mode: 'fill',
      param_override: { temperature: 0 },
      header_override: { 'x-a': 'b' },
      key_mode: 'round-robin',
    })
  })

  it('moves logins from `config` of one-api to `key` and `other`', async () => {
    const insert = (id: number, type: number, config: object) =>
      `insert into channels (id, type, "key", status, name, models, config, system_prompt) values (${id}, ${type}, 'k', 1, 't', 'm', '${JSON.stringify(config)}', 'Hi')`
    const file = changedOriginal('one-api-0.6', [
      insert(2, 33, { ak: 'AK', sk: 'SK', region: 'us-east-1' }),
      insert(3, 42, { region: 'us-central1', vertex_ai_project_id: 'p', vertex_ai_adc: '{"a":1}' }),
      insert(4, 3, { api_version: '2024-10-21' }),
      insert(5, 37, { user_id: 'account' }),
    ])
    const core = await empty()
    await importFile(core, file, 'one-api')
    const rows = await core.db
      .selectFrom('channels')
      .innerJoin('channel_keys', 'channel_id', 'channels.id')
      .select(['channels.id', 'type', 'other', 'channel_id', 'channel_keys.key_sealed', 'setting'])
      .where('channels.id', '>', 1)
      .orderBy('channels.id')
      .execute()
    expect(rows.map((row) => [row.id, row.type, openKey(core, row), row.other])).toEqual([
      [2, 33, 'AK|SK|us-east-1', ''],
      [3, 41, '{"a":1}', 'us-central1'],
      [4, 3, 'k', '2024-10-21'],
      [5, 39, 'k', 'account'],
    ])
    expect(rows[0]?.setting).toBe('{"system_prompt":"Hi"}')
  })
})
