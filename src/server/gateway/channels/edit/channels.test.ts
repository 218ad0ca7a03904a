import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newClock } from '../../../../../test/helpers/clock.ts'
import { freshCore } from '../../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../../test/helpers/databases.ts'
import { channel, channelInput, channelPatch } from '../../../../contract/entities/channel.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { enabledModels } from '../index/listed-models.ts'
import { openKey } from '../row/keys.ts'
import { addChannels, copyChannel, deleteChannels, deleteDisabledChannels, editChannel, setChannelStatus } from './channels.ts'
import { anyChannel, type ChannelFilter, findChannel, findChannels } from './find-channels.ts'

const caller: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }
const nowSeconds = 1_800_000_000
const clock = newClock(nowSeconds * 1000)
const secret = 'sk-very-secret-0123456789'

eachDatabase('channels', (fresh) => {
  let core: Core
  let published: number[] = []

  beforeAll(async () => {
    const opened = await freshCore(fresh, { now: () => clock.nowMs })
    core = opened.core
    core.bus.on('channels', (id) => void published.push(id))
    return opened.close
  })
  beforeEach(async () => {
    await core.db.deleteFrom('channels').execute()
    published = []
  })

  const input = (given: object = {}) => channelInput.parse({ type: 1, name: 'one', key: secret, models: 'gpt-4o', ...given })
  const addAll = (given: object = {}) => addChannels(core, { caller, input: input(given) })
  const add = async (given: object = {}) => (await addAll(given))[0] ?? 0
  const edit = (id: number, given: object) => editChannel(core, { caller, patch: channelPatch.parse({ id, ...given }) })
  const rowOf = (id: number) => core.db.selectFrom('channels').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const keyRowsOf = (id: number) =>
    core.db.selectFrom('channel_keys').selectAll().where('channel_id', '=', id).orderBy('id').execute()
  const keysOf = async (id: number) => (await keyRowsOf(id)).map((row) => openKey(core, row))
  const keyOf = async (id: number) => (await keysOf(id)).join()
  const setRow = (id: number, values: object) => core.db.updateTable('channels').set(values).where('id', '=', id).execute()
  const code = (expected: string) => expect.objectContaining({ code: expected })
  const lastAudit = () => core.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow()

  describe('a new channel', () => {
    it('gets the defaults of absent members', async () => {
      const id = await add()
      expect(channel.parse(await findChannel(core, id))).toEqual({
        id,
        type: 1,
        key: '',
        name: 'one',
        status: 1,
        openai_organization: '',
        test_model: '',
        max_input_tokens: 0,
        base_url: '',
        other: '',
        models: 'gpt-4o',
        group: 'default',
        model_mapping: '',
        status_code_mapping: '',
        setting: '',
        priority: 0,
        weight: 0,
        auto_ban: 1,
        tag: '',
        other_info: '',
        created_time: nowSeconds,
        test_time: 0,
        test_failure: '',
        response_time: 0,
        balance: 0,
        balance_updated_time: 0,
        used_quota: 0,
        keys_total: 1,
        keys_enabled: 1,
        model_ends: [{ model: 'gpt-4o', date: '2027-01-14', successor: 'gpt-6-luna' }],
        prompt_additions: {},
        lacking: [],
      })
      expect(published).toEqual([0])
      expect(await lastAudit()).toMatchObject({ actor_id: 1, action: 'channel.add', target: `channel:${id}` })
    })

    it('is normalized: trimmed unique names, no trailing slash, plain numbers', async () => {
      const id = await add({
        models: ' gpt-4o, ,gpt-4o,o3 ,',
        groups: ['vip', 'vip', ' default '],
        group: 'ignored',
        base_url: 'https://API.example/v1//',
        weight: -3,
        priority: '7',
        auto_ban: false,
        tag: ' blue ',
      })
      expect(await rowOf(id)).toMatchObject({
        models: 'gpt-4o,o3',
        group: 'vip,default',
        base_url: 'https://api.example/v1',
        weight: 0,
        priority: 7,
        auto_ban: 0,
        tag: 'blue',
      })
      expect((await rowOf(await add({ group: 'a, b,a' }))).group).toBe('a,b')
      expect((await rowOf(await add({ groups: [] }))).group).toBe('default')
    })

    it('is numbered among those of one form, which share a tag', async () => {
      const twelve = Array.from({ length: 12 }, (_, at) => `k-${at}`).join('\n')
      const named = async (given: object) => {
        const rows = await Promise.all((await addAll(given)).map(rowOf))
        return rows.map(({ name, tag }) => [name, tag])
      }
      const made = await named({ key: twelve, name: 'east' })
      expect(made).toHaveLength(12)
      expect(made[0]).toEqual(['east 01', 'east'])
      expect(made[11]).toEqual(['east 12', 'east'])
      const long = 'n'.repeat(100)
      expect(await named({ key: 'a\nb', name: long, tag: 'own' })).toEqual([
        [`${'n'.repeat(98)} 1`, 'own'],
        [`${'n'.repeat(98)} 2`, 'own'],
      ])
      expect(await named({ key: 'a', name: 'single' })).toEqual([['single', '']])
      expect(await named({ key: 'a\nb', name: 'one', multi_key: true })).toEqual([['one', '']])
    })

    it('is created for each line of the key, each with its own key', async () => {
      const ids = await addAll({ key: 'k-1\r\n\n  k-2  \nk-3' })
      expect(await Promise.all(ids.map(keyOf))).toEqual(['k-1', 'k-2', 'k-3'])
    })

    it('[296] understands an address with the path of a call, keys with their header, and lists with line feeds', async () => {
      const [first = 0, second = 0] = await addAll({
        base_url: 'https://api.example/v1/chat/completions',
        key: 'Bearer k-1\nauthorization: bearer  k-2\nBearer ',
        models: 'gpt-4o\r\no3\n\n o4-mini，gpt-5',
        group: 'vip\ndefault',
      })
      expect(await rowOf(first)).toMatchObject({
        base_url: 'https://api.example/v1',
        models: 'gpt-4o,o3,o4-mini,gpt-5',
        group: 'vip,default',
      })
      expect([await keysOf(first), await keysOf(second)]).toEqual([['k-1'], ['k-2']])
      await edit(first, { base_url: 'https://other.example/v1/messages', key: 'Bearer k-3', models: 'a\nb' })
      expect(await rowOf(first)).toMatchObject({ base_url: 'https://other.example/v1', models: 'a,b' })
      expect(await keysOf(first)).toEqual(['k-3'])
    })

    it('stores a service account unchanged', async () => {
      const account = '{\n  "type": "service_account"\n}'
      const ids = await addAll({ type: 41, key: account, other: 'us-east1' })
      expect(await Promise.all(ids.map(keyOf))).toEqual([account])
    })

    it('of type 18 has version v2.1 unless it names one', async () => {
      expect((await rowOf(await add({ type: 18, key: 'a|b|c' }))).other).toBe('v2.1')
      expect((await rowOf(await add({ type: 18, key: 'a|b|c', other: 'v3.5' }))).other).toBe('v3.5')
    })

    it('of type 8 may have the model in its address', async () => {
      expect((await rowOf(await add({ type: 8, base_url: 'https://own.example/{model}/go' }))).base_url).toBe(
        'https://own.example/{model}/go',
      )
    })

    it.each([
      ['channel_name_required', { name: '  ' }],
      ['channel_name_required', { key: ' \n ' }],
      ['channel_models_required', { models: ' , ' }],
      ['channel_type_unknown', { type: 28 }],
      ['channel_url_required', { type: 3 }],
      ['channel_url_required', { type: 8, base_url: ' ' }],
      ['channel_url_invalid', { base_url: 'ftp://api.example' }],
      ['channel_url_invalid', { base_url: 'https://user:pass@api.example' }],
      ['channel_url_invalid', { base_url: 'https://api.example?a=b' }],
      ['channel_url_invalid', { base_url: 'https://api.example/../x' }],
      ['channel_url_invalid', { base_url: 'https://api.ex ample' }],
      ['channel_url_invalid', { base_url: 'http://169.254.169.254/latest' }],
      ['json_text_invalid', { model_mapping: '{' }],
      ['field_invalid', { model_mapping: '["a"]' }],
      ['field_invalid', { model_mapping: '{"a":1}' }],
      ['channel_mapping_loop', { model_mapping: '{"a":"a"}' }],
      ['channel_mapping_loop', { model_mapping: '{"x":"a","a":"b","b":"c","c":"a"}' }],
      ['json_text_invalid', { status_code_mapping: '400:500' }],
      ['field_invalid', { status_code_mapping: '{"400":"0"}' }],
      ['field_invalid', { status_code_mapping: '{"400":999}' }],
      ['field_invalid', { status_code_mapping: '{"abc":"500"}' }],
      ['json_text_invalid', { setting: 'proxy' }],
      ['field_invalid', { setting: '{"proxy":"file:///etc/passwd"}' }],
      ['field_invalid', { setting: '{"proxy":1}' }],
      ['field_invalid', { setting: '{"proxy":"http://169.254.169.254:80"}' }],
      ['field_invalid', { setting: '{"force_format":"yes"}' }],
      ['field_invalid', { setting: '{"idle_timeout_ms":1}' }],
      ['field_invalid', { key: 'schlüssel' }],
      ['field_invalid', { key: Array.from({ length: 1001 }, (_, at) => `k${at}`).join('\n') }],
      ['field_invalid', { openai_organization: 'org\r\nx: y' }],
      ['field_invalid', { models: 'm'.repeat(256) }],
      ['field_invalid', { group: 'g'.repeat(65) }],
    ])('is refused with %s: %o', async (expected, given) => {
      await expect(addAll(given)).rejects.toEqual(code(expected))
      expect(await core.db.selectFrom('channels').selectAll().execute()).toEqual([])
    })

    it.each([
      { priority: -1000 },
      { priority: 'high' },
      { weight: 'NaN' },
      { weight: Number.POSITIVE_INFINITY },
      { priority: 2 ** 53 },
      { max_input_tokens: -1 },
      { auto_ban: 2 },
      { name: 'a\0b' },
      { name: 'a\ud800b' },
      { name: 'n'.repeat(101) },
      { type: 0 },
    ])('is refused by the contract: %o', (given) => {
      expect(channelInput.safeParse({ type: 1, name: 'one', key: secret, models: 'gpt-4o', ...given }).success).toBe(false)
    })

    it('may point at the local network, unless the operator forbids it', async () => {
      expect((await rowOf(await add({ base_url: 'http://192.168.1.5:11434' }))).base_url).toBe('http://192.168.1.5:11434')
      const strict = { ...core, env: { ...core.env, BLOCK_PRIVATE_UPSTREAMS: true } }
      for (const given of [{ base_url: 'http://192.168.1.5' }, { setting: '{"proxy":"socks5://10.0.0.1:1080"}' }]) {
        await expect(addChannels(strict, { caller, input: input(given) })).rejects.toThrow()
      }
    })
  })

  describe('the key', () => {
    it('is never in a response, and never in clear text in the row or the audit', async () => {
      const id = await add({ tag: 't', setting: '{"proxy":"http://me:proxy-password@127.0.0.1:3128"}' })
      const copy = await copyChannel(core, { caller, id, suffix: '_copy' })
      const answers = [
        await findChannel(core, id),
        await edit(id, { key: `${secret}-new`, name: 'two' }),
        copy,
        await findChannels(core, { filter: anyChannel, idSort: false, tagMode: true, page: { offset: 0, limit: 10 } }),
        await findChannels(core, { filter: anyChannel, idSort: false, tagMode: false, page: { offset: 0, limit: 10 } }),
      ]
      expect(JSON.stringify(answers)).not.toContain('very-secret')
      expect(JSON.stringify(answers)).not.toContain('v1.')
      expect(JSON.stringify(await core.db.selectFrom('channels').selectAll().execute())).not.toContain('very-secret')
      expect(JSON.stringify(await core.db.selectFrom('audit').selectAll().execute())).not.toMatch(
        /very-secret|proxy-password|v1\./,
      )
      expect(await keyOf(id)).toBe(`${secret}-new`)
      expect(await keyOf(copy.id)).toBe(secret)
    })

    it('cannot be moved to another row', async () => {
      const [one = 0, two = 0] = await addAll({ key: 'k-1\nk-2' })
      const [row] = await keyRowsOf(one)
      await core.db
        .updateTable('channel_keys')
        .set({ key_sealed: row?.key_sealed ?? '' })
        .where('channel_id', '=', two)
        .execute()
      await expect(keyOf(two)).rejects.toThrow()
    })
  })

  describe('an edit', () => {
    it('changes given members and keeps the others', async () => {
      const id = await add({ tag: 'blue', priority: 5, base_url: 'https://a.example/x', model_mapping: '{"a":"b"}' })
      const before = await rowOf(id)
      expect(await edit(id, { name: 'two', tag: '', base_url: 'https://a.example/y' })).toMatchObject({ name: 'two', tag: '' })
      expect(await rowOf(id)).toEqual({ ...before, name: 'two', tag: '', base_url: 'https://a.example/y' })
      expect(await lastAudit()).toMatchObject({
        action: 'channel.edit',
        before: '{"name":"one","base_url":"https://a.example/x","tag":"blue"}',
        after: '{"name":"two","base_url":"https://a.example/y","tag":""}',
      })
    })

    it('accepts the complete object as old consoles send it', async () => {
      const id = await add({ status_code_mapping: '{"400":"500"}' })
      const before = await rowOf(id)
      const shown = await findChannel(core, id)
      const sent = {
        ...shown,
        groups: ['default'],
        model_mapping: null,
        tag: null,
        priority: '3',
        created_time: null,
        balance: 99,
      }
      await editChannel(core, { caller, patch: channelPatch.parse(sent) })
      expect(await rowOf(id)).toEqual({ ...before, priority: 3 })
    })

    it('without changes is neither written nor published', async () => {
      const id = await add({ weight: 3 })
      const audited = await lastAudit()
      published = []
      await edit(id, { weight: 3, key: '', status: 1 })
      expect([published, await lastAudit()]).toEqual([[], audited])
    })

    it('keeps the stored key when the given one is empty, and replaces it otherwise', async () => {
      const id = await add()
      await edit(id, { key: ' ' })
      expect(await keyOf(id)).toBe(secret)
      await edit(id, { key: ' new-key ' })
      expect(await keyOf(id)).toBe('new-key')
      await expect(edit(id, { key: 'a\nb' })).rejects.toEqual(code('field_invalid'))
    })

    it.each([
      ['another host', { base_url: 'https://evil.example' }],
      ['another port', { base_url: 'https://api.openai.com:444' }],
      ['another scheme', { base_url: 'http://api.openai.com' }],
      ['another vendor', { type: 43 }],
    ])('[T201] to %s needs the key again', async (_what, given) => {
      const id = await add()
      await expect(edit(id, given)).rejects.toEqual(code('channel_key_reenter'))
      expect(await rowOf(id)).toMatchObject({ base_url: '', type: 1 })
      await edit(id, { ...given, key: 'new-key' })
      expect(await keyOf(id)).toBe('new-key')
    })

    it('of the path, or to the default address written out, keeps the key', async () => {
      const id = await add()
      await edit(id, { base_url: 'https://api.openai.com/v1' })
      expect(await keyOf(id)).toBe(secret)
    })

    it('[T202] of the proxy needs the key again where the proxy can read it', async () => {
      const plain = await add({ base_url: 'http://models.example' })
      await expect(edit(plain, { setting: '{"proxy":"http://other.example:3128"}' })).rejects.toEqual(code('channel_key_reenter'))
      const encrypted = await add()
      await edit(encrypted, { setting: '{"proxy":"http://other.example:3128"}' })
    })

    it('[T083] is checked like a new channel', async () => {
      const id = await add()
      await expect(edit(id, { name: '' })).rejects.toEqual(code('channel_name_required'))
      await expect(edit(id, { models: '' })).rejects.toEqual(code('channel_models_required'))
      await expect(edit(id, { model_mapping: '{"a":"a"}' })).rejects.toEqual(code('channel_mapping_loop'))
      await expect(edit(id, { type: 3, key: 'k' })).rejects.toEqual(code('channel_url_required'))
      await expect(edit(id, { type: 29 })).rejects.toEqual(code('channel_type_unknown'))
      await expect(edit(0x7fffffff, { name: 'two' })).rejects.toEqual(code('not_found'))
      expect(channelPatch.safeParse({ id, status: 7 }).success).toBe(false)
    })

    it('of the status clears the reason for disabling; an unchanged status of 3 keeps it', async () => {
      const id = await add()
      await setRow(id, { status: 3, other_info: '{"status_reason":"no balance","status_time":1}' })
      await edit(id, { status: 3, name: 'two' })
      expect(await rowOf(id)).toMatchObject({ status: 3, name: 'two', other_info: expect.stringContaining('no balance') })
      expect(await edit(id, { status: 1 })).toMatchObject({ status: 1, other_info: '' })
    })

    it('to type 18 fills in its version', async () => {
      const id = await add()
      expect(await edit(id, { type: 18, key: 'a|b|c' })).toMatchObject({ type: 18, other: 'v2.1' })
    })

    it('repairs a row that is broken', async () => {
      const id = await add({ base_url: 'http://models.example' })
      await setRow(id, { setting: '{' })
      await core.db.updateTable('channel_keys').set({ key_sealed: 'broken' }).where('channel_id', '=', id).execute()
      expect(await edit(id, { setting: '', key: 'k' })).toMatchObject({ setting: '' })
      expect(await keyOf(id)).toBe('k')
    })

    it('loses no change when many edit one channel at once', async () => {
      const id = await add()
      await Promise.all([edit(id, { name: 'two' }), edit(id, { priority: 9 }), edit(id, { weight: 8 }), edit(id, { tag: 'x' })])
      expect(await rowOf(id)).toMatchObject({ name: 'two', priority: 9, weight: 8, tag: 'x' })
    })
  })

  it('is copied disabled, with its key and without its history', async () => {
    const id = await add({ name: 'n'.repeat(100), tag: 'blue', priority: 3 })
    await setRow(id, { used_quota: 5, balance: 2.5, response_time: 100, test_time: 9, other_info: '{}', created_time: 5 })
    const copy = await copyChannel(core, { caller, id, suffix: '_copy' })
    expect(copy).toMatchObject({
      status: 2,
      tag: 'blue',
      priority: 3,
      used_quota: 0,
      balance: 0,
      response_time: 0,
      created_time: nowSeconds,
    })
    expect(copy.name).toBe(`${'n'.repeat(95)}_copy`)
    await expect(copyChannel(core, { caller, id: 0x7fffffff, suffix: '_copy' })).rejects.toEqual(code('not_found'))
  })

  it('are deleted, enabled and disabled together, and the result counts the changed ones', async () => {
    const [one = 0, two = 0, three = 0] = await addAll({ key: 'a\nb\nc' })
    expect(await setChannelStatus(core, { caller, ids: [one, two, two, 0x7fffffff], status: 2 })).toBe(2)
    expect(await setChannelStatus(core, { caller, ids: [one, two, three], status: 2 })).toBe(1)
    expect(await lastAudit()).toMatchObject({ action: 'channel.status', target: `channel:${three}`, after: '{"status":2}' })
    expect(await setChannelStatus(core, { caller, ids: [three], status: 1 })).toBe(1)
    await setRow(two, { status: 3 })

    published = []
    expect(await deleteDisabledChannels(core, { caller })).toBe(2)
    expect(await deleteChannels(core, { caller, ids: [one, three] })).toBe(1)
    expect(await deleteChannels(core, { caller, ids: [one, three] })).toBe(0)
    expect(published).toEqual([0, 0])
    expect(await lastAudit()).toMatchObject({ action: 'channel.delete', target: `channel:${three}` })
  })

  describe('the list', () => {
    const find = async (
      filter: Partial<ChannelFilter> = {},
      more: { idSort?: boolean; tagMode?: boolean; untagged?: boolean; offset?: number; limit?: number } = {},
    ) => {
      const { idSort = false, tagMode = false, untagged = false, offset = 0, limit = 100 } = more
      const { items, total } = await findChannels(core, {
        filter: { ...anyChannel, ...filter },
        idSort,
        tagMode,
        untagged,
        page: { offset, limit },
      })
      return [...items.map(({ name }) => name), total]
    }

    beforeEach(async () => {
      await add({ name: 'Alpha', models: 'gpt-4o,o3', group: 'default', tag: 'x', priority: 1 })
      await add({ name: 'Beta', models: 'claude-2', group: 'vip,VIP2', tag: 'y', priority: 9 })
      await add({ name: 'Gamma 100%', models: 'gpt-4o-mini', group: 'VIP', tag: 'x', priority: 1, type: 14 })
      await add({ name: 'Delta', models: 'o3', group: 'default', priority: 5 })
    })

    it('is ordered by priority, then newest first, or newest first alone', async () => {
      expect(await find()).toEqual(['Beta', 'Delta', 'Gamma 100%', 'Alpha', 4])
      expect(await find({}, { idSort: true })).toEqual(['Delta', 'Gamma 100%', 'Beta', 'Alpha', 4])
      expect(await find({}, { offset: 1, limit: 2 })).toEqual(['Delta', 'Gamma 100%', 4])
    })

    it('is searched by id or part of the name, literally and in any case', async () => {
      const { id } = await core.db.selectFrom('channels').select('id').where('name', '=', 'Beta').executeTakeFirstOrThrow()
      expect(await find({ keyword: String(id) })).toEqual(['Beta', 1])
      expect(await find({ keyword: 'ETA' })).toEqual(['Beta', 1])
      expect(await find({ keyword: '100%' })).toEqual(['Gamma 100%', 1])
      for (const keyword of ['%', '_', "' or '1'='1", '\\', '9'.repeat(40)])
        expect((await find({ keyword })).length).toBeLessThan(3)
    })

    it('is searched by part of a model and by exact member of the groups', async () => {
      expect(await find({ model: 'GPT-4' })).toEqual(['Gamma 100%', 'Alpha', 2])
      expect(await find({ group: 'vip' })).toEqual(['Beta', 1])
      expect(await find({ group: 'VIP' })).toEqual(['Gamma 100%', 1])
      expect(await find({ group: 'defau' })).toEqual([0])
    })

    it('is filtered by status, type and tag, all together', async () => {
      expect(await find({ type: 14 })).toEqual(['Gamma 100%', 1])
      expect(await find({ tag: 'x', model: 'o3' })).toEqual(['Alpha', 1])
      expect(await find({ status: 2 })).toEqual([0])
    })

    it('in tag mode has every channel of the tags of the page, and only those', async () => {
      expect(await find({}, { tagMode: true })).toEqual(['Beta', 'Gamma 100%', 'Alpha', 2])
      expect(await find({}, { tagMode: true, limit: 1 })).toEqual(['Gamma 100%', 'Alpha', 2])
      expect(await find({}, { tagMode: true, offset: 1, limit: 1 })).toEqual(['Beta', 2])
      expect(await find({ keyword: 'alpha' }, { tagMode: true })).toEqual(['Gamma 100%', 'Alpha', 1])
    })

    it('in tag mode has the matching channels without a tag as the last group, if requested', async () => {
      const shape = { tagMode: true, untagged: true }
      expect(await find({}, shape)).toEqual(['Beta', 'Gamma 100%', 'Alpha', 'Delta', 3])
      expect(await find({}, { ...shape, offset: 2, limit: 1 })).toEqual(['Delta', 3])
      expect(await find({ keyword: 'alpha' }, shape)).toEqual(['Gamma 100%', 'Alpha', 1])
      expect(await find({ keyword: 'delta' }, shape)).toEqual(['Delta', 1])
    })

    it('of enabled models has each model once', async () => {
      await core.db.updateTable('channels').set({ status: 2 }).where('name', '=', 'Beta').execute()
      expect(await enabledModels(core)).toEqual(['gpt-4o', 'gpt-4o-mini', 'o3'])
    })
  })
})
