import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serverOfTest, startServer, type TestServer } from '../../../../test/helpers/app.ts'
import { upstreamOfTest } from '../../../../test/helpers/upstream.ts'
import type { Channel, ChannelType } from '../../../contract/entities/channel.ts'
import { channelColors } from '../../../contract/entities/channel-status.ts'

const secret = 'upstream-key-0123456789'

const add = async (server: TestServer, given: object = {}): Promise<number[]> =>
  server.call<number[]>('POST /api/channel/', { name: 'one', type: 1, key: secret, models: 'gpt-4o-mini', ...given })
const refusal = async (server: TestServer, line: string, body?: unknown) => {
  const answer = (await (await server.raw(line, body)).json()) as { success: boolean; code?: string }
  return answer.success ? 'accepted' : answer.code
}

describe('channel calls', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite')
  })
  afterAll(() => server.stop())

  it('list bare arrays from page 0, pages on request, and all matches of a search', async () => {
    const server = await serverOfTest('sqlite')
    await add(server, { key: Array.from({ length: 12 }, (_, at) => `key-${at}`).join('\n') })

    expect(await server.call('GET /api/channel/?p=0&page_size=10&id_sort=false&tag_mode=false')).toHaveLength(10)
    expect(await server.call('GET /api/channel/?p=1&page_size=10')).toHaveLength(2)
    expect(await server.call('GET /api/channel/')).toHaveLength(10)
    expect(await server.call('GET /api/channel?p=x&page_size=9999')).toHaveLength(12)
    expect(await server.call('GET /api/channel/?paged=true&p=1')).toMatchObject({
      total: 12,
      page: 1,
      page_size: 10,
      items: [{}, {}],
    })
    expect(await server.call('GET /api/channel/search?keyword=one&group=null&model=&id_sort=true')).toHaveLength(12)
    expect(await server.call('GET /api/channel/search?model=gpt-4o&paged=true&page_size=5')).toMatchObject({
      total: 12,
      page_size: 5,
    })
    expect(await server.call('GET /api/channel/search?status=2')).toEqual([])
  })

  it('never return a key, in any form and to any call', async () => {
    const [id] = await add(server, { tag: 'blue' })
    const lines: [string, unknown?][] = [
      [`GET /api/channel/${id}`],
      ['GET /api/channel/'],
      ['GET /api/channel/?tag_mode=true'],
      [`GET /api/channel/search?keyword=${secret}`],
      ['GET /api/channel/search?keyword=one&tag_mode=true'],
      ['PUT /api/channel/', { id, name: 'two', key: `${secret}-new` }],
      [`POST /api/channel/${id}/copy`],
    ]
    for (const [line, body] of lines) {
      const answer = await (await server.raw(line, body)).text()
      expect(answer).toContain('"success":true')
      expect(answer).not.toMatch(/upstream-key|key_sealed|v1\./)
    }
  })

  it('[T200] to private addresses need a host that allows them, and are in the audit log with the address', async () => {
    const privately = { base_url: 'http://10.1.2.3:11434' }
    const closed = await serverOfTest('sqlite', { env: { BLOCK_PRIVATE_UPSTREAMS: true } })
    const addressesIn = async (server: TestServer) => {
      const { items } = await server.call<{ items: { action: string; after: string }[] }>('GET /api/audit/?target=channel:')
      return items.map(({ action, after }) => `${action} ${JSON.parse(after).base_url ?? ''}`)
    }
    expect(await refusal(closed, 'POST /api/channel/', { name: 'one', type: 1, key: secret, models: 'm', ...privately })).toBe(
      'channel_url_invalid',
    )
    const [outside] = await add(closed, { base_url: 'https://models.example' })
    for (const base_url of [privately.base_url, 'http://[::ffff:10.1.2.3]', 'http://127.0.0.1:1', 'http://[fd00::1]'])
      expect(await refusal(closed, 'PUT /api/channel/', { id: outside, key: secret, base_url }), base_url).toBe(
        'channel_url_invalid',
      )
    expect(await addressesIn(closed)).toEqual(['channel.add https://models.example'])

    const open = await serverOfTest('sqlite')
    const [inside] = await add(open, privately)
    await open.call('PUT /api/channel/', { id: inside, key: secret, base_url: 'http://192.168.1.9' })
    expect((await addressesIn(open)).sort()).toEqual([`channel.add ${privately.base_url}`, 'channel.edit http://192.168.1.9'])
    expect(await refusal(open, 'PUT /api/channel/', { id: inside, key: secret, base_url: 'http://169.254.169.254' })).toBe(
      'channel_url_invalid',
    )
  })

  it('take effect before the reply', async () => {
    const server = await serverOfTest('sqlite')
    const serves = () => server.app.channels.current.candidates('default', 'gpt-4o-mini').length
    const [id] = await add(server)
    expect(serves()).toBe(1)
    expect(await server.call<Channel>('PUT /api/channel/', { id, status: 2 })).toMatchObject({ id, status: 2, key: '' })
    expect(serves()).toBe(0)
    expect(await server.call('POST /api/channel/batch/status', { ids: [id], status: 1 })).toBe(1)
    expect(serves()).toBe(1)
    expect(await server.call(`DELETE /api/channel/${id}/`)).toBeNull()
    expect(serves()).toBe(0)
    expect(await server.call(`DELETE /api/channel/${id}`)).toBeNull()
  })

  it('delete several, and the disabled ones', async () => {
    const server = await serverOfTest('sqlite')
    const ids = await add(server, { key: 'a\nb\nc' })
    await server.call('PUT /api/channel/', { id: ids[0], status: 2 })
    expect(await server.call('DELETE /api/channel/disabled')).toBe(1)
    expect(await server.call('POST /api/channel/batch', { ids })).toBe(2)
    expect(await server.call('GET /api/channel/')).toEqual([])
    expect(await refusal(server, 'POST /api/channel/batch', { ids: [] })).toBe('field_invalid')
  })

  it('report missing members, and the expected type of wrong ones', async () => {
    const told = async (type?: unknown) => {
      const channel = { name: 'one', key: secret, models: 'gpt-4o-mini', ...(type === undefined ? {} : { type }) }
      const answer = await server.raw('POST /api/channel/', channel, { 'accept-language': 'en' })
      return ((await answer.json()) as { message: string }).message
    }
    expect(await told()).toBe('Field type is invalid: is required')
    expect(await told('openai')).toBe('Field type is invalid: must be a number')
  })

  it('list channel types and their models', async () => {
    const server = await serverOfTest('sqlite')
    const types = await server.call<ChannelType[]>('GET /api/channel/types')
    expect(types.filter(({ offered }) => offered).length).toBeGreaterThanOrEqual(34)
    expect(types.every(({ color }) => color in channelColors)).toBe(true)
    expect(types.find(({ id }) => id === 18)).toMatchObject({ other_default: 'v2.1', lists_models: false })
    expect(types.find(({ id }) => id === 2)).toMatchObject({ testable: false, lists_models: false })

    const models = await server.call<{ id: string }[]>('GET /api/channel/models')
    expect(new Set(models.map(({ id }) => id)).size).toBe(models.length)
    expect(models).toContainEqual({ id: 'gpt-4o', object: 'model', created: 1_626_777_600, owned_by: 'openai' })
    expect((await server.call<Record<string, string[]>>('GET /api/models'))['43']).toEqual(['deepseek-chat', 'deepseek-reasoner'])

    await add(server, { models: 'b,a' })
    const [disabled] = await add(server, { models: 'c' })
    await server.call('PUT /api/channel/', { id: disabled, status: 2 })
    expect(await server.call('GET /api/channel/models_enabled')).toEqual(['a', 'b'])
  })

  it('test a channel and store its response time', async () => {
    const upstream = await upstreamOfTest()
    const [good] = await add(server, { base_url: upstream.url })
    const answer = await (await server.raw(`GET /api/channel/test/${good}?model=`)).json()
    expect(answer).toMatchObject({ success: true, time: expect.any(Number) })
    expect(await server.call<Channel>(`GET /api/channel/${good}`)).toMatchObject({ test_time: expect.any(Number) })
    expect((await server.call<Channel>(`GET /api/channel/${good}`)).test_time).toBeGreaterThan(0)

    const [drawing] = await add(server, { type: 2, models: 'mj_imagine' })
    expect(await refusal(server, `POST /api/channel/test/${drawing}`)).toBe('channel_not_testable')
  })

  it('fetch the models of an upstream, saved or not', async () => {
    const upstream = await upstreamOfTest({ models: ['m-1', 'm-2'] })
    const [id] = await add(server, { base_url: upstream.url })
    expect(await server.call(`GET /api/channel/fetch_models/${id}`)).toEqual(['m-1', 'm-2'])
    expect(await server.call('POST /api/channel/fetch_models', { base_url: upstream.url, type: 1, key: 'typed' })).toEqual([
      'm-1',
      'm-2',
    ])
    expect(upstream.journal.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${secret}`, 'Bearer typed'])
  })
})
