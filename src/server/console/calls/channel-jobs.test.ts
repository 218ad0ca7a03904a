import { describe, expect, it } from 'vitest'
import { type ServerSettings, serverOfTest, type TestServer } from '../../../../test/helpers/app.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import { addChannel } from '../../../../test/helpers/seed.ts'
import { upstreamOfTest } from '../../../../test/helpers/upstream.ts'
import { eventually, httpUpstream, model } from '../../../../test/relay/stage.ts'
import type { Channel, ChannelJob, ChannelKey, ModelChanges } from '../../../contract/entities/channel.ts'

const setOption = (server: TestServer, key: string, value: string) => server.call('PUT /api/option/', { key, value })
const channelOf = (server: TestServer, id: number) => server.call<Channel>(`GET /api/channel/${id}`)
const jobOf = async (server: TestServer, name: string) =>
  (await server.call<ChannelJob[]>('GET /api/channel/jobs')).find((job) => job.name === name)
const refusal = async (server: TestServer, line: string) => {
  const answer = (await (await server.raw(line)).json()) as { success: boolean; code?: string }
  return answer.success ? 'accepted' : answer.code
}

async function runJob(server: TestServer, line: string, name: string): Promise<ChannelJob | undefined> {
  expect(await server.call(line)).toBeNull()
  await eventually(`${name} ends`, async () => !['running', undefined].includes((await jobOf(server, name))?.outcome))
  return jobOf(server, name)
}

anyDatabase('jobs over all channels', (_fresh, kind) => {
  it('are tested in the background, one run at a time, with progress', async () => {
    const server = await serverOfTest(kind)
    const upstream = await upstreamOfTest()
    const { promise: gate, resolve: go } = Promise.withResolvers<void>()
    upstream.program('*', async () => {
      await gate
      return {}
    })
    for (let count = 0; count < 6; count++) await addChannel(server, { url: upstream.url, models: model })
    const drawing = await addChannel(server, { url: upstream.url, models: 'mj_imagine', type: 2 })

    expect(await server.call('GET /api/channel/test')).toBeNull()
    expect(await refusal(server, 'POST /api/channel/test')).toBe('job_running')
    expect(await jobOf(server, 'test-channels')).toMatchObject({ outcome: 'running', done: 0, finished_at: 0 })
    await eventually('its size is known', async () => (await jobOf(server, 'test-channels'))?.total === 7)
    go()
    await eventually('it ends', async () => (await jobOf(server, 'test-channels'))?.outcome === 'ok')
    expect(await jobOf(server, 'test-channels')).toMatchObject({
      done: 7,
      total: 7,
      counts: { passed: 6, cannot: 1 },
      detail: '',
    })
    expect(await channelOf(server, drawing)).toMatchObject({ status: 1, test_time: 0 })
    const audit = await server.app.db.selectFrom('audit').selectAll().where('action', '=', 'job.start').execute()
    expect(audit).toMatchObject([{ actor_id: 1, target: 'job:test-channels' }])
  })

  it('are disabled when they fail for good or are too slow, and enabled when they recover, key by key', async () => {
    let skewMs = 0
    const settings: ServerSettings = { now: () => Date.now() + skewMs }
    const server = await serverOfTest(kind, settings)
    const upstream = await upstreamOfTest()
    upstream.program('*', (entry) => {
      const key = entry.headers.authorization?.replace('Bearer ', '')
      if (key === 'slow-key-0123') skewMs += 6000
      return key?.startsWith('bad') ? { status: 401 } : key === 'busy-key-0123' ? { status: 503 } : {}
    })
    const add = (key: string, more: object = {}) => addChannel(server, { url: upstream.url, models: model, key, ...more })
    const [good, bad, busy, keeps] = [
      await add('good-key-0123'),
      await add('bad-key-0123'),
      await add('busy-key-0123'),
      await add('bad-2', { auto_ban: 0 }),
    ]
    const several = await add('good-1\nbad-3\ngood-2', { multi_key: true })
    for (const option of ['AutomaticDisableChannelEnabled', 'AutomaticEnableChannelEnabled'])
      await setOption(server, option, 'true')
    await server.app.db.updateTable('channel_keys').set({ status: 3 }).where('channel_id', 'in', [good, several]).execute()
    await server.app.db.updateTable('channels').set({ status: 3 }).where('id', 'in', [good, several]).execute()

    expect(await runJob(server, 'POST /api/channel/test', 'test-channels')).toMatchObject({ counts: { passed: 2, failed: 3 } })
    expect(await channelOf(server, good)).toMatchObject({ status: 1 })
    expect(await channelOf(server, bad)).toMatchObject({ status: 3, other_info: expect.stringContaining('401') })
    for (const id of [busy, keeps]) expect(await channelOf(server, id)).toMatchObject({ status: 1 })
    expect(await channelOf(server, several)).toMatchObject({ status: 1, keys_enabled: 2 })
    expect((await server.call<ChannelKey[]>(`GET /api/channel/${several}/keys`)).map(({ status }) => status)).toEqual([1, 3, 1])

    const slow = await add('slow-key-0123')
    await runJob(server, 'POST /api/channel/test', 'test-channels')
    expect(await channelOf(server, slow)).toMatchObject({ status: 3, other_info: expect.stringContaining('more than 5 s') })
    await runJob(server, 'POST /api/channel/test', 'test-channels')
    expect((await channelOf(server, slow)).status).toBe(3)
  })

  it('read the balance of one channel at once, and of all channels in the background', async () => {
    const server = await serverOfTest(kind)
    const asked: string[] = []
    const url = await httpUpstream((request, response) => {
      const key = request.headers.authorization?.replace('Bearer ', '') ?? ''
      asked.push(`${key} ${request.url?.split('?')[0]}`)
      if (key === 'refused') return response.writeHead(401).end('{}')
      const body = request.url?.includes('usage') ? { total_usage: 250 } : { hard_limit_usd: key === 'empty' ? 2.5 : 10 }
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    const add = (key: string, more: object = {}) => addChannel(server, { url, models: model, key, ...more })
    const [one, two, refused, none] = [
      await add('one'),
      await add('a\nb', { multi_key: true }),
      await add('refused'),
      await add('k', { type: 14 }),
    ]

    const answer = await (await server.raw(`GET /api/channel/update_balance/${one}/`)).json()
    expect(answer).toMatchObject({ success: true, balance: 7.5 })
    expect(asked).toEqual(['one /v1/dashboard/billing/subscription', 'one /v1/dashboard/billing/usage'])
    expect(await channelOf(server, one)).toMatchObject({ balance: 7.5, balance_updated_time: expect.any(Number) })
    expect(await refusal(server, `POST /api/channel/update_balance/${refused}`)).toBe('channel_balance_failed')
    expect(await refusal(server, `POST /api/channel/update_balance/${none}`)).toBe('channel_balance_unsupported')

    await setOption(server, 'AutomaticDisableChannelEnabled', 'true')
    const empty = await add('empty')
    const job = await runJob(server, 'GET /api/channel/update_balance', 'refresh-balances')
    expect(job).toMatchObject({ outcome: 'ok', counts: { read: 3, failed: 1, cannot: 1 } })
    expect(await channelOf(server, two)).toMatchObject({ balance: 15, status: 1 })
    expect(await channelOf(server, empty)).toMatchObject({
      balance: 0,
      status: 3,
      other_info: expect.stringContaining('no balance'),
    })
  })

  it('find new models, which an admin applies', async () => {
    const server = await serverOfTest(kind)
    const listed = ['m-1']
    const upstream = await upstreamOfTest({ models: listed })
    const id = await addChannel(server, { url: upstream.url, models: 'm-1' })
    await addChannel(server, { url: 'http://127.0.0.1:9', models: 'm-1' })
    expect(await runJob(server, 'POST /api/channel/model_changes', 'check-models')).toMatchObject({
      counts: { same: 1, failed: 1 },
    })
    listed.push('m-2')
    expect(await runJob(server, 'POST /api/channel/model_changes', 'check-models')).toMatchObject({
      counts: { changed: 1, failed: 1 },
    })
    const changes = await server.call<ModelChanges[]>('GET /api/channel/model_changes')
    expect(changes).toMatchObject([{ channel_id: id, added: ['m-2'], removed: [] }])
    expect(await server.call<Channel>(`POST /api/channel/${id}/model_changes/apply`, {})).toMatchObject({ models: 'm-1,m-2' })
    expect(server.app.channels.current.candidates('default', 'm-2')).toHaveLength(1)
    expect(await server.call('GET /api/channel/model_changes')).toEqual([])
  })
})

describe('calls for many channels', () => {
  it('edit, enable, disable, tag and repair channels, in force before the reply', async () => {
    const server = await serverOfTest('sqlite')
    const ids = [
      await addChannel(server, { url: 'http://127.0.0.1:9', models: model }),
      await addChannel(server, { url: '', models: model }),
    ]
    const serves = (name = model) => server.app.channels.current.candidates('default', name).flat().length
    expect(await server.call('POST /api/channel/batch/tag', { ids, tag: 'blue' })).toBe(2)
    expect(await server.call('POST /api/channel/tag/disabled', { tag: 'blue' })).toBe(2)
    expect(serves()).toBe(0)
    expect(await server.call('POST /api/channel/tag/enabled', { tag: 'blue' })).toBe(2)
    expect(await server.call('PUT /api/channel/tag', { tag: 'blue', new_tag: 'green', models: 'a,b', priority: 7 })).toBe(2)
    expect([serves(), serves('a')]).toEqual([0, 2])
    expect(await server.call<Channel[]>('GET /api/channel/?tag_mode=true')).toMatchObject([
      { tag: 'green', priority: 7 },
      { tag: 'green' },
    ])
    expect(await server.call('POST /api/channel/fix')).toBe(2)
    const answer = (await (await server.raw('POST /api/channel/batch/tag', { ids, tag: ' ' })).json()) as { code: string }
    expect(answer.code).toBe('tag_required')
  })
})
