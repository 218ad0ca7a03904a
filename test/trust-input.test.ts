import net from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Route } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { spreadText } from './helpers/canaries.ts'
import { oddNames, sqlSigns } from './helpers/fuzz.ts'
import { fuzzRoutes } from './helpers/fuzz-routes.ts'
import { addChannel, addToken, requireBalancedBooks } from './helpers/seed.ts'
import { isTorture, sampled } from './helpers/torture.ts'

/** Part D of docs/reference/trust-cases.md: bodies, queries and paths sent to the console change nothing that they should not. */

const oddNumbers = [
  '9007199254740992',
  '18446744073686646784',
  '1e308',
  '1e400',
  '-1',
  '0',
  '-0',
  '1.5',
  '"NaN"',
  '"1"',
  'null',
  '[]',
  '{}',
  'true',
]

let clients = 0
/** Each call comes from a separate client: client limits are tested elsewhere. */
const client = () => ({ 'x-forwarded-for': `198.18.${Math.floor(++clients / 250) % 250}.${(clients % 250) + 1}` })

describe.each(['sqlite', 'postgres'] as const)('input over %s', (kind) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(kind, { env: { TRUSTED_PROXIES: '127.0.0.1' } })
    await addToken(server, { name: 'literal' })
    await addChannel(server, { url: 'http://127.0.0.1:9', models: 'm', name: 'literal' })
    await server.call('POST /api/redemption/', { name: 'literal', quota: 1, count: 1 })
  })
  afterAll(() => server.stop())

  const send = async (line: string, body?: string, headers: Record<string, string> = {}) => {
    const [method = 'GET', path = ''] = line.split(' ')
    const auth = await rootHeaders(server)
    const json: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    return fetch(server.url + path, {
      method,
      headers: { ...auth, ...client(), ...json, ...headers },
      ...(body === undefined ? {} : { body }),
    })
  }
  /** In the ordinary run each database tests half of them. */
  const shareOf = <Case>(cases: readonly Case[]) => sampled(cases, 2, kind === 'sqlite' ? 0 : 1)
  const answerTo = async (line: string, body?: unknown) =>
    (await (await send(line, body === undefined ? undefined : JSON.stringify(body))).json()) as Record<string, unknown>

  it('[T076] characters with a meaning in SQL are searched literally, in every list', async () => {
    const lists = [
      'user/search?keyword=',
      'token/search?keyword=',
      'token/search?token=',
      'channel/search?keyword=',
      'channel/search?model=',
    ]
    const more = [
      'redemption/search?keyword=',
      'log/?username=',
      'log/?token_name=',
      'log/?group=',
      'audit/?target=',
      'audit/?actor=',
    ]
    for (const [nth, path] of [...lists, ...more].entries()) {
      for (const sign of sampled(sqlSigns, 3, nth)) {
        const response = await send(`GET /api/${path}${encodeURIComponent(sign)}&paged=true`)
        const { success, data } = (await response.json()) as { success: boolean; data: { total: number } }
        expect([response.status, success, data?.total], `${path} ${sign}`).toEqual([200, true, 0])
      }
    }
    // For all other params of any call: a result or a refusal of the field, and no database error.
    const fields = Object.entries(allRoutes as Readonly<Record<string, Route>>).flatMap(([line, { query, params }]) => {
      if (!line.startsWith('GET /') || !query || params || /oauth|reset_password|verification|epay/.test(line)) return []
      return Object.keys(query.shape).map((field) => `${line}?${field}=`)
    })
    for (const field of shareOf(fields)) {
      const response = await send(`${field}${encodeURIComponent(`1' or (1=1) -- "\\%`)}`)
      expect(response.status, field).toBeLessThan(500)
      expect(await response.text(), field).not.toMatch(/SQLITE|syntax error|unterminated|no such column/i)
    }
    for (const order of ["id'", 'id;drop', 'password_hash', 'constructor']) {
      expect((await send(`GET /api/user/?sort=${encodeURIComponent(order)}`)).status, order).toBe(200)
    }
    expect(await server.app.db.selectFrom('users').select('id').execute()).not.toHaveLength(0)
  })

  it('[T074] invalid page numbers and sizes return the first page, with 1 to 100 rows', async () => {
    for (const path of ['user/', 'token/', 'channel/', 'redemption/', 'log/', 'audit/', 'mj/', 'task/']) {
      for (const p of ['-1', '0', '1000000000', '1.5', 'abc', '1e99', '']) {
        const response = await send(`GET /api/${path}?p=${p}&page_size=${p}&size=${p}`)
        const { success, data } = (await response.json()) as { success: boolean; data: unknown }
        const rows = Array.isArray(data) ? data : (data as { items: unknown[] }).items
        expect([response.status, success, rows.length <= 100], `${path} ${p}`).toEqual([200, true, true])
      }
    }
  })

  it('[T073] invalid and extreme numbers are refused or bounded, and change no balance', async () => {
    const before = await server.call<{ quota: number }>('GET /api/user/self')
    const bodies: readonly (readonly [string, (number: string) => string])[] = [
      ['POST /api/token/', (n) => `{"name":"x","remain_quota":${n},"expired_time":${n}}`],
      ['POST /api/redemption/', (n) => `{"name":"x","quota":${n},"count":${n}}`],
      ['POST /api/user/1/quota', (n) => `{"change":${n},"reason":""}`],
      ['POST /api/user/amount', (n) => `{"amount":${n}}`],
      ['POST /api/user/pay', (n) => `{"amount":${n},"payment_method":"zfb"}`],
      ['POST /api/user/aff_transfer', (n) => `{"quota":${n}}`],
      ['PUT /api/channel/', (n) => `{"id":1,"priority":${n},"weight":${n}}`],
      ['PUT /api/user/setting', (n) => `{"notify_type":"email","quota_warning_threshold":${n}}`],
    ]
    for (const [line, body] of bodies) {
      for (const number of oddNumbers) {
        const response = await send(line, body(number))
        const text = await response.text()
        expect(response.status, `${line} ${number}: ${text.slice(0, 200)}`).toBeLessThan(500)
        expect(text).not.toMatch(/SQLITE|syntax error|out of range|violates/i)
      }
    }
    const rows = await server.app.db.selectFrom('tokens').select(['remain_quota']).execute()
    expect(rows.every(({ remain_quota }) => remain_quota >= 0 && Number.isSafeInteger(remain_quota))).toBe(true)
    const codes = await server.app.db.selectFrom('redemptions').select('quota').execute()
    expect(codes.every(({ quota }) => quota > 0 && Number.isSafeInteger(quota))).toBe(true)
    expect((await server.call<{ quota: number }>('GET /api/user/self')).quota).toBe(before.quota)
    await requireBalancedBooks(server)
  })

  it('[T079] names with invisible or misleading characters are refused or cleaned, and never break a call', async () => {
    for (const name of sampled(oddNames, kind === 'sqlite' ? 2 : 6)) {
      const tries: readonly (readonly [string, unknown])[] = [
        ['POST /api/user/', { username: name.slice(0, 12), display_name: '', password: 'longpassword' }],
        ['POST /api/token/', { name }],
        ['POST /api/redemption/', { name, quota: 1, count: 1 }],
        ['PUT /api/user/self', { display_name: name }],
        ['POST /api/user/login', { username: name, password: name }],
        ['PUT /api/option/', { key: 'SystemName', value: name }],
      ]
      for (const [line, body] of tries) {
        const response = await send(line, JSON.stringify(body))
        expect(response.status, `${line} ${JSON.stringify(name)}: ${await response.text()}`).toBeLessThan(500)
      }
      expect((await send(`GET /api/user/search?keyword=${encodeURIComponent(Buffer.from(name).toString())}`)).status).toBe(200)
    }
    const users = await server.app.db.selectFrom('users').select('username').execute()
    for (const { username } of users) expect(username, JSON.stringify(username)).not.toMatch(/\p{C}|^\s|\s$/u)
  })

  it('[T070] names of prototype members are treated as data or refused, in bodies, options, maps and queries', async () => {
    const poison = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    for (const [line, { body }] of shareOf(Object.entries(allRoutes as Readonly<Record<string, Route>>))) {
      if (body) expect((await send(line.replace(/:\w+/g, '1'), poison)).status, line).toBeLessThan(500)
    }
    for (const key of ['GroupRatio', 'ModelRatio', 'Chats', 'claude.model_headers_settings', '__proto__', 'constructor'])
      expect(await answerTo('PUT /api/option/', { key, value: poison }), key).toMatchObject({ success: false })
    const fields = { name: 'x', type: 1, key: 'k', models: 'm', group: 'default' }
    for (const field of ['model_mapping', 'status_code_mapping', 'setting', 'other_info'])
      await answerTo('POST /api/channel/', { ...fields, [field]: poison })
    expect((await send('GET /api/channel/?__proto__[polluted]=1&constructor=1')).status).toBe(200)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('[T077] no malformed Authorization header is accepted or causes an error', async () => {
    const odd = [
      "Bearer ' OR '1'='1",
      `Bearer ${'x'.repeat(8000)}`,
      `Bearer ${'x'.repeat(100_000)}`,
      'Bearer',
      'Bearer  ',
      'Basic cm9vdDpyb290',
      "' or 1=1 --",
      'Bearer \u00ff\u00fe',
      'Bearer /*x*/',
      'Bearer sk-x-- ',
    ]
    for (const authorization of odd) {
      for (const path of ['/api/user/self', '/v1/models', '/api/option/']) {
        const response = await fetch(server.url + path, { headers: { authorization, 'new-api-user': '1', ...client() } })
        expect([400, 401, 431], `${path} ${authorization.slice(0, 20)}`).toContain(response.status)
        expect(await response.text()).not.toMatch(/SQLITE|syntax/i)
      }
    }
  })

  it('[T077] no input is part of a statement: it is a parameter', async () => {
    const sent = spreadText(`"canary' OR '1'='1' -- /*`)
    const statements = statementsOf(server)
    const headers: readonly Record<string, string>[] = [
      { authorization: `Bearer ${sent}` },
      { authorization: `Bearer sk-${sent}` },
      { authorization: sent, 'new-api-user': sent },
      { cookie: `session=${encodeURIComponent(sent)}`, 'new-api-user': '1' },
      { 'x-api-key': sent, 'x-goog-api-key': sent, 'user-agent': sent },
    ]
    for (const header of headers) {
      for (const path of ['/api/user/self', '/v1/models', '/v1beta/models', `/api/log/token?key=${encodeURIComponent(sent)}`])
        expect((await fetch(server.url + path, { headers: { ...header, ...client() } })).status).toBeLessThan(500)
    }
    for (const path of [
      'user/search?keyword=',
      'token/search?keyword=',
      'log/?username=',
      'channel/search?model=',
      'user/?sort=',
    ])
      expect((await send(`GET /api/${path}${encodeURIComponent(sent)}`)).status, path).toBe(200)
    await send('POST /api/user/login', JSON.stringify({ username: sent, password: sent }))
    await send('POST /api/token/', JSON.stringify({ name: sent.slice(0, 20), group: sent }))
    await send('POST /api/user/topup', JSON.stringify({ key: sent }))
    expect(statements.texts.filter((text) => text.includes('canary'))).toEqual([])
    const beside = statements.values.filter((value) => String(value).includes('canary'))
    if (kind === 'postgres') expect(beside.length).toBeGreaterThan(2)
  })
})

describe('bodies', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite', { env: { TRUSTED_PROXIES: '127.0.0.1' } })
  })
  afterAll(() => server.stop())

  it('[T071] are read as JSON only with an exact media type, otherwise refused, and never read unchecked', async () => {
    const count = () =>
      server.app.db
        .selectFrom('tokens')
        .select('id')
        .execute()
        .then((rows) => rows.length)
    const types: readonly (readonly [string | undefined, boolean])[] = [
      ['application/json', true],
      ['application/json; charset=utf-8', true],
      ['text/plain', false],
      ['application/x-www-form-urlencoded', false],
      ['multipart/form-data; boundary=x', false],
      ['application/jsonx', false],
      [undefined, false],
    ]
    for (const [type, taken] of types) {
      const before = await count()
      const status = await rawPost(server, { path: '/api/token/', type, body: '{"name":"typed","unlimited_quota":true}' })
      expect([status < 500, (await count()) - before], String(type)).toEqual([true, taken ? 1 : 0])
    }
    // An invalid field is refused with any media type that is accepted.
    for (const type of ['application/json\ta', 'application/json; charset=utf-7', ' application/json']) {
      const before = await count()
      await rawPost(server, { path: '/api/token/', type, body: '{"name":7,"remain_quota":-1}' })
      expect(await count(), JSON.stringify(type)).toBe(before)
    }
  })

  it('[T080] of any shape are refused at their limit without delaying others', async () => {
    const bodies = {
      large: `{"name":"${'x'.repeat(50_000_000)}"}`,
      deep: `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
      wide: `{${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
    }
    for (const [shape, body] of Object.entries(bodies)) {
      const refused = fetch(`${server.url}/api/token/`, {
        method: 'POST',
        headers: { ...(await rootHeaders(server)), ...client(), 'content-type': 'application/json' },
        body,
      }).then(
        ({ status }) => status,
        // The connection may end after the answer, before the whole body was sent.
        () => 413,
      )
      expect((await fetch(`${server.url}/api/status`, { headers: client() })).status, shape).toBe(200)
      expect(await refused, shape).toBeLessThan(500)
    }
    expect(await server.app.db.selectFrom('tokens').where('name', '!=', 'typed').select('id').execute()).toEqual([])
  })

  it('[T080] of a form with too many parts, or boundaries of only dashes, are refused before they are parsed', async () => {
    const { key } = await addToken(server)
    const part = (index: number | '') => `--x\r\ncontent-disposition: form-data; name="model${index}"\r\n\r\nm\r\n`
    const dashes = '-'.repeat(68)
    const forms: readonly (readonly [string, string])[] = [
      ['x', `${part('').repeat(100_000)}--x--\r\n`],
      ['"x"; charset=utf-8', `${part('').repeat(100_000)}--x--\r\n`],
      ['x', `${Array.from({ length: 100_000 }, (_, index) => part(index)).join('')}--x--\r\n`],
      [dashes, '-'.repeat(30_000_000)],
      [
        dashes,
        `--${dashes}\r\ncontent-disposition: form-data; name="model"\r\n\r\n${'-'.repeat(30_000_000)}\r\n--${dashes}--\r\n`,
      ],
      ['', `${part('')}--x--\r\n`],
    ]
    for (const [boundary, body] of forms) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${boundary}` }
      const refused = fetch(`${server.url}/v1/audio/transcriptions`, { method: 'POST', headers, body })
      expect((await fetch(`${server.url}/api/status`, { headers: client() })).status, boundary).toBe(200)
      expect((await refused).status, `${boundary} ${body.length}`).toBe(400)
    }
    // A field with such a name is read as a field, not as the inherited property.
    const form = new FormData()
    for (const field of ['__proto__', 'constructor', 'model']) form.set(field, 'no-such-model')
    form.set('file', new Blob(['RIFF']), 'a.wav')
    const headers = { authorization: `Bearer ${key}` }
    const unknown = await fetch(`${server.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('no-such-model')])
  })

  it('[T078] input in URLs, headers and mails is encoded or refused', async () => {
    const hostile = ['a\r\nBcc: evil@x.test', 'a&b=c', '../../x', 'x#y']
    for (const text of hostile) {
      for (const key of ['SystemName', 'SMTPFrom', 'GitHubClientId', 'TelegramBotName', 'EpayId'])
        await server.raw('PUT /api/option/', { key, value: text }, client())
      const response = await server.raw('POST /api/option/test_mail', { email: `${text}@x.test` }, client())
      expect(((await response.json()) as { success: boolean }).success, text).toBe(false)
      expect(server.app.options.current.SystemName).not.toMatch(/[\r\n]/)
      expect(server.app.options.current.SMTPFrom).not.toMatch(/[\r\n]/)
    }
  })

  it('[T089] generated at random or from schemas, for every route and role, cause no internal error', async () => {
    await fuzzRoutes(server, { rounds: isTorture ? 2 : 1, seed: 7 })
    expect((await fetch(`${server.url}/readyz`, { headers: client() })).status).toBe(200)
    await requireBalancedBooks(server)
  })
})

let cookies = new WeakMap<TestServer, Record<string, string>>()

async function rootHeaders(server: TestServer): Promise<Record<string, string>> {
  const known = cookies.get(server)
  if (known) return known
  const token = await server.app.sessions.create({ userId: 1, address: '192.0.2.1', userAgent: 'test' })
  const headers = { cookie: `session=${token}`, 'new-api-user': '1' }
  cookies = cookies.set(server, headers)
  return headers
}

/** A request as no client library would write it. */
async function rawPost(
  server: TestServer,
  { path, type, body }: { path: string; type: string | undefined; body: string },
): Promise<number> {
  const { hostname, port } = new URL(server.url)
  const headers = { ...(await rootHeaders(server)), ...client() }
  const socket = net.connect(Number(port), hostname)
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: ${hostname}`,
    'connection: close',
    ...(type === undefined ? [] : [`content-type: ${type}`]),
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
  let answer = ''
  for await (const chunk of socket) answer += chunk
  return Number(answer.split(' ')[1])
}

/** Records statements from now on: the text of each, and its parameters. */
function statementsOf({ app: { database } }: TestServer): { texts: string[]; values: unknown[] } {
  const [texts, values]: [string[], unknown[]] = [[], []]
  const heard = (text: string, more: readonly unknown[]) => {
    texts.push(text)
    values.push(...more)
  }
  if (database.dialect === 'postgres') {
    const { query } = pg.Client.prototype
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...asked: unknown[]) {
      // Called with a text and its parameters, or with one object that has both.
      const [first, more] = asked as [string | { text: string; values?: unknown[] }, unknown[] | undefined]
      heard(typeof first === 'string' ? first : first.text, (typeof first === 'string' ? more : first.values) ?? [])
      return Reflect.apply(query, this, asked)
    })
  } else {
    // A prepared statement is used again with other values; a value inside the SQL text makes a new statement.
    const prepare = database.raw.prepare.bind(database.raw)
    vi.spyOn(database.raw, 'prepare').mockImplementation((text, options) => {
      heard(text, [])
      return prepare(text, options)
    })
  }
  onTestFinished(() => void vi.restoreAllMocks())
  return { texts, values }
}
