import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseLine } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'
import { signIn } from '../src/server/accounts/sign-in.ts'
import { createUser } from '../src/server/accounts/users.ts'
import { type FormName, forms } from './contract/forms.ts'
import { notYet, type RecordedCall, recordedCalls } from './contract/recorded-calls.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { testCertificate } from './helpers/certificate.ts'
import { type SmtpServer, startSmtpServer } from './helpers/smtp-server.ts'
import { type FakeUpstream, startFakeUpstream } from './helpers/upstream.ts'

/** Every call of accustomed consoles, as it was recorded, gets an answer of the form that they need; here over one whole server. */

const password = 'plain-person-1'
const people = ['user', 'leaver', 'victim'] as const
type Who = 'nobody' | 'root' | (typeof people)[number]

let server: TestServer
let upstream: FakeUpstream
let smtp: SmtpServer
const headersOf: Partial<Record<Who, Record<string, string>>> = {}
const seeds: Record<string, string | number> = { password }

beforeAll(async () => {
  ;[upstream, smtp] = await Promise.all([startFakeUpstream(), startSmtpServer()])
  // Each call comes from a client of its own, so that the limits of one client, which have tests of their own, count none of them.
  const env = { TRUSTED_PROXIES: '127.0.0.1' }
  server = await startServer('sqlite', { env, mailCertificates: testCertificate })
  await seed()
})
afterAll(async () => {
  await server.stop()
  await Promise.all([upstream.stop(), smtp.stop()])
})

async function seed(): Promise<void> {
  const { app } = server
  const settings = {
    ...{ SMTPServer: '127.0.0.1', SMTPPort: smtp.port, SMTPAccount: 'robot@site.test', ServerAddress: 'https://site.test' },
    ...{ PayAddress: 'https://pay.test', EpayId: '1001', EpayKey: 'key' },
  }
  for (const [key, value] of Object.entries(settings)) await server.call('PUT /api/option/', { key, value })

  const password_hash = await app.passwords.hash(password)
  for (const username of people) {
    const user = { username, displayName: '', password_hash, role: 1, at: app.now() }
    seeds[username] = await app.db.transaction().execute((within) => createUser(within, user))
    await app.db.updateTable('users').set({ aff_quota: 600_000 }).where('username', '=', username).execute()
    const { token } = await signIn(app, { username, password, address: '192.0.2.1', userAgent: 'test' })
    headersOf[username] = { cookie: `session=${token}`, 'new-api-user': String(seeds[username]) }
  }
  headersOf.root = { cookie: String(await rootCookie()), 'new-api-user': '1' }
  await server.call(`POST /api/user/${seeds.user}/quota`, { change: 10_000_000, reason: 'test' })

  const channel = { type: 1, key: 'upstream-key-0123456789', base_url: upstream.url, models: 'gpt-4o,gpt-4o-mini' }
  for (const name of ['channel', 'otherChannel', 'spareChannel'])
    seeds[name] = (await server.call<number[]>('POST /api/channel/', { ...channel, name: 'seeded' }))[0] ?? 0
  for (const name of ['token', 'spareToken']) {
    const made = await answerTo({ call: 'POST /api/token/', as: 'user', body: { name: 'seeded', unlimited_quota: true } })
    const { id, key } = made.data as { id: number; key: string }
    seeds[name] = id
    seeds[`${name}Key`] = key
  }
  const codes = await server.call<string[]>('POST /api/redemption/', { name: 'seeded', quota: 1000, count: 2 })
  seeds.code = codes[0] ?? ''
  const { items } = await server.call<{ items: { id: number; key: string }[] }>('GET /api/redemption/?p=1')
  seeds.redemption = items.find(({ key }) => key === seeds.code)?.id ?? 0
  seeds.spareRedemption = items.find(({ key }) => key !== seeds.code)?.id ?? 0
  seeds.upstream = upstream.url

  const chat = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }
  const headers = { authorization: `Bearer sk-${seeds.tokenKey}`, 'content-type': 'application/json' }
  await (await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(chat) })).text()
}

async function rootCookie(): Promise<string> {
  const { token } = await signIn(server.app, {
    username: 'root',
    password: 'correct-horse-1',
    address: '192.0.2.1',
    userAgent: 'test',
  })
  return `session=${token}`
}

let clients = 0

/** Sends a call as an accustomed console does: raw query, the header of the user in its own letter case. */
async function send({ call, as = 'root', body }: Pick<RecordedCall, 'call' | 'body'> & { as?: Who }): Promise<Response> {
  const [method = 'GET', path = ''] = filled(call).split(' ')
  const client = { 'x-forwarded-for': `198.51.${Math.floor(++clients / 250)}.${(clients % 250) + 1}` }
  const json = body === undefined ? undefined : JSON.stringify(filledIn(body))
  return fetch(server.url + path, {
    method,
    headers: {
      ...client,
      'cache-control': 'no-store',
      ...(json ? { 'content-type': 'application/json' } : {}),
      ...headersOf[as],
    },
    ...(json ? { body: json } : {}),
  })
}

async function answerTo(call: Pick<RecordedCall, 'call' | 'body'> & { as?: Who }): Promise<Record<string, unknown>> {
  return (await send(call)).json() as Promise<Record<string, unknown>>
}

const place = /\$([a-z][A-Za-z]+)/g

function filled(text: string): string {
  return text.replace(place, (_, name: string) => String(seeds[name]))
}

/** A text that is one place becomes what was seeded, number or text. */
function filledIn(value: unknown): unknown {
  if (typeof value === 'string') return /^\$[a-z][A-Za-z]+$/.test(value) ? seeds[value.slice(1)] : value
  if (Array.isArray(value)) return value.map(filledIn)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, filledIn(entry)]))
}

/** The route that answers a recorded call, written with or without the last slash. */
function routeOf(call: string): string | undefined {
  const { method, path } = parseLine(call)
  const wanted = trimmed((path.split('?', 1)[0] ?? '').replace(place, '1'))
  const matches = Object.keys(allRoutes).filter((line) => {
    const known = parseLine(line)
    return known.method === method && new RegExp(`^${trimmed(known.path).replace(/:\w+/g, '[^/]+')}$`).test(wanted)
  })
  // A route without params is the one that the server takes.
  return matches.find((line) => !line.includes(':')) ?? matches[0]
}

function trimmed(path: string): string {
  return path.replace(/\/$/, '')
}

const isAbsent = (call: string) => notYet.some((line) => call.split('?', 1)[0] === line)
const present = recordedCalls.filter(({ call }) => !isAbsent(call))

describe('recorded calls', () => {
  it.each(notYet.map((call) => ({ call })))('$call is not there yet', async ({ call }) => {
    expect(routeOf(call), 'it has arrived: take it off the list').toBeUndefined()
    expect((await send({ call, body: call.startsWith('GET ') ? undefined : {} })).status).toBe(404)
  })

  it.each(notYet.map((call) => ({ call })))('$call, which is not there yet, is a recorded one', ({ call }) => {
    expect(recordedCalls.some((recorded) => recorded.call.split('?', 1)[0] === call)).toBe(true)
  })

  it.each(present.map((recorded, index) => ({ ...recorded, number: index + 1 })))('$call (no. $number)', async (recorded) => {
    const { call, as, body, form, beside = {}, refused } = recorded
    expect(routeOf(call), 'no route takes this call').toBeDefined()
    const response = await send({ call, body, ...(as ? { as } : {}) })
    const answer = (await response.json()) as Record<string, unknown>
    expect(typeof answer.message).toBe('string')

    if (refused) {
      expect([answer.success, response.status]).toEqual([false, refused.status ?? 200])
      expect(answer.code).toEqual(refused.code ?? expect.any(String))
      expect(answer.message).not.toBe('')
      return
    }
    expect([answer.success, answer.message, response.status]).toEqual([true, expect.any(String), 200])
    expectForm(form, answer.data)
    for (const [field, named] of Object.entries(beside)) {
      if (named === 'seconds') expect(answer[field]).toEqual(expect.any(Number))
      else expectForm(named, answer[field])
    }
  })
})

function expectForm(name: FormName = 'anything', value: unknown): void {
  const checked = forms[name].safeParse(value)
  if (!checked.success) throw new Error(`${z.prettifyError(checked.error)}\nin ${JSON.stringify(value).slice(0, 500)}`)
}
