import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newClock } from '../../../../../test/helpers/clock.ts'
import { freshCore } from '../../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../../test/helpers/databases.ts'
import { channelInput, channelKey, channelPatch } from '../../../../contract/entities/channel.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { type ChannelFailure, reportFailure } from '../health/auto-disable.ts'
import { loadChannels, openChannel } from '../index/model-index.ts'
import { addKeys, listKeys, removeKey, setKeyStatus } from './channel-keys.ts'
import { addChannels, copyChannel, deleteChannels, editChannel, setChannelStatus } from './channels.ts'
import { findChannel } from './find-channels.ts'

const caller: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
const nowSeconds = 1_800_000_000
const clock = newClock(nowSeconds * 1000)
const secrets = ['sk-first-0123456789', 'sk-second-0123456789', 'sk-third-0123456789'] as const
const refused: ChannelFailure = { status: 401, code: '', type: '', message: 'Incorrect API key provided' }

eachDatabase('the keys of a channel', (fresh) => {
  let core: Core
  let published: number[] = []

  beforeAll(async () => {
    const opened = await freshCore(fresh, { now: () => clock.nowMs })
    const current = { ...opened.core.options.current, AutomaticDisableChannelEnabled: true }
    core = { ...opened.core, options: { ...opened.core.options, current } }
    core.bus.on('channels', (id) => void published.push(id))
    return opened.close
  })
  beforeEach(async () => {
    await core.db.deleteFrom('channels').execute()
    await core.db.deleteFrom('channel_keys').execute()
  })

  const addAll = (given: object = {}) =>
    addChannels(core, {
      caller,
      input: channelInput.parse({ type: 1, name: 'one', key: secrets.join('\n'), models: 'm', multi_key: true, ...given }),
    })
  const add = async (given: object = {}) => {
    const [id = 0] = await addAll(given)
    published = []
    return id
  }
  const edit = (id: number, given: object) => editChannel(core, { caller, patch: channelPatch.parse({ id, ...given }) })
  const fail = async (channelId: number, at: number) => {
    const channel = (await openChannel(core, channelId)).keys.at(at)
    return channel ? reportFailure(core, channel, refused) : undefined
  }
  const usable = async (id: number) => (await loadChannels(core)).keysOf(id).map(({ key }) => key)
  const idsOf = async (id: number) => (await listKeys(core, id)).map((key) => key.id)
  const code = (expected: string) => expect.objectContaining({ code: expected })

  it('are created with it, one channel for all of them, and are listed one by one for the relay', async () => {
    const id = await add()
    const index = await loadChannels(core)
    expect(index.keysOf(id)).toMatchObject(secrets.map((key) => ({ id, key, name: 'one' })))
    expect(new Set(index.keysOf(id).map(({ keyId }) => keyId)).size).toBe(3)
    expect(index.candidates('default', 'm').map((tier) => tier.map((channel) => channel.id))).toEqual([[id]])
    expect(await findChannel(core, id)).toMatchObject({ keys_total: 3, keys_enabled: 3 })
  })

  it('are one channel each by default', async () => {
    expect(await addAll({ multi_key: false })).toHaveLength(3)
  })

  it('are listed by their tails, never in full', async () => {
    const id = await add({ key: `${secrets[0]}\nshort-key` })
    const listed = await listKeys(core, id)
    expect(listed.map((key) => channelKey.parse(key))).toMatchObject([
      { tail: '…6789', status: 1, status_reason: '', status_time: 0, created_time: nowSeconds },
      { tail: '…', status: 1 },
    ])
    expect(JSON.stringify(listed)).not.toMatch(/sk-first|short-key|v1\./)
    await expect(listKeys(core, id + 1)).rejects.toEqual(code('not_found'))
  })

  it('are added unless they exist, and audited without their values', async () => {
    const id = await add()
    const added = await addKeys(core, { caller, channelId: id, key: `${secrets[1]}\nsk-fourth-0123456789\nsk-fourth-0123456789` })
    expect(added).toHaveLength(1)
    expect(await usable(id)).toEqual([...secrets, 'sk-fourth-0123456789'])
    expect(published).toEqual([id])
    const audit = await core.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow()
    expect(audit).toMatchObject({ actor_id: 1, action: 'channel.key-add', target: `channel:${id}/key:${added[0]}` })
    expect(JSON.stringify(await core.db.selectFrom('audit').selectAll().execute())).not.toMatch(/sk-|v1\./)
    expect(JSON.stringify(await core.db.selectFrom('channel_keys').selectAll().execute())).not.toMatch(
      /sk-(?:first|second|third|fourth)/,
    )
    await expect(addKeys(core, { caller, channelId: id, key: ' \n' })).rejects.toEqual(code('channel_name_required'))
    await expect(addKeys(core, { caller, channelId: id, key: 'schlüssel' })).rejects.toEqual(code('field_invalid'))
    await expect(addKeys(core, { caller, channelId: id + 1, key: 'k' })).rejects.toEqual(code('not_found'))
  })

  it('are removed, but the last one stays', async () => {
    const id = await add({ key: secrets.slice(0, 2).join('\n') })
    const other = await add({ key: secrets[2] })
    const [first = 0, second = 0] = await idsOf(id)
    await expect(removeKey(core, { caller, channelId: other, keyId: first })).rejects.toEqual(code('not_found'))
    await removeKey(core, { caller, channelId: id, keyId: first })
    expect(await usable(id)).toEqual([secrets[1]])
    await expect(removeKey(core, { caller, channelId: id, keyId: second })).rejects.toEqual(code('channel_key_last'))
  })

  it('are disabled and enabled by hand', async () => {
    const id = await add()
    const [first = 0, second = 0] = await idsOf(id)
    const set = (ids: number[], status: number) => setKeyStatus(core, { caller, channelId: id, ids, status })
    expect(await set([first, second], 2)).toBe(2)
    expect(await set([first, second], 2)).toBe(0)
    expect([await usable(id), await findChannel(core, id)]).toMatchObject([[secrets[2]], { keys_enabled: 1, status: 1 }])
    expect(await set([first], 1)).toBe(1)
    expect(await usable(id)).toEqual([secrets[0], secrets[2]])
  })

  it('are deleted with their channel', async () => {
    const id = await add()
    await deleteChannels(core, { caller, ids: [id] })
    expect(await core.db.selectFrom('channel_keys').selectAll().execute()).toEqual([])
  })

  it('are copied with it, including disabled ones', async () => {
    const id = await add()
    await fail(id, 0)
    const copy = await copyChannel(core, { caller, id, suffix: '_copy' })
    expect(copy).toMatchObject({ status: 2, keys_total: 3, keys_enabled: 3 })
    expect((await openChannel(core, copy.id)).keys.map(({ key }) => key)).toEqual(secrets)
  })

  it('cannot be decrypted for another channel', async () => {
    const [one = 0, two = 0] = await addAll({ multi_key: false, key: 'k-1\nk-2' })
    await core.db.updateTable('channel_keys').set({ channel_id: two }).where('channel_id', '=', one).execute()
    expect(await usable(two)).toEqual(['k-2'])
    expect(await listKeys(core, two)).toMatchObject([{ tail: '…' }, { tail: '…' }])
  })

  describe('a key that fails', () => {
    it('is disabled with its reason and time, and the channel continues with the others', async () => {
      const id = await add()
      expect(await fail(id, 1)).toBe(true)
      expect(await listKeys(core, id)).toMatchObject([
        { status: 1 },
        { status: 3, status_reason: 'status 401: Incorrect API key provided', status_time: nowSeconds },
        { status: 1 },
      ])
      expect(await usable(id)).toEqual([secrets[0], secrets[2]])
      expect(await findChannel(core, id)).toMatchObject({ status: 1, other_info: '', keys_enabled: 2 })
      expect(published).toEqual([id])
      const logs = await core.db.selectFrom('logs').selectAll().orderBy('id', 'desc').limit(1).execute()
      expect(logs).toMatchObject([{ type: 4, content: expect.stringContaining('Key #') }])
    })

    it('disables its channel too when it was the last one, with the reason', async () => {
      const id = await add()
      for (let left = 3; left > 0; left--) expect(await fail(id, 0)).toBe(true)
      expect(await findChannel(core, id)).toMatchObject({
        status: 3,
        keys_enabled: 0,
        other_info: expect.stringContaining('Incorrect API key'),
      })
      expect(await usable(id)).toEqual([])
    })

    it('is disabled once, no matter how many requests fail at the same time', async () => {
      const id = await add()
      const channels = (await openChannel(core, id)).keys
      const all = Array.from({ length: 60 }, (_, at) => channels[at % 3]).flatMap((channel) => channel ?? [])
      const answers = await Promise.all(all.map((channel) => reportFailure(core, channel, refused)))
      expect(answers.filter(Boolean)).toHaveLength(3)
      expect(await findChannel(core, id)).toMatchObject({ status: 3, keys_enabled: 0 })
    })

    it('is enabled again with the channel when no other key is left', async () => {
      const id = await add()
      const [first = 0] = await idsOf(id)
      await setKeyStatus(core, { caller, channelId: id, ids: [first], status: 2 })
      await fail(id, 0)
      await fail(id, 0)
      expect((await findChannel(core, id)).status).toBe(3)
      await setChannelStatus(core, { caller, ids: [id], status: 1 })
      expect(await usable(id)).toEqual([secrets[1], secrets[2]])
    })

    it('stays disabled when its channel is enabled and has others', async () => {
      const id = await add()
      await fail(id, 0)
      await edit(id, { status: 2 })
      await edit(id, { status: 1 })
      expect(await usable(id)).toEqual([secrets[1], secrets[2]])
    })
  })

  describe('a channel without a key in use', () => {
    it('is disabled, and enabled again with the next key', async () => {
      const id = await add({ key: secrets[0] })
      const keys = await idsOf(id)
      await setKeyStatus(core, { caller, channelId: id, ids: keys, status: 2 })
      expect(await findChannel(core, id)).toMatchObject({ status: 3, other_info: expect.stringContaining('no key is in use') })
      await addKeys(core, { caller, channelId: id, key: secrets[1] })
      expect([await usable(id), await findChannel(core, id)]).toMatchObject([[secrets[1]], { status: 1, other_info: '' }])
    })

    it('gets all of its keys back when it is enabled by hand', async () => {
      const id = await add()
      await setKeyStatus(core, { caller, channelId: id, ids: await idsOf(id), status: 2 })
      await edit(id, { status: 1 })
      expect(await usable(id)).toEqual(secrets)
    })

    it('stays disabled when an admin has disabled it', async () => {
      const id = await add({ key: secrets[0] })
      await edit(id, { status: 2 })
      await setKeyStatus(core, { caller, channelId: id, ids: await idsOf(id), status: 2 })
      await addKeys(core, { caller, channelId: id, key: secrets[1] })
      expect((await findChannel(core, id)).status).toBe(2)
    })
  })

  describe('a new key by an edit of the channel', () => {
    it('keeps the id of the key that it replaces, and is enabled', async () => {
      const id = await add({ key: secrets[0] })
      const before = await idsOf(id)
      await fail(id, 0)
      await edit(id, { key: secrets[1] })
      expect([await idsOf(id), await usable(id)]).toEqual([before, [secrets[1]]])
    })

    it('does not replace several keys unless requested', async () => {
      const id = await add()
      await expect(edit(id, { key: 'sk-only-0123456789' })).rejects.toEqual(code('channel_has_keys'))
      await edit(id, { key: 'k-1\nk-2', multi_key: true })
      expect(await usable(id)).toEqual(['k-1', 'k-2'])
    })
  })
})
