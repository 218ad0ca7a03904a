import { seconds } from '../../src/server/base/lib/time/clock.ts'
import { sendsPerHour } from '../../src/server/people/accounts/mailed-codes.ts'
import { signIn } from '../../src/server/people/accounts/sign-in.ts'
import { createUser } from '../../src/server/people/accounts/users.ts'
import { rootPassword, startServer, type TestServer } from '../helpers/app.ts'
import { testCertificate } from '../helpers/certificate.ts'
import type { DatabaseKind } from '../helpers/databases.ts'
import { startSmtpServer } from '../helpers/smtp-server.ts'
import { type FakeUpstream, startFakeUpstream } from '../helpers/upstream.ts'

/** A complete server with data of every kind, and calls to it as existing consoles send them. */

const password = 'plain-person-1'
/** Within the time range of the recorded calls. */
const drawnAtMs = 1_795_110_000_000
/** Users with their role and status. */
const people = {
  user: [1, 1],
  leaver: [1, 1],
  passerBy: [1, 1],
  victim: [1, 1],
  gone: [1, 1],
  banned: [1, 2],
  locked: [1, 3],
  admin: [10, 1],
  otherAdmin: [10, 1],
} as const
type Person = keyof typeof people
export type Who = 'nobody' | 'root' | Person

interface Sent {
  readonly call: string
  /** Root by default. */
  readonly as?: Who
  /** A string is sent unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Site {
  readonly server: TestServer
  /** Sends a call with a raw query and the user header in its own letter case; `$name` is replaced by the seeded value. */
  send(sent: Sent): Promise<Response>
  stop(): Promise<void>
}

type Seeds = Record<string, string | number>

export async function openSite(kind: DatabaseKind): Promise<Site> {
  const [upstream, smtp] = await Promise.all([startFakeUpstream(), startSmtpServer()])
  // Each call comes from a separate client, because the limits of one client, which have tests of their own, would count them.
  const server = await startServer(kind, { env: { TRUSTED_PROXIES: '127.0.0.1' }, mailCertificates: testCertificate })
  const seeds: Seeds = { password, upstream: upstream.url }
  const headersOf: Partial<Record<Who, Record<string, string>>> = { root: await signedIn(server, 1, 'root', rootPassword) }
  let clients = 0

  const send = ({ call, as = 'root', body, headers }: Sent): Promise<Response> => {
    const [method = 'GET', path = ''] = filled(seeds, call).split(' ')
    const address = `198.51.${Math.floor(++clients / 250)}.${(clients % 250) + 1}`
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(filledIn(seeds, body))
    return fetch(server.url + path, {
      method,
      headers: {
        ...{ 'x-forwarded-for': address, 'cache-control': 'no-store' },
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headersOf[as],
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    })
  }
  const made = async <Data>(sent: Sent) => {
    const answer = (await (await send(sent)).json()) as { success: boolean; message: string; data: Data }
    if (!answer.success) throw new Error(`${sent.call}: ${answer.message}`)
    return answer.data
  }

  await setOptions(server, smtp.port)
  await seedPeople(server, seeds, headersOf)
  await seedChannels(made, seeds, upstream)
  await seedTokens(made, seeds, server)
  await seedCodes(made, seeds, server)
  await seedOrders(server, seeds)
  await seedTasks(server, seeds)
  return {
    server,
    send,
    async stop() {
      await server.stop()
      await Promise.all([upstream.stop(), smtp.stop()])
    },
  }
}

type Made = <Data>(sent: Sent) => Promise<Data>

async function setOptions(server: TestServer, port: number): Promise<void> {
  const settings = {
    ...{ SMTPServer: '127.0.0.1', SMTPPort: port, SMTPAccount: 'robot@site.test', ServerAddress: 'https://site.test' },
    ...{ PayAddress: 'https://pay.test', EpayId: '1001', EpayKey: 'key' },
  }
  for (const [key, value] of Object.entries(settings)) await server.call('PUT /api/option/', { key, value })
}

async function seedPeople(
  server: TestServer,
  seeds: Seeds,
  headersOf: Partial<Record<Who, Record<string, string>>>,
): Promise<void> {
  const { app } = server
  const password_hash = await app.passwords.hash(password)
  for (const [username, [role, status]] of Object.entries(people) as [Person, readonly [number, number]][]) {
    const user = { username, displayName: '', password_hash, role, at: app.now() }
    const id = await app.db.transaction().execute((within) => createUser(within, user))
    seeds[username] = id
    if (status === 1) headersOf[username] = await signedIn(server, id, username, password)
    await app.db.updateTable('users').set({ status, aff_quota: 600_000 }).where('id', '=', id).execute()
  }
  const passkey = { user_id: Number(seeds.otherAdmin), public_key: '', name: '', created_at: 1 }
  const passkeys = Array.from({ length: 20 }, (_, index) => ({ ...passkey, credential_id: `seeded-${index}` }))
  await app.db.insertInto('passkeys').values(passkeys).execute()
  // The maximum number of mails per hour, which no test reaches.
  const sent_at = seconds(app.now())
  const mailed = { email: 'mailed@example.com', sent_at, window_start: sent_at, sends: sendsPerHour }
  await app.db.insertInto('mailed_addresses').values(mailed).execute()
  await server.call('POST /api/user/manage', { id: seeds.gone, action: 'delete' })
  await server.call(`POST /api/user/${seeds.user}/quota`, { change: 10_000_000, reason: 'test' })
}

async function signedIn({ app }: TestServer, id: number, username: string, secret: string): Promise<Record<string, string>> {
  const { token } = await signIn(app, { username, password: secret, address: '192.0.2.1', userAgent: 'test' })
  return { cookie: `session=${token}`, 'new-api-user': String(id) }
}

async function seedChannels(made: Made, seeds: Seeds, upstream: FakeUpstream): Promise<void> {
  const channel = {
    type: 1,
    key: 'upstream-key-0123456789',
    base_url: upstream.url,
    models: 'gpt-4o,gpt-4o-mini',
    name: 'seeded',
  }
  const unlike = {
    channel: {},
    otherChannel: {},
    spareChannel: {},
    drawing: { type: 2, models: 'mj_imagine' },
    broken: { base_url: 'http://127.0.0.1:1', models: 'nothing', tag: 'kept' },
  }
  for (const [name, more] of Object.entries(unlike)) {
    const [id = 0] = await made<number[]>({ call: 'POST /api/channel/', body: { ...channel, ...more } })
    seeds[name] = id
  }
  const [key] = await made<{ id: number }[]>({ call: 'GET /api/channel/$channel/keys' })
  seeds.channelKey = key?.id ?? 0
}

async function seedTokens(made: Made, seeds: Seeds, { app, url }: TestServer): Promise<void> {
  for (const name of ['token', 'spareToken', 'expiredToken']) {
    const body = { name: 'seeded', unlimited_quota: true }
    const { id, key } = await made<{ id: number; key: string }>({ call: 'POST /api/token/', as: 'user', body })
    seeds[name] = id
    seeds[`${name}Key`] = key
  }
  const expired = { status: 3, expired_time: 1 }
  await app.db.updateTable('tokens').set(expired).where('id', '=', Number(seeds.expiredToken)).execute()

  const chat = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }
  const headers = { authorization: `Bearer sk-${seeds.tokenKey}`, 'content-type': 'application/json' }
  await (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(chat) })).text()
}

async function seedCodes(made: Made, seeds: Seeds, { app }: TestServer): Promise<void> {
  const names = ['code', 'spareCode', 'usedCode', 'expiredCode', 'disabledCode']
  const codes = await made<string[]>({
    call: 'POST /api/redemption/',
    body: { name: 'seeded', quota: 1000, count: names.length },
  })
  const { items } = await made<{ items: { id: number; key: string }[] }>({ call: 'GET /api/redemption/?p=1' })
  for (const [index, name] of names.entries()) {
    seeds[name] = codes[index] ?? ''
    seeds[name.replace(/code$/i, (end) => (end === 'code' ? 'redemption' : 'Redemption'))] =
      items.find(({ key }) => key === codes[index])?.id ?? 0
  }
  await made({ call: 'POST /api/user/topup', as: 'user', body: { key: '$usedCode' } })
  const change = (name: string, values: { expired_time: number } | { status: number }) =>
    app.db.updateTable('redemptions').set(values).where('id', '=', Number(seeds[name])).execute()
  await change('expiredRedemption', { expired_time: 1 })
  await change('disabledRedemption', { status: 2 })
}

async function seedOrders({ app }: TestServer, seeds: Seeds): Promise<void> {
  for (const [name, status] of [
    ['order', 'pending'],
    ['paidOrder', 'success'],
  ] as const) {
    const order = { user_id: Number(seeds.user), provider: 'epay', method: 'zfb', trade_no: name, quota: 500_000, amount: 1 }
    const row = { ...order, money_minor: 730, currency: 'CNY', status, created_time: 1 }
    const { id } = await app.db.insertInto('top_ups').values(row).returning('id').executeTakeFirstOrThrow()
    seeds[name] = id
  }
}

/** Tasks as orders of both kinds leave them; ordering has its own tests. */
async function seedTasks({ app }: TestServer, seeds: Seeds): Promise<void> {
  const [user_id, channel_id] = [Number(seeds.user), Number(seeds.drawing)]
  const drawing = { code: 1, user_id, channel_id, action: 'IMAGINE', mj_id: 'drawn', submit_time: drawnAtMs, status: 'SUCCESS' }
  await app.db.insertInto('midjourneys').values(drawing).execute()
  const [at, task_id] = [Math.floor(drawnAtMs / 1000), 'composed']
  const times = { created_at: at, updated_at: at, submit_time: at }
  const song = { ...times, task_id, platform: 'suno', user_id, channel_id, action: 'MUSIC', status: 'SUCCESS' }
  await app.db.insertInto('tasks').values(song).execute()
}

const place = /\$([a-z][A-Za-z]+)/g

function filled(seeds: Seeds, text: string): string {
  return text.replace(place, (_, name: string) => String(seeds[name]))
}

/** A text that is a single placeholder becomes the seeded value itself, a number or a text. */
function filledIn(seeds: Seeds, value: unknown): unknown {
  if (typeof value === 'string') return /^\$[a-z][A-Za-z]+$/.test(value) ? seeds[value.slice(1)] : value
  if (Array.isArray(value)) return value.map((entry) => filledIn(seeds, entry))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, filledIn(seeds, entry)]))
}
