import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { password, type Signed, startConsole, type TestConsole } from '../../../../test/helpers/console.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import { allRoutes } from '../../../contract/routes/index.ts'
import type { Caller } from '../../base/options/core.ts'
import { makeAccessToken } from '../../people/accounts/access-tokens.ts'
import { relayCalls } from '../calls/relay-calls.ts'

const root: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
const elsewhere = '203.0.113.9'
const english = { 'accept-language': 'en' }

/** A request over a real connection, because only there is a path sent unchanged. */
async function overSocket(console: TestConsole, line: string) {
  const [method, path] = line.split(' ')
  if (console.server.addresses().length === 0) await console.server.listen({ port: 0, host: '127.0.0.1' })
  // A server that listens on a port has an address of this type.
  const { port } = console.server.addresses()[0] as AddressInfo
  return new Promise<{ statusCode: number | undefined; headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('end', () => resolve({ statusCode: response.statusCode, headers: response.headers, body }))
    })
    sent.on('error', reject).end()
  })
}

anyDatabase('the console', (_fresh, kind) => {
  let console: TestConsole
  let user: Signed

  beforeEach(async () => {
    console = await startConsole(kind)
    user = await console.addUser('ada')
  })
  afterEach(() => console.stop())

  const login = (username: string, secret = password, headers = {}) =>
    console.call('POST /api/user/login', { body: { username, password: secret }, headers })
  const cookieOf = (setCookie: unknown) => String(setCookie).split(';', 1)[0] ?? ''
  const set = (key: string, value: string) => console.app.options.save({ key, value, caller: root })

  it('[T036] signs in with a cookie that scripts cannot read and other sites cannot send', async () => {
    const response = await login('ada')
    expect(response.json()).toMatchObject({
      success: true,
      message: '',
      data: { username: 'ada', role: 1, default_password: false },
    })
    expect(response.headers['set-cookie']).toMatch(/^session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/)

    await set('ServerAddress', 'https://ai.example.com')
    const secure = await login('ada')
    expect(secure.headers['set-cookie']).toMatch(
      /^__Host-session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/,
    )
    expect(secure.headers['strict-transport-security']).toBeDefined()
    const headers = { cookie: cookieOf(secure.headers['set-cookie']), 'new-api-user': String(user.id) }
    expect((await console.call('GET /api/user/self', { headers })).json().data.username).toBe('ada')
  })

  it('[T032] ends the session at logout, also for a copied cookie', async () => {
    const response = await console.call('GET /api/user/logout', { as: user })
    expect(response.json()).toEqual({ success: true, message: '', data: null })
    expect(String(response.headers['set-cookie'])).toContain('Max-Age=0')
    const replayed = await console.call('GET /api/user/self', { as: user })
    expect([replayed.statusCode, replayed.json().code]).toEqual([401, 'not_signed_in'])
  })

  it('[T031] starts a new session at login and ends the previous one; a cookie chosen by an attacker stays anonymous', async () => {
    const chosen = { cookie: 'session=chosen', 'new-api-user': String(user.id) }
    await login('ada', password, chosen)
    expect((await console.call('GET /api/user/self', { headers: chosen })).statusCode).toBe(401)
    await login('ada', password, user.headers)
    expect((await console.call('GET /api/user/self', { as: user })).statusCode).toBe(401)
  })

  it('applies a ban from the next call on', async () => {
    expect((await console.call('GET /api/user/self', { as: user })).json().success).toBe(true)
    await console.app.db.updateTable('users').set({ status: 2 }).where('id', '=', user.id).execute()
    console.app.bus.publish('user', user.id)
    expect((await console.call('GET /api/user/self', { as: user })).statusCode).toBe(401)
    expect((await login('ada', password, english)).json()).toMatchObject({ success: false, code: 'credentials_wrong' })
  })

  it('shows the account of the caller without any secret', async () => {
    const setting = '{"notify_type":"webhook","webhook_secret":"canary"}'
    await console.app.db.updateTable('users').set({ setting, access_token_hash: 'canary' }).where('id', '=', user.id).execute()
    const response = await console.call('GET /api/user/self', { as: user })
    expect(response.json().data).toMatchObject({ id: user.id, DeletedAt: null, email: '', setting: '{"notify_type":"webhook"}' })
    expect(response.body).not.toMatch(/canary|password_hash|argon2/)
  })

  it('[T033] changes the password only with the current one, and ends other sessions', async () => {
    const other = cookieOf((await login('ada')).headers['set-cookie'])
    const change = (body: object) => console.call('PUT /api/user/self', { as: user, body, headers: english })
    expect((await change({ password: 'new horse 12', current_password: 'wrong' })).json().code).toBe('password_wrong')
    expect((await change({ password: 'short', current_password: password })).json().code).toBe('password_length')
    expect((await change({ password: 'Password123', current_password: password })).json().code).toBe('password_weak')
    expect((await change({ password: 'new horse 12', current_password: password })).json().success).toBe(true)

    expect((await console.call('GET /api/user/self', { as: user })).json().success).toBe(true)
    const elsewhere = { cookie: other, 'new-api-user': String(user.id) }
    expect((await console.call('GET /api/user/self', { headers: elsewhere })).statusCode).toBe(401)
    expect((await login('ada')).json().code).toBe('credentials_wrong')
    expect((await login('ada', 'new horse 12')).json().success).toBe(true)
  })

  it('[T052] changes names, and ignores empty and unknown members', async () => {
    await console.addUser('grace')
    const change = (body: object) => console.call('PUT /api/user/self', { as: user, body })
    expect((await change({ username: 'Grace' })).json().code).toBe('username_taken')
    expect((await change({ username: 'a@b' })).json().code).toBe('username_characters')
    expect((await change({ username: 'thirteen-long' })).json().code).toBe('username_length')
    expect((await change({ username: 'lovelace', display_name: '', password: '', role: 100, quota: 5 })).json().success).toBe(
      true,
    )
    const { data } = (await console.call('GET /api/user/self', { as: user })).json()
    expect(data).toMatchObject({ username: 'lovelace', display_name: 'ada', role: 1, quota: 0 })
  })

  it('[T028] creates a system access token that works without a cookie, with the header of its user', async () => {
    const token: string = (await console.call('GET /api/user/token', { as: user })).json().data
    const self = (headers: Record<string, string>) => console.call('GET /api/user/self', { headers })
    const id = String(user.id)
    expect((await self({ authorization: token, 'new-api-user': id })).json().data.username).toBe('ada')
    expect((await self({ authorization: `Bearer ${token}`, 'New-API-User': id })).json().success).toBe(true)
    expect((await self({ authorization: token })).json().code).toBe('user_header_invalid')
    const eve = await console.addUser('eve')
    expect((await self({ authorization: token, 'new-api-user': String(eve.id) })).json().code).toBe('user_header_invalid')
    expect((await self({ authorization: `Bearer Bearer ${token}`, 'new-api-user': id })).json().code).toBe('access_token_invalid')
    // The cookie of a signed-in user does not make an invalid token valid.
    expect((await self({ authorization: 'wrong', ...user.headers })).json().code).toBe('access_token_invalid')
  })

  it('shows admins only users of a lower role', async () => {
    const admin = await console.addUser('adm', { role: 10 })
    const peer = await console.addUser('peer', { role: 10 })
    const show = async (id: number) => (await console.call(`GET /api/user/${id}`, { as: admin })).json()
    expect((await show(user.id)).data.username).toBe('ada')
    expect((await show(admin.id)).data.username).toBe('adm')
    expect((await show(peer.id)).code).toBe('user_protected')
    expect((await show(99_999)).code).toBe('not_found')
    for (const id of ['0', '-1', '1.5', '1 or 1=1', '9007199254740993', 'x']) {
      expect((await console.call(`GET /api/user/${encodeURIComponent(id)}`, { as: admin })).json().code).toBe('field_invalid')
    }
  })

  it('[T027] answers 503 while the database is unavailable', async () => {
    await console.app.database.close()
    for (const line of ['GET /api/user/self', 'POST /api/user/login']) {
      const response = await console.call(line, {
        as: user,
        ...(line.startsWith('POST') ? { body: { username: 'a', password: 'b' } } : {}),
      })
      expect([response.statusCode, response.json().code]).toEqual([503, 'database_unavailable'])
    }
    // Public pages need no session, and the settings are in memory.
    expect((await console.call('GET /api/notice', { as: user })).json().code).toBe('not_implemented')
    expect((await console.call('GET /readyz')).statusCode).toBe(503)
    expect((await console.call('GET /healthz')).statusCode).toBe(200)
  })
})

describe('the console', () => {
  let console: TestConsole
  let user: Signed
  let secret: unknown

  beforeEach(async () => {
    const handlers = {
      'GET /api/notice': () => secret,
      'GET /api/about': () => {
        throw new Error('canary of the inside')
      },
    }
    console = await startConsole('sqlite', { handlers })
    user = await console.addUser('ada')
    secret = ''
  })
  afterEach(() => console.stop())

  const self = (headers: Record<string, string | undefined> = {}) => {
    const sent = Object.entries({ ...user.headers, ...headers }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    return console.call('GET /api/user/self', { headers: Object.fromEntries(sent) })
  }
  const set = (key: string, value: string) => console.app.options.save({ key, value, caller: root })

  it.each(['', '0', '+1', '01', '1.0', ' 2', '1, 1', 'x', '-1', '999', undefined])(
    '[T042] refuses the user header %j',
    async (header) => {
      const response = await self({ 'new-api-user': header })
      expect([response.statusCode, response.json().code]).toEqual([401, 'user_header_invalid'])
    },
  )

  const foreign = 'https://evil.example'
  it.each([
    [{}, true],
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'same-origin', origin: 'http://localhost:5173' }, true],
    [{ origin: 'http://localhost:80' }, true],
    [{ origin: 'http://localhost:81' }, false],
    [{ origin: foreign }, false],
    [{ origin: 'null' }, false],
    [{ origin: 'https://ai.example.com' }, true],
    [{ origin: 'https://ai.example.com.evil.example' }, false],
  ] as const)('[T041] [T044] takes a call with %j: %s', async (headers, taken) => {
    await set('ServerAddress', 'https://ai.example.com')
    const response = await self({ host: 'localhost', ...headers })
    expect(response.json().success).toBe(taken)
    if (!taken) expect([response.statusCode, response.json().code]).toEqual([403, 'origin_refused'])

    const login = await console.call('POST /api/user/login', {
      headers: { host: 'localhost', ...headers },
      body: { username: 'ada', password },
    })
    expect(login.json().success).toBe(taken)
    const logout = await console.call('GET /api/user/logout', { as: user, headers: { host: 'localhost', ...headers } })
    expect(logout.json().success).toBe(taken)
  })

  it('[T042] requires the header of the console for a change by GET from a browser that sends no origin', async () => {
    const logout = async (headers: Record<string, string>) => {
      const { statusCode } = await console.call('GET /api/user/logout', {
        headers: { cookie: user.headers.cookie ?? '', ...headers },
      })
      return statusCode
    }
    const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }
    expect([await logout(browser), (await self()).statusCode]).toEqual([403, 200])
    expect([await logout({ ...browser, 'new-api-user': '-1' }), (await self()).statusCode]).toEqual([200, 401])
    expect(await logout({ 'user-agent': 'curl/8.5.0' })).toBe(200)
  })

  it('[T044] does not count logins that a page of another site sends toward the limit of the user', async () => {
    const login = async (headers: Record<string, string>) =>
      (await console.call('POST /api/user/login', { headers, body: { username: '', password: '' } })).statusCode
    for (let n = 0; n < 25; n++) expect(await login({ origin: foreign })).toBe(403)
    expect(await login({})).toBe(200)
  })

  it('[T043] grants other sites no access', async () => {
    for (const origin of [foreign, 'null', 'https://sub.ai.example.com']) {
      const preflight = { origin, 'access-control-request-method': 'GET' }
      const answers = [
        await console.call('OPTIONS /api/user/self', { headers: preflight }),
        await console.call('GET /api/user/self', { as: user, headers: { origin } }),
      ]
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 403])
      for (const { headers } of answers) expect(Object.keys(headers).join()).not.toContain('access-control')
    }
  })

  it('[T007] blocks a super admin with the default password until it is changed, but not on the machine itself', async () => {
    const boss = await console.addUser('root', { role: 100, must_change_password: 1 })
    const code = async (line: string, more: object = {}) =>
      (await console.call(line, { as: boss, from: elsewhere, ...more })).json().code
    expect(await code('GET /api/option/')).toBe('must_change_password')
    expect(await code('GET /api/user/token')).toBe('must_change_password')
    expect(await code('GET /api/option/', { from: '127.0.0.1' })).toBe('not_implemented')
    expect(await code('GET /api/option/', { from: '127.0.0.1', headers: { 'x-forwarded-for': elsewhere } })).toBe(
      'must_change_password',
    )

    const own = await console.call('GET /api/user/self', { as: boss, from: elsewhere })
    expect(own.json().data.default_password).toBe(true)
    const body = { password: 'new horse 12', current_password: password }
    expect((await console.call('PUT /api/user/self', { as: boss, from: elsewhere, body })).json().success).toBe(true)
    expect(await code('GET /api/option/')).toBe('not_implemented')
  })

  it('refuses changes on a demo site, except that the super admin ends the demo mode', async () => {
    const boss = await console.addUser('root', { role: 100 })
    await set('DemoSiteEnabled', 'true')
    const answer = async (line: string, body?: object) => {
      const response = await console.call(line, { as: boss, ...(body ? { body } : {}) })
      return [response.statusCode, response.json().code]
    }
    expect(await answer('POST /api/token/', {})).toEqual([405, 'demo_site'])
    expect(await answer('GET /api/channel/test/1')).toEqual([405, 'demo_site'])
    expect(await answer('PUT /api/option/', { key: 'Notice', value: 'x' })).toEqual([405, 'demo_site'])
    expect(await answer('GET /api/token/')).toEqual([501, 'not_implemented'])
    expect(await answer('PUT /api/option/', { key: 'DemoSiteEnabled', value: 'false' })).toEqual([501, 'not_implemented'])
    expect((await console.call('POST /api/user/login', { body: { username: 'ada', password } })).json().success).toBe(true)
  })

  it('[T055] sends only the declared fields of a reply, and no reply that violates its schema', async () => {
    const leaky = {
      'GET /api/user/self': () => ({ password_hash: 'canary' }),
      'GET /api/user/:id': () => ({ id: 1, password_hash: 'canary' }),
    }
    const other = await startConsole('sqlite', { handlers: { ...leaky, 'GET /api/token/': () => [{ key: 'canary' }] } })
    const admin = await other.addUser('adm', { role: 10 })
    for (const line of ['GET /api/user/self', 'GET /api/user/1', 'GET /api/token/']) {
      const response = await other.call(line, { as: admin })
      expect([response.statusCode, response.json().code]).toEqual([500, 'internal'])
      expect(response.body).not.toContain('canary')
    }
    expect(other.logged.join('')).not.toContain('canary')
    await other.stop()
  })

  it('[T243] answers an unexpected failure with only the request id, and logs it once', async () => {
    const response = await console.call('GET /api/about', { headers: english })
    const id = response.headers['x-oneapi-request-id']
    expect(id).toMatch(/^\d{17}\w{12}$/)
    expect(response.statusCode).toBe(500)
    expect(response.json()).toEqual({
      success: false,
      code: 'internal',
      message: `Internal server error, contact the admin (request id ${id})`,
    })
    expect(console.logged.filter((line) => line.includes('canary of the inside') && line.includes(String(id)))).toHaveLength(1)
  })

  it('answers in the requested language', async () => {
    const message = async (headers = {}) => (await console.call('GET /api/user/self', { headers })).json().message
    expect(await message()).toBe('未登录或登录已过期，请重新登录')
    expect(await message({ 'accept-language': 'en-US,en;q=0.9' })).toBe('Not logged in or login has expired, please log in again')
    const wrong = await console.call('POST /api/user/login', { body: { username: 1 }, headers: english })
    expect(wrong.json()).toMatchObject({ code: 'field_invalid', message: 'Field username is invalid: must be a string' })
  })

  it.each([
    ['text/plain', '{"username":"ada","password":"x"}', 415, 'media_type_unsupported'],
    ['application/x-www-form-urlencoded', 'username=ada&password=x', 415, 'media_type_unsupported'],
    ['multipart/form-data; boundary=x', '--x--', 415, 'media_type_unsupported'],
    ['application/json', '{', 200, 'bad_json'],
    ['application/json', '{"__proto__":{"role":100},"username":"a","password":"b"}', 200, 'bad_json'],
    ['application/json', '{"constructor":{"prototype":{}},"username":"a","password":"b"}', 200, 'bad_json'],
    ['application/json', '{"username":"a\\u0000","password":"b"}', 200, 'bad_json'],
    ['application/json', '', 200, 'field_invalid'],
    ['application/json', '[]', 200, 'field_invalid'],
    ['application/json', JSON.stringify({ username: 'a', password: 'b'.repeat(70_000) }), 413, 'body_too_large'],
    ['application/json; charset=utf-8', '{"username":"a\\\\u0000","password":"b"}', 200, 'credentials_wrong'],
  ])('[T041] accepts a body of %s only in valid form: %.40s', async (type, body, status, code) => {
    const response = await console.call('POST /api/user/login', { body, headers: { 'content-type': type } })
    expect([response.statusCode, response.json().code]).toEqual([status, code])
  })

  it('refuses unauthorized callers before it reads the body', async () => {
    const body = 'x'.repeat(500_000)
    const response = await console.call('PUT /api/user/self', { body, headers: { 'content-type': 'application/json' } })
    expect(response.statusCode).toBe(401)
  })

  it('limits logins for each address separately', async () => {
    const login = async (from: string) =>
      (await console.call('POST /api/user/login', { body: { username: '', password: '' }, from })).statusCode
    for (let n = 0; n < 20; n++) expect(await login(elsewhere)).toBe(200)
    expect(await login(elsewhere)).toBe(429)
    expect(await login('203.0.113.10')).toBe(200)
    console.clock.passSeconds(40 * 60)
    expect(await login(elsewhere)).toBe(200)
  })

  it('[T059] accepts forwarded addresses only from trusted proxies', async () => {
    const other = await startConsole('sqlite', { env: { TRUSTED_PROXIES: '10.0.0.0/8' } })
    const login = async (from: string, forwarded: string) =>
      (
        await other.call('POST /api/user/login', {
          body: { username: '', password: '' },
          from,
          headers: { 'x-forwarded-for': forwarded },
        })
      ).statusCode
    for (let n = 0; n < 20; n++) await login('10.1.2.3', `198.51.100.${n}, ${elsewhere}, 10.9.9.9`)
    expect(await login('10.1.2.3', elsewhere)).toBe(429)
    expect(await login('10.1.2.3', '198.51.100.1')).toBe(200)
    expect(await login(elsewhere, '198.51.100.2')).toBe(429)
    await other.stop()
  })

  it('does not start when a route has no handler or a handler no route', async () => {
    await expect(startConsole('sqlite', { handlers: { 'GET /api/nothing': () => null } })).rejects.toThrow(
      'GET /api/nothing is not a route',
    )
  })

  it('serves every route with and without the last slash', async () => {
    for (const line of ['GET /api/token', 'GET /api/token/', 'GET /api/log/self/', 'DELETE /api/token/5/']) {
      expect((await console.call(line, { as: user })).json().code).toBe('not_implemented')
    }
  })

  it.each([
    'GET /api/nothing',
    'POST /api/status',
    'HEAD /api/user/token',
    'TRACE /api/user/self',
    'GET /api/user/self%2f..%2f1',
    'GET //api/status',
    'GET /api/status%00',
    'GET /api;x/status',
    'GET /%zz',
    'GET /.git/config',
    'GET /api/../api/status',
    'GET /%2e%2e/status',
    'GET /assets/../../.env',
  ])('[T066] [T086] answers 404 to %s', async (line) => {
    const response = await overSocket(console, line)
    expect(response.statusCode).toBe(404)
    expect(response.headers['x-oneapi-request-id']).toBeDefined()
    if (!line.startsWith('HEAD')) expect(JSON.parse(response.body)).toMatchObject({ success: false, code: 'route_unknown' })
  })

  it('[T045] [T245] marks every answer as data that must not be cached or executed', async () => {
    for (const line of ['GET /api/notice', 'GET /api/user/self', 'GET /api/nothing', 'GET /healthz']) {
      expect((await console.call(line)).headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-oneapi-request-id': expect.stringMatching(/^\d{17}\w{12}$/),
      })
    }
  })

  it('[T068] shows metrics on the machine itself and to admins with an access token', async () => {
    const metrics = async (given: object) => (await console.call('GET /metrics', given)).statusCode
    const admin = await console.addUser('adm', { role: 10 })
    const tokens = await Promise.all([user.id, admin.id].map((userId) => makeAccessToken(console.app, { userId })))
    expect(await metrics({})).toBe(200)
    expect(await metrics({ from: elsewhere })).toBe(404)
    expect(await metrics({ headers: { 'x-forwarded-for': elsewhere } })).toBe(404)
    expect(await metrics({ from: elsewhere, headers: { authorization: `Bearer ${tokens[0]}` } })).toBe(404)
    expect(await metrics({ from: elsewhere, headers: { authorization: `Bearer ${tokens[1]}` } })).toBe(200)
  })

  it('is not ready while it is stopping', async () => {
    const stopping = await startConsole('sqlite', { isReady: () => false })
    expect((await console.call('GET /readyz')).body).toBe('ok')
    expect((await stopping.call('GET /readyz')).statusCode).toBe(503)
    await stopping.stop()
  })

  it('[T068] describes every route in one OpenAPI document, for signed-in users', async () => {
    expect((await console.call('GET /api/openapi.json')).statusCode).toBe(401)
    const document = (await console.call('GET /api/openapi.json', { as: user })).json()
    expect(document.openapi).toBe('3.1.0')
    const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.sort()).toEqual(
      [
        ...Object.keys(allRoutes).map((line) => line.replace(/:(\w+)/g, '{$1}')),
        ...relayCalls().map(({ method, path }) => `${method} ${path}`),
      ].sort(),
    )
    expect(document.paths['/api/user/{id}'].get.parameters).toEqual([
      { name: 'id', in: 'path', required: true, schema: expect.objectContaining({}) },
    ])
  })
})

describe('the files of the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-web-'))
  let console: TestConsole

  beforeEach(async () => {
    mkdirSync(join(folder, 'assets'), { recursive: true })
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>page</title>')
    writeFileSync(join(folder, 'logo.png'), 'png')
    writeFileSync(join(folder, 'assets/main-abc123.js'), 'export {}')
    mkdirSync(`${folder}-old`, { recursive: true })
    writeFileSync(join(`${folder}-old`, 'secret.js'), 'secret')
    symlinkSync(join(`${folder}-old`, 'secret.js'), join(folder, 'assets/link.js'))
    console = await startConsole('sqlite', { webFolder: folder })
  })
  afterEach(async () => {
    await console.stop()
    for (const path of [folder, `${folder}-old`]) rmSync(path, { recursive: true, force: true })
  })

  it('serves the page for every path that the console routes itself', async () => {
    for (const path of ['/', '/login?expired=true', '/user/edit/5', '/token/', '/index.html', '/chat', '/chat/0']) {
      const response = await console.call(`GET ${path}`)
      expect([response.statusCode, response.body]).toEqual([200, '<!doctype html><title>page</title>'])
      expect(response.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
      expect(response.headers['content-security-policy']).toContain("script-src 'self';")
    }
    const browser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }
    for (const path of ['/v2/unknown', '/user/edit/5/6', '/wp-login.php']) {
      const navigated = await console.call(`GET ${path}`, browser)
      expect([navigated.statusCode, navigated.body]).toEqual([404, '<!doctype html><title>page</title>'])
      for (const accept of ['*/*', 'application/json']) {
        const probed = await console.call(`GET ${path}`, { headers: { accept } })
        expect([probed.statusCode, probed.json().code]).toEqual([404, 'route_unknown'])
      }
    }
    const unknown = [
      'GET /api/x',
      'GET /v1/x',
      'GET /assets/old.js',
      'GET /.env',
      'POST /login',
      'GET /..%2f..%2f.env',
      'GET /%00',
      'GET /assets/%2e%2e/%2e%2e/.env',
      'GET /assets/link.js',
      'GET /assets/main-abc123.js.map',
      'GET /%5c..',
      `GET /..%2f${basename(folder)}-old/secret.js`,
    ]
    for (const line of unknown) expect([line, (await console.call(line)).statusCode]).toEqual([line, 404])
    expect((await console.call('GET /an-<echo>?of=echo', browser)).body).not.toContain('echo')
  })

  it('[T245] sends the reviewed headers with every kind of answer, and does not name the server software', async () => {
    for (const [key, value] of [
      ['ServerAddress', 'https://ai.example.com'],
      ['Chats', '[]'],
    ] as const)
      await console.app.options.save({ key, value, caller: root })
    const reviewed = {
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'cross-origin-resource-policy': 'same-origin',
      'strict-transport-security': 'max-age=31536000',
    }
    for (const path of ['/', '/logo.png', '/assets/main-abc123.js', '/api/notice', '/api/x', '/v1/models', '/metrics']) {
      const { headers } = await console.call(`GET ${path}`)
      expect([path, headers]).toMatchObject([path, reviewed])
      expect(Object.keys(headers).filter((name) => /^(server|x-powered-by|via)$/.test(name))).toEqual([])
    }
    expect((await console.call('GET /')).headers).toMatchObject({
      'content-security-policy':
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob: https:; media-src 'self' https:; connect-src 'self'; frame-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
    })
  })

  it('lets browsers cache hashed files for ever and revalidate others', async () => {
    const asset = await console.call('GET /assets/main-abc123.js')
    expect([asset.body, asset.headers['cache-control']]).toEqual(['export {}', 'public, max-age=31536000, immutable'])
    expect(asset.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-oneapi-request-id': expect.any(String) })
    const logo = await console.call('GET /logo.png')
    expect([logo.body, logo.headers['cache-control']]).toEqual(['png', 'no-cache'])
    expect((await console.call('GET /logo.png', { headers: { 'if-none-match': String(logo.headers.etag) } })).statusCode).toBe(
      304,
    )
  })

  it('answers 404 for a file deleted since the start, in every encoding, and continues', async () => {
    writeFileSync(join(folder, 'assets/big-def456.js'), 'x'.repeat(5000))
    writeFileSync(join(folder, 'assets/big-def456.js.br'), 'packed')
    const other = await startConsole('sqlite', { webFolder: folder })
    onTestFinished(() => other.stop())
    const url = await other.server.listen({ port: 0, host: '127.0.0.1' })
    const statusOf = async (path: string, encoding: string) =>
      (await fetch(url + path, { headers: { 'accept-encoding': encoding } })).status
    expect(await statusOf('/assets/big-def456.js', 'identity')).toBe(200)
    rmSync(join(folder, 'assets/big-def456.js.br'))
    expect([await statusOf('/assets/big-def456.js', 'br'), await statusOf('/assets/main-abc123.js', 'br')]).toEqual([404, 200])
    rmSync(join(folder, 'assets'), { recursive: true })
    expect([await statusOf('/assets/main-abc123.js', 'identity'), await statusOf('/logo.png', 'br')]).toEqual([404, 200])
    // Present but not readable: the promised bytes cannot be sent.
    rmSync(join(folder, 'logo.png'))
    mkdirSync(join(folder, 'logo.png'))
    await expect(statusOf('/logo.png', 'identity')).rejects.toThrow()
    expect(await statusOf('/login', 'identity')).toBe(200)
  })

  it('[T045] [T188] [T245] allows in its policy only the origins of addresses in the settings, never their text', async () => {
    const save = (key: string, value: string) => console.app.options.save({ key, value, caller: root })
    await save(
      'Chats',
      JSON.stringify([
        { a: 'https://chat.example/#/?k={key}' },
        { b: "https://x.example/;script-src 'unsafe-eval'" },
        { c: 'ama://x' },
      ]),
    )
    await save('About', 'https://about.example/page')
    const policy = String((await console.call('GET /')).headers['content-security-policy'])
    expect(policy).toContain("frame-src 'self' https://chat.example https://x.example https://about.example;")
    expect(policy).not.toContain('unsafe-eval')
    for (const [key, value] of [
      ['ChatLink', 'https://x;script-src/'],
      ['About', "https://a'b"],
      ['Chats', JSON.stringify([{ a: 'https://*.example' }])],
    ] as const)
      await expect(save(key, value), key).rejects.toMatchObject({ code: 'option_invalid' })
    expect(String((await console.call('GET /')).headers['content-security-policy'])).toBe(policy)
  })
})
