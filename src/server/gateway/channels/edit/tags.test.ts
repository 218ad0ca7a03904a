import { beforeAll, beforeEach, expect, it } from 'vitest'
import { freshCore } from '../../../../../test/helpers/core.ts'
import { anyDatabase } from '../../../../../test/helpers/databases.ts'
import { channelInput, tagPatch } from '../../../../contract/entities/channel.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { addChannels, repairChannels } from './channels.ts'
import { editTag, setTagStatus, tagChannels } from './tags.ts'

const caller: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }

anyDatabase('the channels of a tag', (fresh) => {
  let core: Core
  let published: number[] = []
  let ids: number[] = []

  beforeAll(async () => {
    const opened = await freshCore(fresh)
    core = opened.core
    core.bus.on('channels', (id) => void published.push(id))
    return opened.close
  })
  beforeEach(async () => {
    await core.db.deleteFrom('channels').execute()
    await core.db.deleteFrom('channel_keys').execute()
    const input = { type: 1, name: 'one', models: 'm', tag: 'blue', priority: 3, weight: 2 }
    ids = await addChannels(core, { caller, input: channelInput.parse({ ...input, key: 'a\nb' }) })
    ids.push(...(await addChannels(core, { caller, input: channelInput.parse({ ...input, key: 'c', tag: 'red' }) })))
    published = []
  })

  const rows = () => core.db.selectFrom('channels').selectAll().orderBy('id').execute()
  const edit = (given: object) => editTag(core, { caller, patch: tagPatch.parse({ tag: 'blue', ...given }) })
  const code = (expected: string) => expect.objectContaining({ code: expected })
  const lastAudit = () => core.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow()

  it('are changed together, and no others', async () => {
    const given = {
      models: ' x, y,x',
      groups: 'vip,default',
      model_mapping: '{"x":"z"}',
      priority: '9',
      weight: -1,
      new_tag: 'green',
    }
    expect(await edit(given)).toBe(2)
    const changed = { models: 'x,y', group: 'vip,default', model_mapping: '{"x":"z"}', priority: 9, weight: 0, tag: 'green' }
    expect(await rows()).toMatchObject([changed, changed, { models: 'm', group: 'default', priority: 3, weight: 2, tag: 'red' }])
    expect(published).toEqual([0])
    expect(await lastAudit()).toMatchObject({
      actor_id: 1,
      action: 'channel.tag-edit',
      target: `tag:blue channel:${ids[0]},${ids[1]}`,
    })
  })

  it('keep absent, null and empty members', async () => {
    await edit({ models: '', groups: null, model_mapping: '', new_tag: 'blue', weight: 0 })
    expect(await rows()).toMatchObject([
      { models: 'm', group: 'default', tag: 'blue', priority: 3, weight: 0 },
      { weight: 0 },
      { weight: 2 },
    ])
  })

  it('lose their tag when the new one is empty', async () => {
    await edit({ new_tag: ' ' })
    expect((await rows()).map(({ tag }) => tag)).toEqual(['', '', 'red'])
  })

  it.each<[string, object]>([
    ['nothing_changed', {}],
    ['nothing_changed', { new_tag: 'blue', models: ' ' }],
    ['tag_required', { tag: ' ', priority: 1 }],
    ['channel_tag_unknown', { tag: 'pink', priority: 1 }],
    ['channel_models_required', { models: ',' }],
    ['json_text_invalid', { model_mapping: '{' }],
    ['channel_mapping_loop', { model_mapping: '{"a":"b","b":"a"}' }],
  ])('are refused with %s: %o', async (expected, given) => {
    const before = await rows()
    await expect(edit(given)).rejects.toEqual(code(expected))
    expect(await rows()).toEqual(before)
  })

  it('are disabled and enabled together, and get an enabled key', async () => {
    await core.db
      .updateTable('channels')
      .set({ status: 3, other_info: '{"status_reason":"x"}' })
      .where('id', '=', ids[0] ?? 0)
      .execute()
    await core.db
      .updateTable('channel_keys')
      .set({ status: 3 })
      .where('channel_id', '=', ids[0] ?? 0)
      .execute()
    expect(await setTagStatus(core, { caller, tag: 'blue', status: 1 })).toBe(1)
    expect(await rows()).toMatchObject([{ status: 1, other_info: '' }, { status: 1 }, { status: 1 }])
    expect(await core.db.selectFrom('channel_keys').select('status').where('status', '<>', 1).execute()).toEqual([])
    expect(await setTagStatus(core, { caller, tag: 'blue', status: 2 })).toBe(2)
    expect((await rows()).map(({ status }) => status)).toEqual([2, 2, 1])
    await expect(setTagStatus(core, { caller, tag: '', status: 2 })).rejects.toEqual(code('tag_required'))
    await expect(setTagStatus(core, { caller, tag: 'pink', status: 2 })).rejects.toEqual(code('channel_tag_unknown'))
  })

  it('are set by channel ids', async () => {
    expect(await tagChannels(core, { caller, ids: [...ids.slice(1), 999_999], tag: 'new' })).toBe(2)
    expect((await rows()).map(({ tag }) => tag)).toEqual(['blue', 'new', 'new'])
    expect(await lastAudit()).toMatchObject({ action: 'channel.tag', after: '{"tag":"new"}' })
    await expect(tagChannels(core, { caller, ids, tag: '' })).rejects.toEqual(code('tag_required'))
    expect(await tagChannels(core, { caller, ids: [999_999], tag: 'x' })).toBe(0)
  })

  it('are counted by a repair, which deletes keys without a channel', async () => {
    await core.db.insertInto('channel_keys').values({ channel_id: 999_999, key_sealed: 'x', created_time: 0 }).execute()
    expect(await repairChannels(core, { caller })).toBe(3)
    expect(await core.db.selectFrom('channel_keys').selectAll().execute()).toHaveLength(3)
    expect(published).toEqual([0])
    expect(await lastAudit()).toMatchObject({ action: 'channel.fix', after: '{"channels":3,"keys_removed":1}' })
  })
})
