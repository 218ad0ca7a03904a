import { expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { anyDatabase, type DatabaseKind } from '../helpers/databases.ts'
import { faultProxy } from '../helpers/fault-proxy.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { caller, live, realtimeUpstream, type Talk, usage } from './realtime-stage.ts'
import { event, eventually, httpUpstream, model, settledCharges } from './stage.ts'

/** Longer than the time between two pings of the server. */
const pauseMs = 26_000

/** Peers that vanish without closing their connection: nothing arrives from them any more, and nothing says so. */
async function halfOpenStage(kind: DatabaseKind, upstreamUrl: string, models: string) {
  let aheadMs = 0
  const server = await serverOfTest(kind, { active: () => performance.now() + aheadMs })
  const portOf = (url: string) => ({ host: '127.0.0.1', port: Number(new URL(url).port) })
  const [nearCaller, nearUpstream] = await Promise.all([faultProxy(portOf(server.url)), faultProxy(portOf(upstreamUrl))])
  await addChannel(server, { url: `http://127.0.0.1:${nearUpstream.port}`, models })
  const token = await addToken(server, { limit_concurrency: 1 })
  return {
    ...{ server, token, nearCaller, nearUpstream },
    callerUrl: `http://127.0.0.1:${nearCaller.port}`,
    pass: () => {
      aheadMs += pauseMs
      server.app.deadlines.advance()
    },
  }
}

/** Resolves when the server has read the answer to its next ping: it answers a ping that was sent behind it. */
async function pingAnswered(socket: WebSocket): Promise<void> {
  await new Promise((resolve) => socket.once('ping', resolve))
  const answered = new Promise<void>((resolve) => socket.once('pong', () => resolve()))
  socket.ping()
  await answered
}

/** The session has ended in every respect: one charge, nothing held, and its slot admits another session. */
async function expectOver(server: TestServer, key: string, interrupted: string) {
  await eventually('nothing is held', () => server.app.ledger.openHolds === 0)
  expect(await settledCharges(server)).toHaveLength(1)
  expect(JSON.parse((await books(server)).logs[0]?.other ?? '{}')).toMatchObject({ interrupted, estimated: true })
  await eventually('its slot is free', async () => {
    const next = caller(server.url, key)
    const answer = await Promise.race([
      next.hears('session.created').then(() => 'in'),
      next.refused().then(({ status }) => status),
    ])
    next.socket.terminate()
    return answer === 'in'
  })
  await eventually('nothing is held', () => server.app.ledger.openHolds === 0)
  await requireBalancedBooks(server)
}

const speaking = (talk: Talk, { type }: { type: string }) => {
  if (type !== 'response.create') return
  talk.say({ type: 'response.created', response: { id: 'long' } })
  talk.say({ type: 'response.output_audio.delta', response_id: 'long', delta: Buffer.alloc(96_000).toString('base64') })
}

anyDatabase('[T260] a realtime session', (_fresh, kind) => {
  async function session() {
    const upstream = await realtimeUpstream(speaking)
    const staged = await halfOpenStage(kind, upstream.url, live)
    const client = caller(staged.callerUrl, staged.token.key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.output_audio.delta')
    const [talk] = upstream.talks
    if (!talk) throw new Error('The upstream was not reached')
    return { ...staged, client, talk }
  }

  it('whose caller vanishes without a word ends after two pings: it is charged once, and its hold and slot are free', async () => {
    const { server, token, nearCaller, talk, pass } = await session()
    nearCaller.silence()
    const answered = pingAnswered(talk.socket)
    pass()
    await answered
    expect(server.app.ledger.openHolds).toBeGreaterThan(0)
    pass()
    await eventually('the upstream is let go', () => talk.socket.readyState === talk.socket.CLOSED)
    await expectOver(server, token.key, 'client')
  })

  it('whose upstream vanishes ends after two pings with an error, and is charged once for what was heard', async () => {
    const { server, token, nearUpstream, client, pass } = await session()
    nearUpstream.silence()
    const answered = pingAnswered(client.socket)
    pass()
    await answered
    pass()
    expect((await client.closed()).code).toBe(1011)
    expect(client.heard.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } })
    nearUpstream.heal()
    await expectOver(server, token.key, 'upstream')
  })

  it('whose ends both vanish, while the upstream sends faster than the caller reads, ends too', async () => {
    const { server, token, nearCaller, nearUpstream, talk, pass } = await session()
    nearCaller.silence()
    const delta = Buffer.alloc(750_000).toString('base64')
    for (let times = 0; times < 8; times++) talk.say({ type: 'response.output_audio.delta', response_id: 'long', delta })
    nearUpstream.silence()
    await eventually('it has ended', () => {
      pass()
      return server.app.ledger.openHolds === 0
    })
    nearUpstream.heal()
    expect(await settledCharges(server)).toHaveLength(1)
    await eventually('its slot is free', async () => {
      const next = caller(server.url, token.key)
      const answer = await Promise.race([next.hears('session.created').then(() => 'in'), next.refused()])
      next.socket.terminate()
      return answer === 'in'
    })
    await settledCharges(server)
    await requireBalancedBooks(server)
  })

  it('of ends that answer stays, however long nothing is said', async () => {
    const { server, client, talk, pass } = await session()
    for (let times = 0; times < 5; times++) {
      const answered = [client.socket, talk.socket].map(pingAnswered)
      pass()
      await Promise.all(answered)
    }
    talk.say({ type: 'response.done', response: { id: 'long', status: 'completed', usage } })
    await client.hears('response.done')
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(1)
    await requireBalancedBooks(server)
  })
})

anyDatabase('[T260] Responses over a WebSocket', (_fresh, kind) => {
  it('whose caller vanishes in the middle of an answer: the upstream is aborted, the answer charged once, the slot free', async () => {
    let isAborted = false
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.on('close', () => {
        isAborted = true
      })
      const made = { id: 'resp_1', object: 'response', status: 'in_progress', model }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event({ type: 'response.created', sequence_number: 0, response: made }))
      response.write(event({ type: 'response.output_text.delta', sequence_number: 1, item_id: 'm', delta: 'four five' }))
    })
    const { server, token, nearCaller, callerUrl, pass } = await halfOpenStage(kind, url, model)
    const client = caller(callerUrl, token.key, { path: '/v1/responses' })
    await client.opened()
    client.say({ type: 'response.create', model, input: 'Hi', store: false })
    await client.hears('response.output_text.delta')
    nearCaller.silence()
    await eventually('the upstream is aborted', () => {
      pass()
      return isAborted
    })
    expect(await settledCharges(server)).toHaveLength(1)
    expect(JSON.parse((await books(server)).logs[0]?.other ?? '{}')).toMatchObject({ interrupted: 'client' })
    expect(server.app.ledger.openHolds).toBe(0)
    await requireBalancedBooks(server)
  })
})
