import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Channel } from '../src/contract/entities/channel.ts'
import type { Log } from '../src/contract/entities/log.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { addChannel, addToken, setOptions } from './helpers/seed.ts'
import { completion, httpUpstream } from './relay/stage.ts'

/** Behaviour that scripts and tools written for other consoles of this family rely on. */
describe('scripts for consoles of this family', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite')
  })
  afterAll(() => server.stop())

  const channel = { type: 1, name: 'one', key: 'k', models: 'm' }
  const add = (body: object) => server.call<number[]>('POST /api/channel/', body)
  const show = (id: number | undefined) => server.call<Channel>(`GET /api/channel/${id}`)
  const refusal = async (line: string, body?: unknown, headers: Record<string, string> = { 'accept-language': 'en' }) => {
    const response = await server.raw(line, body, headers)
    const { code, message } = (await response.json()) as { code: string; message: string }
    return { status: response.status, code, message }
  }

  it('add a channel disabled, and one that an export reports as auto-disabled', async () => {
    const statuses = []
    for (const status of [undefined, 1, 2, 3]) {
      const [id] = await add({ ...channel, status })
      statuses.push((await show(id)).status)
    }
    expect(statuses).toEqual([1, 1, 2, 2])
    expect(await refusal('POST /api/channel/', { ...channel, status: 4 })).toMatchObject({ code: 'field_invalid' })
  })

  it('wrap a channel in its mode: one key, a channel for each line, or one channel with all lines', async () => {
    const wrapped = (mode: string, key: string) => ({ mode, channel: { ...channel, key } })
    expect(await add(wrapped('single', 'a'))).toHaveLength(1)
    expect(await add(wrapped('batch', 'a\nb'))).toHaveLength(2)
    const [id] = await add(wrapped('multi_to_single', 'a\nb'))
    expect((await show(id)).keys_total).toBe(2)
    expect(await refusal('POST /api/channel/', wrapped('single', 'a\nb'))).toMatchObject({ code: 'field_invalid' })
  })

  it('read a thousand rows per page and the total number, also for bare arrays', async () => {
    const sizes = async (size: string) => {
      const lists = ['channel/?paged=true&', 'user/?p=1&', 'redemption/?p=1&', 'log/?p=1&']
      return Promise.all(
        lists.map(async (list) => (await server.call<{ page_size: number }>(`GET /api/${list}page_size=${size}`)).page_size),
      )
    }
    expect(await sizes('1000')).toEqual([1000, 1000, 1000, 1000])
    expect(await sizes('5000')).toEqual([1000, 1000, 1000, 1000])
    expect(await sizes('0')).toEqual([10, 10, 10, 10])
    expect(await sizes('-1')).toEqual([10, 10, 10, 10])

    const total = (await server.call<{ total: number }>('GET /api/channel/?paged=true')).total
    for (const list of ['channel/?page_size=1', 'channel/search?keyword=one'])
      expect((await server.raw(`GET /api/${list}`)).headers.get('x-total-count')).toBe(String(total))
    for (const list of ['token/', 'token/search', 'mj/', 'mj/self', 'task/', 'task/self'])
      expect((await server.raw(`GET /api/${list}`)).headers.get('x-total-count')).toMatch(/^\d+$/)
  })

  it('get pages of channels without requesting them, if the site is configured so', async () => {
    await setOptions(server, { ChannelListShape: 'paged' })
    expect(await server.call('GET /api/channel/')).toMatchObject({ page: 0, page_size: 10 })
    expect(await server.call('GET /api/channel/search')).toMatchObject({ page: 0, page_size: 10 })
    expect(await server.call('GET /api/channel/?paged=false')).toBeInstanceOf(Array)
    await setOptions(server, { ChannelListShape: 'array' })
    expect(await server.call('GET /api/channel/')).toBeInstanceOf(Array)
  })

  it('remove the tag of channels with null', async () => {
    const ids = await add({ ...channel, tag: 'old' })
    expect(await server.call('POST /api/channel/batch/tag', { ids, tag: null })).toBe(1)
    expect((await show(ids[0])).tag).toBe('')
    expect(await refusal('POST /api/channel/batch/tag', { ids })).toMatchObject({ code: 'tag_required' })
  })

  it('can delete a channel that does not exist', async () => {
    const [id] = await add(channel)
    expect(await server.call(`DELETE /api/channel/${id}`)).toBeNull()
    expect(await server.call(`DELETE /api/channel/${id}`)).toBeNull()
  })

  it('cannot create a channel of Vertex AI without a region', async () => {
    const refused = await refusal('POST /api/channel/', { ...channel, type: 41 })
    expect(refused).toMatchObject({ code: 'field_invalid', message: expect.stringContaining('region') })
    expect(await add({ ...channel, type: 41, other: 'us-central1' })).toHaveLength(1)
  })

  it('read the key of a token', async () => {
    const { id, key } = await addToken(server)
    expect(`sk-${(await server.call<{ key: string }>(`POST /api/token/${id}/key`)).key}`).toBe(key)
    expect(await refusal('POST /api/token/9999/key')).toMatchObject({ code: 'not_found' })
  })

  it('read logs of a key in ascending order and by type, and sums of balances with a quota of 0', async () => {
    const { key } = await addToken(server)
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.setHeader('content-type', 'application/json').end(completion())
    })
    await addChannel(server, { url, models: 'priced' })
    await setOptions(server, { ModelRatio: '{"priced":1}' })
    await server.call('POST /api/user/1/quota', { change: 1_000_000, reason: 'test' })
    const ids: string[] = []
    for (let count = 0; count < 2; count++) {
      const answer = await fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'priced', messages: [{ role: 'user', content: 'hi' }] }),
      })
      expect(answer.status, await answer.text()).toBe(200)
      ids.push(answer.headers.get('x-oneapi-request-id') ?? '')
    }
    const answer = await fetch(`${server.url}/api/log/token?key=${key}`)
    expect(((await answer.json()) as { data: Log[] }).data.map(({ request_id }) => request_id)).toEqual(ids)

    const row = { user_id: 1, username: 'root', token_id: 0, token_name: '', created_at: 300 }
    await server.app.db
      .insertInto('logs')
      .values([
        { ...row, type: 1, quota: 7, content: 'topped up' },
        { ...row, type: 3, quota: -5, content: 'taken' },
        { ...row, type: 4, quota: -4, content: 'moved' },
      ])
      .execute()
    const found = await server.call<Log[]>('GET /api/log/search?keyword=2')
    expect(found.map(({ type, quota, amount }) => ({ type, quota, amount }))).toEqual(
      Array(2).fill({ type: 2, quota: 18, amount: -18 }),
    )
    expect(await server.call('GET /api/log/search?keyword=topped')).toMatchObject([{ type: 1, quota: 0, amount: 7 }])
    expect(await server.call('GET /api/log/search?keyword=taken')).toMatchObject([{ type: 3, quota: 0, amount: -5 }])
    expect(await server.call('GET /api/log/search?keyword=moved')).toMatchObject([{ type: 4, quota: 0, amount: -4 }])
  })

  it('get the sums of the last 30 days if they give no time', async () => {
    const day = 86_400
    const now = Math.trunc(Date.now() / 1000)
    const hour = { user_id: 1, username: 'root', channel_id: 0, group: '', token_used: 1, count: 1, quota: 1 }
    const hours = [29, 31].map((days) => ({
      ...hour,
      model_name: `${days} days ago`,
      created_at: now - (now % 3600) - days * day,
    }))
    await server.app.db.insertInto('quota_data').values(hours).execute()
    for (const list of ['data/', 'data/self']) {
      const models = (await server.call<{ model_name: string }[]>(`GET /api/${list}`)).map(({ model_name }) => model_name)
      expect([models.includes('29 days ago'), models.includes('31 days ago')], list).toEqual([true, false])
    }
    expect(await refusal('GET /api/data/?end_timestamp=1700000000')).toMatchObject({ code: 'data_span_too_long' })
  })

  it('get errors for wrong paths and invalid access tokens with the texts that they match, in both languages', async () => {
    for (const language of ['zh', 'en']) {
      const headers = { 'accept-language': language }
      const { message } = await refusal('GET /api/nothing', undefined, headers)
      expect(message).toContain('Invalid URL (GET /api/nothing)')
      const dead = await fetch(`${server.url}/api/user/self`, {
        headers: { ...headers, authorization: 'Bearer dead', 'new-api-user': '1' },
      })
      expect([dead.status, await dead.text()]).toEqual([401, expect.stringContaining('access token')])
    }
  })

  it('get the refusal for an unknown or disabled channel named at the end of a key', async () => {
    const { key } = await addToken(server)
    const [id] = await add({ ...channel, status: 2 })
    const ask = async (channelId: number | undefined) => {
      const response = await fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}-${channelId}`, 'content-type': 'application/json', 'accept-language': 'en' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
      })
      return [response.status, await response.text()]
    }
    expect(await ask(9999)).toEqual([400, expect.stringContaining('9999')])
    expect(await ask(id)).toEqual([403, expect.stringContaining('disabled')])
  })

  it('change the password of the user after a login within ten minutes, or with the old password under either name', async () => {
    await server.call('POST /api/user/', { username: 'ada', password: 'correct horse 7', display_name: '' })
    const { id } = await server.app.db.selectFrom('users').select('id').where('username', '=', 'ada').executeTakeFirstOrThrow()
    const sessions = server.app.sessions
    const cookie = `session=${await sessions.create({ userId: id, address: '127.0.0.1', userAgent: 'test' })}`
    const change = (body: object) =>
      refusal('PUT /api/user/self', body, { cookie, 'new-api-user': String(id), 'accept-language': 'en' })
    expect(await change({ password: 'another horse 8' })).toMatchObject({ message: '' })
    await server.app.db
      .updateTable('sessions')
      .set((eb) => ({ authenticated_at: eb('authenticated_at', '-', 601) }))
      .where('user_id', '=', id)
      .execute()
    expect(await change({ password: 'a third horse 9' })).toMatchObject({ code: 'fresh_login_required' })
    expect(await change({ password: 'a third horse 9', original_password: 'wrong' })).toMatchObject({ code: 'password_wrong' })
    expect(await change({ password: 'a third horse 9', original_password: 'another horse 8' })).toMatchObject({ message: '' })
  })

  it('get a message that settings are saved, and that a new notification address is confirmed in this console', async () => {
    const save = (body: object) => refusal('PUT /api/user/setting', body)
    expect(await save({ notify_type: 'email', quota_warning_threshold: 5 })).toMatchObject({ message: 'The settings are saved' })
    expect(await save({ notification_email: 'x@example.com' })).toMatchObject({
      code: 'notification_email_unverified',
      message: expect.stringContaining('in the personal settings of this console'),
    })
  })

  it('get an error for the promotion of a user who is already an admin', async () => {
    await server.call('POST /api/user/', { username: 'bob', password: 'correct horse 7', display_name: '' })
    const { id } = await server.app.db.selectFrom('users').select('id').where('username', '=', 'bob').executeTakeFirstOrThrow()
    const manage = (action: string) => refusal('POST /api/user/manage', { id, action })
    expect(await manage('demote')).toMatchObject({ code: 'role_unchanged', message: 'The user is an ordinary user already' })
    expect(await manage('promote')).toMatchObject({ message: '' })
    expect(await manage('promote')).toMatchObject({ code: 'role_unchanged', message: 'The user is an admin already' })
  })

  it('get the members of status and models that they read', async () => {
    expect(await server.call('GET /api/status')).toMatchObject({ enable_batch_update: true })
    const { key } = await addToken(server)
    await server.call('PUT /api/option/', { key: 'ModelPrice', value: '{"m":1}' })
    const models = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    const { data } = (await models.json()) as { data: object[] }
    expect(data).toContainEqual(expect.objectContaining({ id: 'm', permission: [], root: 'm', parent: null }))
  })

  it('get the error for a missing model before others, in one language', async () => {
    for (const [language, words] of [
      ['zh', '缺少 model 字段'],
      ['en', 'The field model is required'],
    ] as const) {
      const response = await server.raw('POST /pg/chat/completions', { temperature: 'x' }, { 'accept-language': language })
      const text = await response.text()
      expect([response.status, text]).toEqual([400, expect.stringContaining(words)])
    }
  })
})
