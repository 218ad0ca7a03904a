import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseLine, type Routes } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'
import { findEndpoint, relayLines } from '../src/server/gateway/relay/http/endpoints.ts'
import { fillHashingQueue, goodPassword } from './helpers/accounts.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { anyDatabase, freshDatabase } from './helpers/databases.ts'
import { type Member, member } from './helpers/members.ts'
import { addChannel } from './helpers/seed.ts'
import { sampled } from './helpers/torture.ts'
import { type FakeUpstream, startFakeUpstream } from './helpers/upstream.ts'
import { caller } from './relay/realtime-stage.ts'

/**
 * Resources of a user that other users must not reach, on complete servers: part C of docs/reference/trust-cases.md, and the cases
 * of part B that need a complete server.
 */

const env = { TRUSTED_PROXIES: '127.0.0.0/8' }
const canary = 'canary-of-a-secret'

anyDatabase('a server', (_fresh, kind) => {
  let server: TestServer
  let upstream: FakeUpstream
  let ada: Member
  let eve: Member
  let admin: Member
  let root: Member

  beforeAll(async () => {
    upstream = await startFakeUpstream()
    server = await startServer(kind, { env })
    await addChannel(server, { url: upstream.url, models: 'gpt-4o-mini,gpt-4o', key: canary })
    ;[ada, eve, admin] = await Promise.all([member(server, 'ada'), member(server, 'eve'), member(server, 'admin', 10)])
    root = { ...(await member(server, 'boss', 100)) }
  })
  afterAll(async () => {
    await server.stop()
    await upstream.stop()
  })

  const rowOf = (id: number) => server.app.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

  it('[T051] accepts only a positive integer as an id, and does not use the first row instead', async () => {
    const bad = [
      '0',
      '-1',
      '1.0',
      '01',
      '1e0',
      '0x1',
      '%2B1',
      '%201',
      '1%20or%201=1',
      '9007199254740993',
      '1,2',
      '[]',
      'null',
      '%00',
    ]
    const lines = Object.entries(allRoutes as Routes).flatMap(([line, { params }]) =>
      params && 'id' in params.shape && params.shape.id !== undefined ? [line] : [],
    )
    const before = await rowOf(1)
    expect(lines.length).toBeGreaterThan(15)
    const codes = new Set<string | undefined>()
    for (const [index, line] of lines.entries()) {
      for (const id of sampled(bad, 3, index)) {
        const caller = { ...root.headers, 'x-forwarded-for': `192.0.${index}.7` }
        const { status, json } = await as(caller, line.replace(':id', id).replace(/:\w+/g, '1'))
        codes.add(status === 404 ? 'route_unknown' : json.code)
      }
    }
    // `%00` and similar are not valid paths.
    expect([...codes].sort()).toEqual(['field_invalid', 'route_unknown'])
    expect(await rowOf(1)).toEqual(before)
    for (const id of [0, -1, 1.5, '1', [1], null, 2 ** 53]) {
      for (const line of [
        'POST /api/user/manage',
        'PUT /api/user/',
        'PUT /api/token/',
        'PUT /api/channel/',
        'PUT /api/redemption/',
      ]) {
        const body = { id, action: 'disable', name: 'x', status: 2, password: 'another pass 9' }
        expect((await root.call(line, body)).json, `${line} ${JSON.stringify(id)}`).toMatchObject({ success: false })
      }
    }
    expect(await rowOf(1)).toEqual(before)
  })

  async function as(headers: Record<string, string>, line: string, body?: unknown) {
    const [method = '', path = ''] = line.split(' ')
    const isJson = body !== undefined && !(body instanceof FormData)
    const response = await fetch(server.url + path, {
      method,
      headers: { ...headers, ...(isJson ? { 'content-type': 'application/json' } : {}) },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const retryAfter = response.headers.get('retry-after')
    return { status: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : {}, retryAfter }
  }

  it('[T052] ignores members that the sender may not set', async () => {
    const more = {
      id: 1,
      user_id: 1,
      role: 100,
      status: 1,
      quota: 1e9,
      used_quota: 7,
      request_count: 7,
      group: 'vip',
      aff_code: 'MINE',
      aff_quota: 1e9,
      aff_history_quota: 1e9,
      aff_count: 9,
      inviter_id: 1,
      email: 'x@example.com',
      github_id: '1',
      access_token: canary,
      created_time: 1,
      DeletedAt: null,
      must_change_password: 0,
    }
    const before = await rowOf(eve.id)
    const first = await rowOf(1)
    expect((await eve.call('PUT /api/user/self', { ...more, display_name: 'Eve' })).json.success).toBe(true)
    expect(await rowOf(eve.id)).toEqual({ ...before, display_name: 'Eve' })
    expect((await eve.call('PUT /api/user/setting', { ...more, quota_warning_threshold: 9 })).json.success).toBe(true)
    const { setting, ...others } = await rowOf(eve.id)
    expect(JSON.parse(setting)).toEqual({ quota_warning_threshold: 9, language: 'zh' })
    expect(others).toEqual({ ...before, display_name: 'Eve', setting: undefined })

    const password = 'another pass 9'
    await as({ 'x-forwarded-for': '198.51.100.99' }, 'POST /api/user/register', { ...more, username: 'reg', password })
    await admin.call('POST /api/user/', { ...more, username: 'made', password })
    for (const username of ['reg', 'made']) {
      const row = await server.app.db.selectFrom('users').selectAll().where('username', '=', username).executeTakeFirstOrThrow()
      expect(row).toMatchObject({
        role: 1,
        status: 1,
        quota: 0,
        used_quota: 0,
        group: 'default',
        aff_quota: 0,
        inviter_id: 0,
        email: '',
      })
      expect([row.aff_code === 'MINE', row.created_time === 1, row.access_token_hash]).toEqual([false, false, null])
    }
    await admin.call('PUT /api/user/', { ...more, id: eve.id, group: 'default', quota: undefined, used_quota: undefined })
    expect(await rowOf(eve.id)).toMatchObject({
      role: 1,
      aff_quota: 0,
      inviter_id: 0,
      email: '',
      github_id: '',
      request_count: 0,
    })

    await eve.call('POST /api/token/', { ...more, group: '', name: 'mine', key: canary, remain_quota: 5 })
    const token = await server.app.db.selectFrom('tokens').selectAll().where('user_id', '=', eve.id).executeTakeFirstOrThrow()
    expect(token).toMatchObject({ user_id: eve.id, used_quota: 0, status: 1, remain_quota: 5 })
    expect([token.id === 1 && token.name !== 'mine', token.created_time === 1]).toEqual([false, false])

    await admin.call('POST /api/redemption/', {
      ...more,
      name: 'code',
      quota: 5,
      count: 1,
      used_user_id: 7,
      key: canary,
      status: 3,
    })
    const code = await server.app.db.selectFrom('redemptions').selectAll().where('name', '=', 'code').executeTakeFirstOrThrow()
    expect(code).toMatchObject({ user_id: admin.id, used_user_id: 0, status: 1, quota: 5 })
    expect(code.created_time).not.toBe(1)
    const sent = { name: 'extra', type: 1, key: 'k', models: 'extra', base_url: upstream.url, group: 'default' }
    await admin.call('POST /api/channel/', { ...more, ...sent, id: 1, balance: 9, response_time: 9, test_time: 9 })
    const channel = await server.app.db.selectFrom('channels').selectAll().where('name', '=', 'extra').executeTakeFirstOrThrow()
    expect(channel).toMatchObject({ used_quota: 0, balance: 0, response_time: 0, test_time: 0 })
    expect([channel.id, channel.created_time]).not.toContain(1)
    expect(await rowOf(1)).toEqual(first)
  })

  it('[T054] keeps a super admin after any concurrent changes', async () => {
    const { id } = await server.app.db.selectFrom('users').select('id').where('username', '=', 'root').executeTakeFirstOrThrow()
    const acts = ['disable', 'demote', 'delete', 'disable', 'demote', 'delete']
    const outcomes = await Promise.all([
      ...acts.flatMap((action) => [root, admin, eve].map((who) => who.call('POST /api/user/manage', { id, action }))),
      ...acts.map((action) => root.call('POST /api/user/manage', { id: root.id, action })),
      root.call(`DELETE /api/user/${id}`),
      root.call('DELETE /api/user/self'),
    ])
    expect(new Set(outcomes.map(({ json }) => json.code))).toEqual(
      new Set(['root_protected', 'user_protected', 'permission_denied']),
    )
    expect(await rowOf(id)).toMatchObject({ role: 100, status: 1, deleted_at: null })
    expect(await rowOf(root.id)).toMatchObject({ role: 100, status: 1, deleted_at: null })
  })

  it('[T055] shows no role any hash, upstream key, or secret of the settings or of another user', async () => {
    const { db } = server.app
    const secretOf = { webhook_secret: `${canary}-plain` }
    await db
      .updateTable('users')
      .set({ setting: JSON.stringify(secretOf), access_token_hash: `${canary}-h` })
      .where('id', '=', ada.id)
      .execute()
    for (const key of ['SMTPToken', 'GitHubClientSecret', 'TurnstileSecretKey', 'TelegramBotToken', 'EpayKey']) {
      expect((await root.call('PUT /api/option/', { key, value: `${canary}-${key}` })).json.code).toBeUndefined()
    }
    const { key } = (await ada.call('POST /api/token/', { name: 'secret', unlimited_quota: true })).json.data as { key: string }
    const hashes = (await db.selectFrom('users').select('password_hash').execute()).map((row) => row.password_hash)
    const secrets = [canary, key, 'argon2', '_hash', '_sealed', ...hashes]
    const lines = Object.entries(allRoutes as Routes)
      .filter(([line, { writes }]) => line.startsWith('GET ') && !writes)
      .map(([line]) => line)
    const answered = new Set<string>()
    for (const who of [eve, admin, root]) {
      for (const line of lines) {
        const { text, json } = await who.call(line.replace(':id', String(ada.id)).replace(/:\w+/g, '1'))
        for (const secret of secrets) expect(text.includes(secret), `${who.username}: ${line} tells ${secret}`).toBe(false)
        if (json.success) answered.add(line)
      }
    }
    expect(answered.size).toBeGreaterThan(lines.length / 2)
  })

  it("[T063] shows only the caller's own usage, for any filter, without members for admins", async () => {
    const log = {
      created_at: 1_760_000_000,
      type: 2,
      model_name: 'gpt-4o',
      channel_id: 1,
      other: '{"admin_info":{"use_channel":["1"]},"frt":5}',
    }
    await server.app.db
      .insertInto('logs')
      .values([
        { ...log, user_id: ada.id, username: 'ada', quota: 700, token_name: 'mine', group: 'vip' },
        { ...log, user_id: eve.id, username: 'eve', quota: 30, token_name: 'own', group: 'default' },
      ])
      .execute()
    const asked = ['', `username=ada&user_id=${ada.id}`, 'channel=1', 'token_name=mine', 'group=vip', 'type=2']
    for (const query of asked) {
      for (const line of [
        'GET /api/log/self',
        'GET /api/log/self/',
        'GET /api/log/self/search',
        'GET /api/log/self/export.csv',
      ]) {
        const { text } = await eve.call(`${line}?${query}&keyword=`)
        expect(text, `${line}?${query}`).not.toMatch(/admin_info|use_channel|"ada"|,ada,|mine|vip/)
      }
      const { data } = (await eve.call(`GET /api/log/self/stat?${query}`)).json as { data: { quota: number } }
      expect([0, 30], query).toContain(data.quota)
    }
    expect((await eve.call('GET /api/log/')).json.code).toBe('permission_denied')
    expect((await eve.call('GET /api/log/stat?username=ada')).json.code).toBe('permission_denied')
  })

  it('[T058] lets a key that is limited to some models call no other, at no address', async () => {
    const made = await ada.call('POST /api/token/', {
      name: 'limited',
      unlimited_quota: true,
      model_limits_enabled: true,
      model_limits: 'gpt-4o-mini',
    })
    // An empty balance is refused before the body is read.
    await server.app.db.updateTable('users').set({ quota: 1e9 }).where('id', '=', ada.id).execute()
    const headers = { authorization: `Bearer sk-${(made.json.data as { key: string }).key}` }
    const content = { role: 'user', parts: [{ text: 'hi' }] }
    const body = {
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 5,
      ...{ questions: [{ type: 'predicate', instructions: 'hi' }] },
      ...{ input: 'hi', prompt: 'hi', query: 'hi', documents: ['hi'], voice: 'alloy' },
      ...{ contents: [content], content, requests: [{ model: 'models/gpt-4o', content }], instances: [{ prompt: 'hi' }] },
    }
    const form = new FormData()
    for (const field of ['model', 'prompt'] as const) form.set(field, body[field])
    for (const field of ['file', 'image']) form.set(field, new Blob(['RIFF']), 'a.wav')
    const asked = upstream.journal.length
    const answered: string[] = []
    for (const line of relayLines().map((each) => each.replace('{model}', 'gpt-4o'))) {
      const { method, path } = parseLine(line)
      const found = findEndpoint(method, path, {})
      if (!('kind' in found) || !(found.kind === 'count' || (found.kind === 'relay' && found.from === 'token'))) continue
      const isForm = /audio\/trans|images\/(edits|variations)/.test(path)
      const { status, text } = await as(headers, line, isForm ? form : body)
      expect([status, text.includes('gpt-4o')], `${line}: ${text}`).toEqual([403, true])
      answered.push(line)
    }
    expect(answered.length).toBeGreaterThan(20)
    for (const path of ['/mj/submit/imagine', '/suno/submit/music'])
      expect(await as(headers, `POST ${path}`, body), path).toMatchObject({ status: 403 })
    const spoken = caller(server.url, '', { path: '/v1/realtime?model=gpt-4o', headers })
    expect(await spoken.refused()).toMatchObject({ status: 403 })
    const typed = caller(server.url, '', { path: '/v1/responses', headers })
    await typed.opened()
    typed.say({ type: 'response.create', model: 'gpt-4o', input: 'hi' })
    expect(await typed.hears('error')).toMatchObject({ status: 403 })
    typed.socket.close(1000)
    // Nor by another name of a model that it may call.
    const mapped = { models: 'another-name', model_mapping: '{"another-name":"gpt-4o-mini"}' }
    await addChannel(server, { url: upstream.url, ...mapped })
    expect((await as(headers, 'POST /v1/chat/completions', { ...body, model: 'another-name' })).status).toBe(403)
    expect(upstream.journal.length).toBe(asked)
    expect((await as(headers, 'GET /v1/models')).text).not.toContain('"gpt-4o"')
  })

  it('[T059] accepts an address-limited key only from its address, for any header', async () => {
    const made = await ada.call('POST /api/token/', { name: 'here', unlimited_quota: true, allow_ips: '203.0.113.5' })
    const authorization = `Bearer sk-${(made.json.data as { key: string }).key}`
    const here = '203.0.113.5'
    const from = async (more: Record<string, string>) => (await as({ authorization, ...more }, 'GET /v1/models')).status
    for (const address of [here, `::ffff:${here}`, `198.51.100.7, ${here}`])
      expect(await from({ 'x-forwarded-for': address }), address).toBe(200)
    const spoofs: Record<string, string>[] = [
      {},
      { forwarded: `for=${here}` },
      { 'x-real-ip': here },
      { 'x-forwarded-for': `${here}, 198.51.100.7`, forwarded: `for=${here}`, 'x-real-ip': here },
      { 'x-forwarded-for': `::ffff:${here}, ::ffff:198.51.100.7` },
    ]
    for (const spoof of spoofs) expect(await from(spoof), JSON.stringify(spoof)).toBe(403)
  })

  it('[T061] never makes a used code usable again, for any caller and status', async () => {
    const [key = ''] = (await admin.call('POST /api/redemption/', { name: 'once', quota: 7, count: 1 })).json.data as string[]
    const { id } = await server.app.db.selectFrom('redemptions').select('id').where('name', '=', 'once').executeTakeFirstOrThrow()
    const before = (await rowOf(eve.id)).quota
    expect((await eve.call('POST /api/user/topup', { key })).json.success).toBe(true)
    for (const who of [eve, admin, root]) {
      for (const status of [1, 2, 3, 99, 0, -1, '1', null]) {
        await who.call('PUT /api/redemption/?status_only=true', { id, status })
        const edit = await who.call('PUT /api/redemption/', { id, name: 'again', quota: 7, status, used_user_id: 0 })
        expect(edit.json.success, `${who.username} ${status}`).toBe(false)
      }
      await who.call('POST /api/redemption/batch', { ids: [id], action: 'enable' })
      expect((await eve.call('POST /api/user/topup', { key })).json.success).toBe(false)
    }
    expect((await eve.call(`DELETE /api/redemption/${id}`)).json.success).toBe(false)
    expect((await admin.call(`DELETE /api/redemption/${id}`)).json.success).toBe(true)
    expect((await eve.call('POST /api/user/topup', { key })).json.success).toBe(false)
    expect((await rowOf(eve.id)).quota).toBe(before + 7)
  })

  it('[T035] [T069] lets a running stream of a banned user finish, charges it, and refuses new calls', async () => {
    upstream.program('gpt-4o', { words: 60, pauseMs: 20 })
    const guest = await member(server, 'guest')
    await root.call(`POST /api/user/${guest.id}/quota`, { change: 500_000, reason: 'test' })
    const made = await guest.call('POST /api/token/', { name: 'streams', unlimited_quota: true })
    const headers = { authorization: `Bearer sk-${(made.json.data as { key: string }).key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: 'hi' }] })
    const ask = () => fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body })

    const response = await ask()
    const parts = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = (await parts?.read())?.value ?? ''
    expect((await admin.call('POST /api/user/manage', { id: guest.id, action: 'disable' })).json.success).toBe(true)
    expect((await ask()).status).toBe(403)
    for (let part = await parts?.read(); part && !part.done; part = await parts?.read()) text += part.value
    expect(text).toMatch(/data: \[DONE\]\s*$/)
    const charged = await server.app.db
      .selectFrom('logs')
      .select('quota')
      .where('user_id', '=', guest.id)
      .where('type', '=', 2)
      .execute()
    expect(charged.map(({ quota }) => quota > 0)).toEqual([true])
    expect((await rowOf(guest.id)).quota).toBe(500_000 - (charged[0]?.quota ?? 0))
  })

  it('[T025] refuses logins while password hashing is at its limit, and relays meanwhile', async () => {
    const made = await ada.call('POST /api/token/', { name: 'meanwhile', unlimited_quota: true })
    await root.call(`POST /api/user/${ada.id}/quota`, { change: 500_000, reason: 'test' })
    const authorization = `Bearer sk-${(made.json.data as { key: string }).key}`
    const logIn = (number: number, password: string, language: string) => {
      const headers = { 'x-forwarded-for': `203.0.113.${number}`, 'accept-language': language }
      return as(headers, 'POST /api/user/login', { username: 'ada', password })
    }
    const ask = () =>
      as({ authorization }, 'POST /v1/chat/completions', { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] })

    const disperse = fillHashingQueue(server.app.passwords)
    const logins = await Promise.all(Array.from({ length: 40 }, (_, index) => logIn(index, 'wrong 9', index % 2 ? 'en' : 'zh')))
    const answers = await Promise.all(Array.from({ length: 5 }, ask))
    await disperse()
    const told = logins.map(({ status, json, retryAfter }) => `${status} ${json.code} ${json.message} ${retryAfter}`)
    expect([...new Set(told)]).toEqual([
      '429 too_many_requests 请求次数过多，请稍后再试 1',
      '429 too_many_requests Too many requests, try again later 1',
    ])
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    // The refused attempts did not count as failures of the account.
    expect((await logIn(101, 'wrong 9', 'en')).json.code).toBe('credentials_wrong')
    expect((await logIn(102, goodPassword, 'en')).json.success).toBe(true)
  })

  it('[T065] decides only by path and session, for any Host header', async () => {
    const { hostname, port } = new URL(server.url)
    const raw = (head: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => socket.end(`${head}\r\nConnection: close\r\n\r\n`))
        let answer = ''
        socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
        socket.on('end', () => resolve(answer.split('\r\n', 1)[0] ?? '')).on('error', reject)
      })
    const heads = [
      'GET /api/user/self HTTP/1.1\r\nHost:',
      'GET /api/user/self HTTP/1.1\r\nHost: a\r\nHost: b',
      'GET http://evil.test/api/user/self HTTP/1.1\r\nHost: evil.test',
      'GET /api/user/self HTTP/1.1\r\nHost: localhost',
      'GET /api/user/self HTTP/1.1\r\nHost: x/api/status?',
      'GET /api/user/self HTTP/1.1\r\nHost: x\r\nX-Original-URL: /api/status\r\nX-Rewrite-URL: /api/status',
    ]
    for (const head of heads) expect(await raw(head), head).toMatch(/^HTTP\/1\.1 (400|401|404) /)
  })

  it('[T066] uses only the method of the request line', async () => {
    for (const override of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      await as({ ...eve.headers, [override]: 'DELETE' }, 'GET /api/user/self?_method=DELETE')
      await as({ ...eve.headers, [override]: 'DELETE' }, 'POST /api/user/self?_method=DELETE', { _method: 'DELETE' })
    }
    expect((await rowOf(eve.id)).deleted_at).toBeNull()
    const paths = new Set(Object.keys(allRoutes).map((line) => line.replace(/^\w+ /, '').replace(/:\w+/g, '1')))
    for (const path of paths) {
      for (const method of ['OPTIONS', 'HEAD', 'PATCH']) {
        expect((await as(root.headers, `${method} ${path}`)).status, `${method} ${path}`).toBe(404)
      }
    }
    const relayed = new Set(relayLines().map((line) => line.replace(/^\w+ /, '').replace(/\{\w+\}/g, '1')))
    const override = { 'x-http-method-override': 'POST' }
    for (const path of relayed) {
      for (const method of ['PATCH', 'PUT']) {
        const { status } = await as({ ...root.headers, ...override }, `${method} ${path}`)
        expect([404, 405, 501], `${method} ${path}`).toContain(status)
      }
    }
  })

  it('[T068] reveals nothing of its implementation to anonymous callers', async () => {
    for (const path of [
      '/debug/pprof',
      '/.git/config',
      '/api/openapi.json',
      '/.env',
      '/package.json',
      '/server-status',
      '/api/setup',
      '/assets/index.js.map',
      '/src/server/main.ts',
      '/debug/vars',
    ]) {
      const { status, text } = await as({ 'x-forwarded-for': '203.0.113.4' }, `GET ${path}`)
      // Paths that are not calls return the page of the console, which is public.
      expect(
        [
          status === 401 || status === 404 || text.includes('<div id="root">'),
          /repositoryformat|"openapi"|MASTER_KEY/.test(text),
        ],
        path,
      ).toEqual([true, false])
    }
    expect((await as({ 'x-forwarded-for': '203.0.113.4' }, 'GET /metrics')).status).toBe(404)
    for (const path of ['/healthz', '/readyz']) expect((await as({}, `GET ${path}`)).text).toBe('ok')
  })

  it('[T006] has no setup call: the super admin is created at the start', async () => {
    for (const path of ['/api/setup', '/api/user/setup', '/api/init', '/api/install']) {
      expect((await as({}, `POST ${path}`, { username: 'root2', password: 'another pass 9', role: 100 })).status).toBe(404)
    }
  })
})

it.each(['sqlite', 'postgres'] as const)('[T047] sessions outlive every process over %s', async (kind) => {
  const database = await freshDatabase(kind)
  const first = await startServer(kind, { database })
  const ada = await member(first, 'ada')
  await first.stop()
  const second = await startServer(kind, { database })
  const response = await fetch(`${second.url}/api/user/self`, { headers: ada.headers })
  expect([response.status, ((await response.json()) as { data: { username: string } }).data.username]).toEqual([200, 'ada'])
  await second.stop()
  await database.drop()
})
