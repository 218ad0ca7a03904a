import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { testCore } from '../../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../../test/helpers/databases.ts'
import { testLogger } from '../../../../../test/helpers/logger.ts'
import { whileLocked } from '../../../../../test/helpers/while-locked.ts'
import { channelInput } from '../../../../contract/entities/channel.ts'
import type { Snapshot } from '../../../base/lib/collections/snapshot.ts'
import { UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { addChannels, deleteChannels, editChannel, setChannelStatus } from '../edit/channels.ts'
import { sealKey } from '../row/keys.ts'
import { type ChannelIndex, loadChannels, openChannel, openChannels } from './model-index.ts'

const caller: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }

eachDatabase('the index of channels', (fresh, kind) => {
  let core: Core
  let upstream: UpstreamAgents
  let channels: Snapshot<ChannelIndex>
  let logged: string[] = []

  beforeAll(async () => {
    const test = await fresh()
    const database = await test.open()
    core = { ...(await testCore(database)), logger: testLogger('error', (line) => void logged.push(line)) }
    upstream = new UpstreamAgents()
    channels = await openChannels(core, upstream)
    return async () => {
      await upstream.close()
      await database.close()
      await test.drop()
    }
  })
  beforeEach(async () => {
    await core.db.deleteFrom('channels').execute()
    await channels.refresh()
    logged = []
  })

  const add = (given: object = {}) =>
    addChannels(core, { caller, input: channelInput.parse({ type: 1, name: 'one', key: 'k', models: 'm', ...given }) })
  const setRow = (id: number, values: object) => core.db.updateTable('channels').set(values).where('id', '=', id).execute()
  const serving = async (model = 'm', group = 'default') => {
    await channels.refresh()
    return channels.current.candidates(group, model).map((tier) => tier.map(({ id }) => id))
  }

  it.runIf(kind === 'postgres')('never combines a new key of a channel with its former address', async () => {
    const [id = 0] = await add({ key: 'old', base_url: 'http://old.example' })
    const read = [async () => (await loadChannels(core)).byId.get(id), async () => (await openChannel(core, id)).keys[0]]
    const found = await whileLocked(core.db, {
      lock: [sql`lock table channel_keys in access exclusive mode`],
      works: read,
      meanwhile: async (within) => {
        await within.updateTable('channels').set({ base_url: 'http://new.example' }).where('id', '=', id).execute()
        await within
          .updateTable('channel_keys')
          .set({ key_sealed: sealKey(core, id, 'new') })
          .execute()
      },
    })
    const before = { status: 'fulfilled', value: { key: 'old', baseUrl: 'http://old.example' } }
    expect(found).toMatchObject([before, before])
    expect(await Promise.all(read.map((each) => each()))).toMatchObject(
      Array(2).fill({ key: 'new', baseUrl: 'http://new.example' }),
    )
  })

  it('holds everything the relay needs, with keys, mappings and addresses parsed', async () => {
    const given = {
      key: 'secret',
      models: 'a,b',
      groups: ['default', 'vip'],
      model_mapping: '{"a":"b","b":"c"}',
      status_code_mapping: '{"400":"500","429":503}',
      setting: '{"proxy":"socks5://127.0.0.1:1080","idle_timeout_ms":5000}',
      openai_organization: 'org',
      max_input_tokens: 100,
      auto_ban: 0,
    }
    const [id = 0] = await add(given)
    const channel = (await loadChannels(core)).byId.get(id)
    expect(channel).toMatchObject({
      id,
      key: 'secret',
      baseUrl: 'https://api.openai.com',
      organization: 'org',
      autoBan: false,
      maxInputTokens: 100,
      setting: { proxy: 'socks5://127.0.0.1:1080', idle_timeout_ms: 5000 },
      provider: { key: 'openai' },
    })
    expect([channel?.models, channel?.groups]).toEqual([new Set(['a', 'b']), new Set(['default', 'vip'])])
    expect(channel?.modelMapping).toEqual(new Map(Object.entries({ a: 'c', b: 'c' })))
    expect(channel?.statusCodeMapping).toEqual(
      new Map([
        [400, 500],
        [429, 503],
      ]),
    )
  })

  it('has one array per priority, highest first', async () => {
    const [low = 0] = await add({ priority: -5 })
    const [high = 0, other = 0] = await add({ priority: 5, key: 'k1\nk2' })
    expect(await serving()).toEqual([[high, other], [low]])
  })

  it('is reloaded when a channel change is published, and follows every change', async () => {
    const [id = 0] = await add()
    await expect.poll(() => channels.current.byId.has(id)).toBe(true)
    await editChannel(core, { caller, patch: { id, models: 'other', group: 'vip' } })
    expect([await serving(), await serving('other', 'vip')]).toEqual([[], [[id]]])
    await setChannelStatus(core, { caller, ids: [id], status: 2 })
    expect(await serving('other', 'vip')).toEqual([])
    await setChannelStatus(core, { caller, ids: [id], status: 1 })
    expect(await serving('other', 'vip')).toEqual([[id]])
    await deleteChannels(core, { caller, ids: [id] })
    expect([await serving('other', 'vip'), channels.current.byId.size]).toEqual([[], 0])
  })

  it.each([
    ['a key that does not open', { key_sealed: 'v1.000000000000.a.b.c' }],
    ['a key that is empty', { key_sealed: '' }],
    ['a mapping that is no JSON', { model_mapping: '{' }],
    ['a mapping in a loop', { model_mapping: '{"a":"a"}' }],
    ['a bad status mapping', { status_code_mapping: '{"a":1}' }],
    ['bad settings', { setting: '[]' }],
    ['a proxy of an unknown kind', { setting: '{"proxy":"gopher://h"}' }],
    ['an unknown type', { type: 9999 }],
  ])('leaves out a row with %s, logs it, and continues with the others', async (_what, broken) => {
    const [bad = 0, good = 0] = await add({ key: 'secret-1\nsecret-2' })
    if ('key_sealed' in broken) await core.db.updateTable('channel_keys').set(broken).where('channel_id', '=', bad).execute()
    else await setRow(bad, broken)
    logged = []
    expect(await serving()).toEqual([[good]])
    expect(logged.join('')).toContain(`"channel":${bad}`)
    expect(logged.join('')).not.toContain('secret-')
  })

  it('drops only the connections of channels that were deleted or whose address changed', async () => {
    const [one = 0, two = 0] = await add({ key: 'a\nb', base_url: 'http://127.0.0.1:9' })
    await channels.refresh()
    const open = (id: number) => upstream.for({ id, keyId: 1, origin: 'http://127.0.0.1:9', proxy: '', connectTimeoutMs: 1000 })
    const pools = [open(one), open(two)]

    await editChannel(core, { caller, patch: { id: one, name: 'renamed' } })
    await channels.refresh()
    expect([open(one), open(two)]).toEqual(pools)
    expect(open(one)).toBe(pools[0])

    await editChannel(core, { caller, patch: { id: one, key: 'new' } })
    await channels.refresh()
    expect(open(one)).not.toBe(pools[0])
    expect(open(two)).toBe(pools[1])
  })
})
