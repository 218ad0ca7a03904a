import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshCore } from '../../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../../test/helpers/databases.ts'
import { upstreamOfTest } from '../../../../../test/helpers/upstream.ts'
import { whileLocked } from '../../../../../test/helpers/while-locked.ts'
import { channelInput } from '../../../../contract/entities/channel.ts'
import { UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { addChannels, deleteChannels } from './channels.ts'
import { findChannel } from './find-channels.ts'
import { applyModelChanges, checkModels, compare, dismissModelChanges, listModelChanges } from './model-changes.ts'

const caller: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
const none = { added: [], removed: [] }

describe("changes of an upstream's model list", () => {
  const served = new Map([
    ['a', 'a'],
    ['short', 'long-name'],
  ])
  const see = (before: string[], now: string[], open: { added: string[]; removed: string[] } = none) =>
    compare(served, { before, now, open })

  it('are models that were added or removed', () => {
    expect(see(['a', 'x'], ['a', 'x', 'new'])).toEqual({ added: ['new'], removed: [] })
    expect(see(['a', 'long-name'], ['x'])).toEqual({ added: ['x'], removed: ['a', 'short'] })
  })

  it('exclude new models that the channel has already, under either name, and removed ones that it never had', () => {
    expect(see([], ['a', 'long-name'])).toEqual(none)
    expect(see(['x', 'y'], ['y'])).toEqual(none)
    expect(see(['x'], ['x'])).toEqual(none)
  })

  it('stay open until they are settled, unless the upstream takes them back', () => {
    const open = { added: ['new', 'brief'], removed: ['a', 'short'] }
    expect(see(['new', 'long-name'], ['new', 'long-name'], open)).toEqual({ added: ['new'], removed: ['a'] })
  })
})

eachDatabase('changes of upstream models', (fresh, kind) => {
  let core: Core & { upstream: UpstreamAgents }

  beforeAll(async () => {
    const opened = await freshCore(fresh)
    const upstream = new UpstreamAgents()
    core = { ...opened.core, upstream }
    return async () => {
      await upstream.close()
      await opened.close()
    }
  })
  beforeEach(async () => {
    await core.db.deleteFrom('channels').execute()
    await core.db.deleteFrom('upstream_models').execute()
  })

  async function stage() {
    const listed = ['m-1', 'm-2']
    const upstream = await upstreamOfTest({ models: listed })
    const input = channelInput.parse({ type: 1, name: 'one', key: 'k', models: 'm-1,m-2,own*', base_url: upstream.url })
    const [id = 0] = await addChannels(core, { caller, input })
    await checkModels(core, id)
    return { id, list: (...models: string[]) => listed.splice(0, 9, ...models) }
  }
  const modelsOf = async (id: number) => (await findChannel(core, id)).models
  const code = (expected: string) => expect.objectContaining({ code: expected })

  it('are noticed, and applied when an admin wants it', async () => {
    const { id, list } = await stage()
    expect(await listModelChanges(core)).toEqual([])
    list('m-2', 'm-3', 'm-4')
    expect(await checkModels(core, id)).toEqual({ added: ['m-3', 'm-4'], removed: ['m-1'] })
    expect(await checkModels(core, id)).toEqual({ added: ['m-3', 'm-4'], removed: ['m-1'] })
    expect(await listModelChanges(core)).toMatchObject([{ channel_id: id, name: 'one', added: ['m-3', 'm-4'], removed: ['m-1'] }])
    expect(await modelsOf(id)).toBe('m-1,m-2,own*')

    await applyModelChanges(core, { caller, channelId: id, add: ['m-3', 'unheard-of'], remove: [] })
    expect([await modelsOf(id), await listModelChanges(core)]).toMatchObject([
      'm-1,m-2,own*,m-3',
      [{ added: ['m-4'], removed: ['m-1'] }],
    ])
    await applyModelChanges(core, { caller, channelId: id })
    expect([await modelsOf(id), await listModelChanges(core)]).toEqual(['m-2,own*,m-3,m-4', []])
    await expect(applyModelChanges(core, { caller, channelId: id })).rejects.toEqual(code('nothing_changed'))
    expect(await checkModels(core, id)).toEqual(none)
    const audit = await core.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirst()
    expect(audit).toMatchObject({ action: 'channel.models-apply', after: '{"added":["m-4"],"removed":["m-1"]}' })
  })

  it('are deleted when an admin dismisses them', async () => {
    const { id, list } = await stage()
    list('m-2', 'm-3')
    await checkModels(core, id)
    await dismissModelChanges(core, { caller, channelId: id })
    expect([await listModelChanges(core), await checkModels(core, id)]).toEqual([[], none])
  })

  it.runIf(kind === 'postgres')('stay deleted when an admin dismisses them while the upstream is being called', async () => {
    const { id, list } = await stage()
    list('m-2', 'm-3')
    await checkModels(core, id)
    await whileLocked(core.db, {
      lock: [sql`select id from channels for update`, sql`lock table upstream_models in share mode`],
      works: [() => checkModels(core, id)],
      meanwhile: (within) => within.updateTable('upstream_models').set({ added: '[]', removed: '[]' }).execute(),
    })
    expect(await listModelChanges(core)).toEqual([])
  })

  it('are deleted with their channel', async () => {
    const { id } = await stage()
    await deleteChannels(core, { caller, ids: [id] })
    expect(await core.db.selectFrom('upstream_models').selectAll().execute()).toEqual([])
    await expect(checkModels(core, id)).rejects.toEqual(code('not_found'))
  })
})
