import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SystemInfo } from '../src/contract/entities/system.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { type RedisServer, startRedis } from './helpers/redis-server.ts'
import { revocations } from './helpers/revocations.ts'
import { scaledByLoad } from './helpers/scaled-by-load.ts'
import { addChannel, addToken } from './helpers/seed.ts'
import { type FakeUpstream, startFakeUpstream } from './helpers/upstream.ts'
import { ask, chat, model } from './relay/stage.ts'

// Two nodes on one PostgreSQL, and on one Redis when the machine has it. Numbers of cases are those of part M of docs/reference/trust-cases.md.

let a: TestServer
let b: TestServer
let redis: RedisServer | undefined
let upstream: FakeUpstream
beforeAll(async () => {
  redis = await startRedis()
  upstream = await startFakeUpstream()
  const env = { REDIS_URL: redis?.url ?? '', TRUSTED_PROXIES: '127.0.0.1' }
  a = await startServer('postgres', { env })
  b = await startServer('postgres', { env, database: a.database })
})
afterAll(async () => {
  await b?.stop()
  await a?.stop()
  await upstream?.stop()
  await redis?.stop()
})

async function statusOn(node: TestServer, key: string): Promise<number> {
  const response = await fetch(`${node.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  await response.text()
  return response.status
}

async function answersWithin(limitMs: number, status: number, node: TestServer, key: string): Promise<void> {
  await within(limitMs, status, () => statusOn(node, key))
}

/** Fails when the expected answer does not arrive within the promised time. */
async function within<Answer>(limitMs: number, wanted: Answer, asked: () => Promise<Answer>): Promise<void> {
  const since = Date.now()
  for (;;) {
    const answer = await asked()
    if (answer === wanted) return
    if (Date.now() > since + scaledByLoad(limitMs))
      throw new Error(`The node answers ${String(answer)} and not ${String(wanted)} after ${limitMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const permissionsMs = 1000
const settingsMs = 2000

it('a node that stops leaves the list of nodes at once', async () => {
  const listed = async () => (await a.call<SystemInfo>('GET /api/system/')).nodes.map(({ name }) => name)
  const third = await startServer('postgres', { database: a.database })
  await third.app.db
    .insertInto('nodes')
    .values(nodeRow(third))
    .onConflict((on) => on.doNothing())
    .execute()
  expect(await listed()).toContain(third.app.node)
  await third.stop()
  expect(await listed()).not.toContain(third.app.node)
})

function nodeRow({ app }: TestServer) {
  const now = Math.floor(app.now() / 1000)
  return { name: app.node, version: app.version, started_at: now, seen_at: now, memory_mb: 1 }
}

describe('[T233] a change on one node is in force on the other within 1 s', () => {
  let channel: number
  beforeAll(async () => {
    channel = await addChannel(a, { url: upstream.url, models: model })
  })
  afterAll(async () => {
    await a.call(`DELETE /api/channel/${channel}`)
  })

  it.each(revocations)('%s', async (_name, prepare) => {
    const { ask, revoke, refusedWith } = await prepare({ url: a.url, call: a.call, upstreamUrl: upstream.url, model })
    await within(settingsMs, '200', () => ask(b.url))
    await revoke()
    expect(await ask(a.url)).toBe(refusedWith)
    await within(permissionsMs, refusedWith, () => ask(b.url))
  })
})

it('[T233] channels, groups and prices that change on one node take effect on the other: permissions within 1 s, prices within 2 s', async () => {
  const set = (key: string, value: object) => a.call('PUT /api/option/', { key, value: JSON.stringify(value) })
  const { key } = await addToken(a)
  const onB = async () => (await ask(b, key, chat({ max_tokens: 1 }))).status
  const id = await addChannel(a, { url: upstream.url, models: model })
  await within(settingsMs, 200, onB)

  const channel = await a.call<object>(`GET /api/channel/${id}`)
  const change = (more: object) => a.call('PUT /api/channel/', { ...channel, ...more })
  await change({ status: 2 })
  await within(permissionsMs, 503, onB)
  await set('GroupRatio', { default: 1, vip: 1 })
  await change({ status: 1, group: 'vip' })
  await a.app.db.updateTable('users').set({ group: 'vip' }).where('id', '=', 1).execute()
  a.app.bus.publish('user', 1)
  await within(permissionsMs, 200, onB)

  const costOnB = async () => {
    const { headers } = await ask(b, key, chat({ max_tokens: 1 }))
    const row = await a.app.db
      .selectFrom('logs')
      .select('quota')
      .where('request_id', '=', headers.get('x-request-id') ?? '')
      .executeTakeFirstOrThrow()
    return Number(row.quota)
  }
  const usual = await costOnB()
  await set('ModelRatio', { [model]: 1000 })
  await within(settingsMs, true, async () => (await costOnB()) > usual * 100)
  const dear = await costOnB()
  await set('GroupRatio', { default: 1, vip: 3 })
  await within(settingsMs, dear * 3, costOnB)
})

it('[T035] [T233] a banned user is refused by all nodes within 1 s', async () => {
  const { key } = await addToken(a)
  await answersWithin(2000, 200, b, key)
  expect((await b.raw('GET /api/user/self')).status).toBe(200)

  const { db, bus } = a.app
  const setStatus = async (status: number) => {
    await db.updateTable('users').set({ status }).where('id', '=', 1).execute()
    bus.publish('user', 1)
  }
  await setStatus(2)
  for (const node of [a, b]) await answersWithin(permissionsMs, 403, node, key)
  await within(permissionsMs, 401, async () => (await b.raw('GET /api/user/self')).status)
  await setStatus(1)
  for (const node of [a, b]) await answersWithin(permissionsMs, 200, node, key)
})

it('[T035] [T069] a stream of a person whom the directory of an organisation switches off ends and is charged, on the other node too', async () => {
  const channel = await addChannel(a, { url: upstream.url, models: model })
  upstream.program(model, { words: 60, pauseMs: 20 })
  const { id } = await a.call<{ id: number }>('POST /api/organisation/', { name: 'Directory', quota: 5_000_000 })
  const { token } = await a.call<{ token: string }>(`POST /api/organisation/${id}/scim`)
  const scim = async (node: TestServer, line: string, body: object) => {
    const [method = '', path = ''] = line.split(' ')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' }
    const response = await fetch(`${node.url}/scim/v2${path}`, { method, headers, body: JSON.stringify(body) })
    expect(response.ok, line).toBe(true)
    return (await response.json()) as { id: string }
  }
  const { id: person } = await scim(a, 'POST /Users', { userName: 'streaming@firm.example' })
  const { user_id } = await a.app.db
    .selectFrom('directory_people')
    .select('user_id')
    .where('id', '=', Number(person))
    .executeTakeFirstOrThrow()
  const cookie = `session=${await b.app.sessions.create({ userId: user_id, address: '127.0.0.1', userAgent: 'test' })}`
  const self = () => fetch(`${b.url}/api/user/self`, { headers: { cookie, 'new-api-user': String(user_id) } })
  const made = await fetch(`${b.url}/api/token/`, {
    method: 'POST',
    headers: { cookie, 'new-api-user': String(user_id), 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'streams', unlimited_quota: true, organisation_id: id }),
  })
  const { key } = ((await made.json()) as { data: { key: string } }).data

  const running = await fetch(`${b.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(chat({ stream: true })),
  })
  const parts = running.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = (await parts?.read())?.value ?? ''
  await scim(a, `PATCH /Users/${person}`, { Operations: [{ op: 'replace', value: { active: false } }] })
  for (const node of [a, b]) await answersWithin(permissionsMs, 401, node, key)
  await within(permissionsMs, 401, async () => (await self()).status)
  for (let part = await parts?.read(); part && !part.done; part = await parts?.read()) text += part.value
  expect(text).toMatch(/data: \[DONE\]\s*$/)
  const charged = await a.app.db.selectFrom('logs').select('quota').where('user_id', '=', id).where('type', '=', 2).execute()
  expect(charged.map(({ quota }) => quota > 0)).toEqual([true])
  await a.call(`DELETE /api/channel/${channel}`)
})

it('[T235] a node with another master key does not start, and changes nothing for the others', async () => {
  const env = { MASTER_KEY: Buffer.alloc(32, 9).toString('base64') }
  await expect(startServer('postgres', { database: a.database, env })).rejects.toThrow(
    'The master key does not open the secrets of this database',
  )
  for (const node of [a, b]) expect((await node.raw('GET /api/user/self')).status).toBe(200)
})

it('[T233] a token disabled on one node is refused by the other within 1 s, and within 2 s while Redis hangs or is down', async () => {
  const { id, key } = await addToken(a)
  const set = (status: number) => a.call('PUT /api/token/?status_only=true', { id, status })
  await answersWithin(2000, 200, b, key)

  await set(2)
  await answersWithin(permissionsMs, 401, b, key)
  await set(1)
  await answersWithin(permissionsMs, 200, b, key)

  await redis?.kill('SIGSTOP')
  await set(2)
  await answersWithin(2000, 401, b, key)
  await set(1)
  await answersWithin(2000, 200, b, key)
  await redis?.kill('SIGCONT')

  await redis?.kill()
  await set(2)
  await answersWithin(2000, 401, b, key)
})
