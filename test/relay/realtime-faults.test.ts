import { describe, expect, it, onTestFinished } from 'vitest'
import { serverOfTest, startServer } from '../helpers/app.ts'
import { eachDatabase, freshDatabase } from '../helpers/databases.ts'
import { member } from '../helpers/members.ts'
import { interruptDatabase } from '../helpers/outage.ts'
import { startProcess } from '../helpers/process.ts'
import { addChannel, addToken, books, expireLeases, requireBalancedBooks } from '../helpers/seed.ts'
import { startSocks5 } from '../helpers/socks5-server.ts'
import { answering, caller, live, realtimeUpstream, type Talk, usage } from './realtime-stage.ts'
import { eventually, settledCharges, stage } from './stage.ts'

/** Answers the first response completely, and only begins later ones, which the test ends. */
function answeringFirst() {
  const answer = answering()
  let count = 0
  return (talk: Talk, event: { type: string }) => {
    if (event.type !== 'response.create' || ++count === 1) return answer(talk, event)
    talk.say({ type: 'response.created', response: { id: 'later' } })
    talk.say({ type: 'response.output_audio.delta', response_id: 'later', delta: Buffer.alloc(96_000).toString('base64') })
  }
}

const done = { type: 'response.done', response: { id: 'later', status: 'completed', usage } }

eachDatabase('a realtime session', (fresh, kind) => {
  it('whose process is killed: completed answers are charged once, started ones by their last checkpoint, and no hold is left', async () => {
    const upstream = await realtimeUpstream(answeringFirst())
    const database = await fresh()
    const first = await startProcess(database)
    onTestFinished(() => void first.kill('SIGKILL'))
    await first.call('POST /api/channel/', { name: 'test', type: 1, key: 'k'.repeat(20), base_url: upstream.url, models: live })
    const { key } = await first.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })
    const client = caller(first.url, `sk-${key}`)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.done')
    client.say({ type: 'response.create' })
    await client.hears('response.output_audio.delta')
    const { db, close } = await database.open()
    await eventually('a checkpoint is durable', async () =>
      (await db.selectFrom('holds').select('checkpoint').execute()).some(({ checkpoint }) => checkpoint !== ''),
    )
    await close()
    await first.kill('SIGKILL')
    await client.closed()

    const next = await serverOfTest(kind, { database })
    await expireLeases(next)
    await eventually('no hold is left', async () => {
      await next.app.ledger.expire()
      return (await books(next)).holds.length === 0
    })
    await next.app.ledger.expire()
    const { logs } = await books(next)
    expect(logs.map(({ other }) => JSON.parse(other).interrupted)).toEqual([undefined, 'node'])
    expect(JSON.parse(logs[1]?.other ?? '{}')).toMatchObject({ estimated: true, audio_output: 40 })
    await requireBalancedBooks(next)
  })

  it('whose database fails ends without reporting an uncharged end, and is charged when the database is back', async () => {
    const upstream = await realtimeUpstream(answeringFirst())
    // Longer than the two seconds after which sessions are refused.
    const { server, token } = await stage(kind, upstream.url, { channel: { models: live }, server: { commitWaitMs: 2500 } })
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.done')
    client.say({ type: 'response.create' })
    await client.hears('response.output_audio.delta')
    const bringBack = await interruptDatabase(server.app.database)
    upstream.talks[0]?.say(done)
    expect((await client.closed()).code).toBe(1011)
    expect(client.heard.filter(({ type }) => type === 'response.done')).toHaveLength(1)
    expect(client.heard.at(-1)).toMatchObject({ type: 'error', error: { code: 'database_unavailable' } })
    expect(await caller(server.url, token.key).refused()).toMatchObject({ status: 503 })
    await bringBack()
    await eventually('both are charged', async () => (await books(server)).logs.length === 2)
    expect(await settledCharges(server)).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('stops with the server: a running answer ends and is charged, the caller gets a request to reconnect', async () => {
    const upstream = await realtimeUpstream(answeringFirst())
    const database = await freshDatabase(kind, 'started')
    const server = await startServer(kind, { database })
    await addChannel(server, { url: upstream.url, models: live })
    const { key } = await addToken(server)
    const [running, idle] = [caller(server.url, key), caller(server.url, key)]
    await Promise.all([running.hears('session.created'), idle.hears('session.created')])
    running.say({ type: 'response.create' })
    await running.hears('response.done')
    running.say({ type: 'response.create' })
    await running.hears('response.output_audio.delta')
    const stopped = server.stop()
    expect((await idle.closed()).code).toBe(1012)
    for (const talk of upstream.talks) if (talk.heard.length === 2) talk.say(done)
    await running.hears('response.done', 2)
    expect((await running.closed()).code).toBe(1012)
    await stopped
    const { db, close } = await database.open()
    const charges = await db.selectFrom('ledger').select('id').where('kind', '=', 'charge').execute()
    const holds = await db.selectFrom('holds').select('request_id').execute()
    expect([charges.length, holds.length]).toEqual([2, 0])
    await close()
    await database.drop()
  })
})

describe('a realtime session', () => {
  it('uses the proxy of its channel, and hides its address when it is unreachable', async () => {
    const upstream = await realtimeUpstream(answering())
    const login = { user: 'proxy-user', password: 'canary-proxy-password' }
    const proxy = await startSocks5(Number(new URL(upstream.url).port), login)
    onTestFinished(() => proxy.stop())
    const address = `socks5://${login.user}:${login.password}@127.0.0.1:${proxy.port}`
    const channel = { models: live, setting: JSON.stringify({ proxy: address }) }
    const { server, token } = await stage('sqlite', 'http://203.0.113.7:8080', { channel })
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.done')
    client.socket.close(1000)
    expect(proxy.asked).toMatchObject([{ host: '203.0.113.7', port: 8080, user: login.user }])
    expect(await settledCharges(server)).toHaveLength(1)
    await proxy.stop()
    const { status, body } = await caller(server.url, token.key).refused()
    expect([status, body.includes(login.password)]).toEqual([502, false])
    await requireBalancedBooks(server)
  })

  it('[T035] [T069] of a user banned in the middle of an answer ends with that answer, which is charged', async () => {
    const upstream = await realtimeUpstream((talk, event) => {
      if (event.type === 'response.create') talk.say({ type: 'response.created', response: { id: 'long' } })
    })
    const { server } = await stage('sqlite', upstream.url, { channel: { models: live } })
    const guest = await member(server, 'guest')
    await server.call(`POST /api/user/${guest.id}/quota`, { change: 5_000_000, reason: 'test' })
    const made = await guest.call('POST /api/token/', { name: 'live', unlimited_quota: true })
    const client = caller(server.url, `sk-${(made.json.data as { key: string }).key}`)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.created')
    await server.call('POST /api/user/manage', { id: guest.id, action: 'disable' })
    expect(await caller(server.url, `sk-${(made.json.data as { key: string }).key}`).refused()).toMatchObject({ status: 403 })

    upstream.talks[0]?.say({ type: 'response.output_text.delta', response_id: 'long', delta: 'Rye.' })
    upstream.talks[0]?.say({ type: 'response.done', response: { id: 'long', status: 'completed', usage } })
    await client.hears('response.output_text.delta')
    await client.hears('response.done')
    expect((await client.closed()).code).toBe(1008)
    expect(await settledCharges(server)).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('ends when its token is disabled: no further answer is requested, and one started by speech is cancelled', async () => {
    const upstream = await realtimeUpstream((talk, event) => {
      if (event.type === 'input_audio_buffer.append') talk.say({ type: 'response.created', response: { id: 'spoken' } })
      answering()(talk, event)
    })
    const { server, token } = await stage('sqlite', upstream.url, { channel: { models: live } })
    const asking = caller(server.url, token.key)
    const speaking = caller(server.url, token.key)
    await Promise.all([asking.hears('session.created'), speaking.hears('session.created')])
    asking.say({ type: 'response.create' })
    await asking.hears('response.done')
    await server.call('PUT /api/token/?status_only=true', { id: token.id, status: 2 })
    asking.say({ type: 'response.create' })
    speaking.say({ type: 'input_audio_buffer.append', audio: 'AAAA' })
    for (const client of [asking, speaking]) {
      expect((await client.closed()).code).toBe(1008)
      expect(client.heard.at(-1)).toMatchObject({ type: 'error', error: { code: 'invalid_api_key' } })
    }
    await eventually('the upstreams are let go', () => upstream.talks.every(({ socket }) => socket.readyState === 3))
    expect(upstream.talks[0]?.heard).toHaveLength(1)
    expect((await settledCharges(server)).length).toBeGreaterThanOrEqual(1)
    await requireBalancedBooks(server)
  })
})
