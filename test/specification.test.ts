import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from './helpers/app.ts'
import { anyDatabase } from './helpers/databases.ts'

/** Rules and default values of the console calls that can be verified by single calls; other rules have separate tests. */
anyDatabase('console calls', (_fresh, kind) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(kind)
  })
  afterAll(() => server.stop())

  const answer = async (line: string, body?: unknown) =>
    (await (await server.raw(line, body)).json()) as { success: boolean; message: string; code?: string; data: never }
  const save = (key: string, value: string) => answer('PUT /api/option/', { key, value })
  const option = async (key: string) => {
    const list = await server.call<{ key: string; value: string }[]>('GET /api/option/')
    return list.find((one) => one.key === key)?.value
  }
  const channel = { name: 'one', type: 1, key: 'sk-one', models: 'gpt-4o' }
  const madeChannel = async (more: object) => {
    const [id] = await server.call<number[]>('POST /api/channel/', { ...channel, ...more })
    return server.call<Record<string, unknown>>(`GET /api/channel/${id}`)
  }

  it('return the default values of a new site', async () => {
    for (const [key, value] of Object.entries({
      ...{ SMTPPort: '587', Price: '7.3', MinTopUp: '1', QuotaRemindThreshold: '500000', QuotaPerUnit: '500000' },
      ...{
        ModelRequestRateLimitCount: '0',
        ModelRequestRateLimitSuccessCount: '1000',
        ModelRequestRateLimitDurationMinutes: '1',
      },
      ...{ 'claude.thinking_adapter_budget_tokens_percentage': '0.8', DataExportInterval: '5' },
    }))
      expect([key, await option(key)]).toEqual([key, value])
    expect(JSON.parse((await option('claude.default_max_tokens')) ?? '')).toMatchObject({ default: 8192 })
    expect(await server.call('GET /api/status')).toMatchObject({
      version: '0.4.8.9.6',
      quota_per_unit: 500_000,
    })
    expect(await madeChannel({})).toMatchObject({ group: 'default', auto_ban: 1, response_time: 0 })
    const { items, page_size } = await server.call<{ items: unknown[]; page_size: number }>('GET /api/user/')
    expect([page_size, items.length]).toEqual([10, 1])
  })

  it('remove the last slash of addresses, and require the address of the site before that of payments', async () => {
    expect((await save('PayAddress', 'https://pay.test')).code).toBe('option_needs')
    for (const key of ['ServerAddress', 'WorkerUrl', 'PayAddress', 'WeChatServerAddress']) {
      expect([key, (await save(key, `https://${key.toLowerCase()}.test/`)).success]).toEqual([key, true])
      expect(await option(key)).toBe(`https://${key.toLowerCase()}.test`)
    }
  })

  it('enforce the limits of options', async () => {
    const taken = { ModelRequestRateLimitDurationMinutes: '0', ModelRequestRateLimitCount: '7', DataExportInterval: '1' }
    for (const [key, value] of Object.entries(taken)) expect([key, (await save(key, value)).success]).toEqual([key, true])
    const refused = {
      ...{ ModelRequestRateLimitDurationMinutes: '-1', ModelRequestRateLimitCount: '-2', ModelRequestRateLimitSuccessCount: '0' },
      ...{
        QuotaForNewUser: '-1',
        QuotaRemindThreshold: '-1',
        PreConsumedQuota: '-1',
        ChannelDisableThreshold: '-1',
        MinTopUp: '0',
      },
      'claude.thinking_adapter_budget_tokens_percentage': '1.1',
    }
    for (const [key, value] of Object.entries(refused))
      expect([key, (await save(key, value)).code]).toEqual([key, 'option_invalid'])
  })

  it('normalize channels: no last slash in the address, a version where one is needed, and no negative weight', async () => {
    expect(await madeChannel({ base_url: 'https://one.test/' })).toMatchObject({ base_url: 'https://one.test' })
    expect(await madeChannel({ type: 18, key: 'app|secret|key', other: '' })).toMatchObject({ other: 'v2.1' })
    const { id, ...least } = await madeChannel({ weight: -5, priority: -999 })
    expect(least).toMatchObject({ weight: 0, priority: -999 })
    const fields = ['name', 'key', 'models', 'group', 'groups', 'priority', 'weight', 'auto_ban', 'tag']
    const unknown = Object.fromEntries(fields.map((field) => [field, null]))
    expect(await server.call('PUT /api/channel/', { id, ...unknown })).toMatchObject(least)
    expect((await answer('POST /api/channel/', { ...channel, priority: -1000 })).success).toBe(false)
  })

  it('remove a tag when its new name is empty, and refuse an edit that changes nothing', async () => {
    const { id } = await madeChannel({ tag: 'old' })
    expect((await answer('PUT /api/channel/tag', { tag: 'old' })).code).toBe('nothing_changed')
    expect((await answer('PUT /api/channel/tag', { tag: 'old', model_mapping: '{' })).code).toBe('json_text_invalid')
    await server.call('PUT /api/channel/tag', { tag: 'old', new_tag: 'new', priority: 3, weight: 2 })
    expect(await server.call(`GET /api/channel/${id}`)).toMatchObject({ tag: 'new', priority: 3, weight: 2 })
    await server.call('POST /api/channel/tag/disabled', { tag: 'new' })
    expect(await server.call(`GET /api/channel/${id}`)).toMatchObject({ status: 2 })
    await server.call('PUT /api/channel/tag', { tag: 'new', new_tag: '' })
    expect([null, '']).toContain((await server.call<{ tag: string | null }>(`GET /api/channel/${id}`)).tag)
  })

  it('let owners enable and disable tokens, and accept no other status of them', async () => {
    const { id } = await server.call<{ id: number }>('POST /api/token/', { name: 'one', unlimited_quota: true })
    const set = async (status: number) => {
      await answer('PUT /api/token/?status_only=true', { id, status })
      return (await server.call<{ status: number }>(`GET /api/token/${id}`)).status
    }
    expect([await set(2), await set(3), await set(1), await set(4)]).toEqual([2, 2, 1, 1])
  })

  it('refuse to enable or edit used codes', async () => {
    const [key] = await server.call<string[]>('POST /api/redemption/', { name: 'one', quota: 5, count: 1 })
    const { items } = await server.call<{ items: { id: number; key: string }[] }>('GET /api/redemption/')
    const id = items.find((one) => one.key === key)?.id
    const status = (value: number) => answer('PUT /api/redemption/?status_only=true', { id, status: value })
    expect([(await status(2)).success, (await status(3)).success, (await status(1)).success]).toEqual([true, false, true])
    await server.call('POST /api/user/topup', { key })
    expect((await status(1)).success).toBe(false)
    expect((await answer('PUT /api/redemption/', { id, name: 'two', quota: 6 })).code).toBe('redemption_not_editable')
  })

  it('return lists of ten rows by default, and at most a hundred, or a thousand for admins', async () => {
    for (let index = 0; index < 12; index++)
      await server.call('POST /api/token/', { name: `row ${index}`, unlimited_quota: true })
    expect(await server.call<unknown[]>('GET /api/token/')).toHaveLength(10)
    expect(await server.call<unknown[]>('GET /api/token/?p=0&size=100')).toHaveLength(13)
    const { page_size } = await server.call<{ page_size: number }>('GET /api/log/self?page_size=5000')
    expect(page_size).toBe(100)
    expect(await server.call('GET /api/log/?page_size=5000')).toMatchObject({ page_size: 1000 })
  })
})
