import { createServer } from 'node:net'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { TestServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { listening } from '../helpers/listening.ts'
import { interruptDatabase } from '../helpers/outage.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { sharedStages } from './shared-stage.ts'
import {
  ask,
  askWithRetry,
  chat,
  completion,
  event,
  eventually,
  httpUpstream,
  model,
  piece,
  post,
  requestBytes,
  running,
  settledCharges,
  speak,
  stage,
  upstreamKey,
} from './stage.ts'

const sse = { 'content-type': 'text/event-stream' }

async function interrupted(server: TestServer, index = 0) {
  const row = (await books(server)).logs[index]
  const { interrupted, estimated } = JSON.parse(row?.other ?? '{}')
  return { interrupted, estimated, prompt: row?.prompt_tokens, output: row?.completion_tokens }
}

eachDatabase('every end of a call ends its hold', (_fresh, kind) => {
  const sharedStage = sharedStages(kind, { RetryTimes: 3 })

  it('the caller disconnects before the upstream is reached: nothing is charged', async () => {
    const arrived: unknown[] = []
    const proxy = createServer((socket) => arrived.push(socket))
    onTestFinished(() => void proxy.close())
    const setting = JSON.stringify({ proxy: await listening(proxy) })
    const { server, token } = await sharedStage('http://127.0.0.1:9', { setting })
    for (const stream of [false, true]) {
      const seen = arrived.length
      const caller = speak(server, requestBytes(token.key, JSON.stringify(chat({ stream }))))
      await eventually('the gateway connects', () => arrived.length > seen)
      caller.socket.destroy()
    }
    expect(await settledCharges(server)).toEqual([])
    await requireBalancedBooks(server)
  })

  it('the caller disconnects while the upstream thinks: the upstream is aborted immediately, the prompt is charged, and no other channel is called', async () => {
    const upstream = await upstreamOfTest()
    upstream.program(model, { delayMs: 60_000 })
    const other = await upstreamOfTest()
    const { server, token } = await sharedStage(upstream.url, { priority: 9 })
    await addChannel(server, { url: other.url, models: model })
    for (const stream of [false, true]) {
      const seen = upstream.journal.length
      const caller = speak(server, requestBytes(token.key, JSON.stringify(chat({ stream }))))
      await eventually('the upstream is asked', () => upstream.journal.length > seen)
      caller.socket.destroy()
    }
    expect((await upstream.waitFor(2)).map((entry) => entry.aborted)).toEqual([true, true])
    expect(await settledCharges(server)).toHaveLength(2)
    expect(await interrupted(server, 0)).toEqual({ interrupted: 'client', estimated: true, prompt: 11, output: 0 })
    expect(await interrupted(server, 1)).toEqual({ interrupted: 'client', estimated: true, prompt: 11, output: 0 })
    expect(other.journal).toHaveLength(0)
    await requireBalancedBooks(server)
  })

  it('the caller disconnects at any moment, also between two attempts: at most one charge, by usage', async () => {
    const first = await upstreamOfTest()
    first.program(model, (entry) => ({ delayMs: Number(entry.json.seed) % 7, status: 500 }))
    const second = await upstreamOfTest()
    second.program(model, (entry) => ({ delayMs: Number(entry.json.seed) % 5, words: 20, pauseMs: 1 }))
    const { server, token } = await sharedStage(first.url, { priority: 9 })
    await addChannel(server, { url: second.url, models: model })
    const callers = Array.from({ length: 80 }, async (_, seed) => {
      const caller = speak(server, requestBytes(token.key, JSON.stringify(chat({ seed, stream: seed % 2 === 0 }))))
      await new Promise((resolve) => setTimeout(resolve, seed))
      caller.socket.destroy()
    })
    await Promise.all(callers)
    const charges = await settledCharges(server)
    // On a busy machine, an upstream never reads some of the requests that were sent to it: their connections are reset before.
    expect(charges.length).toBeLessThanOrEqual(callers.length)
    expect(new Set(charges.map(({ id }) => id)).size).toBe(charges.length)
    await requireBalancedBooks(server)
  })

  it('the reported usage of a complete reply is charged to the unit, even if the caller disconnected before its end', async () => {
    const url = await httpUpstream((_request, response) => {
      response.writeHead(200, sse)
      response.write(
        piece('four five six') +
          piece('', 'stop') +
          event({ choices: [], usage: { prompt_tokens: 110, completion_tokens: 700 } }),
      )
    })
    const { server, token } = await sharedStage(url)
    const caller = speak(
      server,
      requestBytes(token.key, JSON.stringify(chat({ stream: true, stream_options: { include_usage: true } }))),
    )
    await caller.until((text) => text.includes('110'))
    caller.socket.destroy()
    await settledCharges(server)
    expect(await interrupted(server)).toEqual({ interrupted: 'client', estimated: undefined, prompt: 110, output: 700 })
    await requireBalancedBooks(server)
  })

  it('zeros that an upstream reports until the end do not make an interrupted stream free', async () => {
    const url = await httpUpstream((_request, response) => {
      response.writeHead(200, sse)
      response.write(
        event({
          choices: [{ index: 0, delta: { content: 'four five six' } }],
          usage: { prompt_tokens: 0, completion_tokens: 0 },
        }),
      )
    })
    const { server, token } = await sharedStage(url)
    const caller = speak(server, requestBytes(token.key, JSON.stringify(chat({ stream: true }))))
    await caller.until((text) => text.includes('four'))
    caller.socket.destroy()
    await settledCharges(server)
    expect(await interrupted(server)).toEqual({ interrupted: 'client', estimated: true, prompt: 11, output: 3 })
  })

  it('an exception before the upstream call releases the hold and is reported with an id only', async () => {
    const { server } = await stage(kind, 'http://127.0.0.1:9')
    await setOptions(server, { SelfUseModeEnabled: true })
    // A model name with a space makes the URL invalid.
    const custom = await addChannel(server, { url: 'http://{model}:9/v1', type: 8, models: 'any' })
    const { key } = await addToken(server)
    const answer = await ask(server, `${key}-${custom}`, `{"model":"a b","messages":[{"role":"user","content":"hi"}]}`)
    expect(answer.status).toBe(500)
    expect(JSON.parse(answer.text).error.message).toMatch(/^Internal server error.*request id/)
    expect(await settledCharges(server)).toEqual([])
    await requireBalancedBooks(server)
  })

  it('no end of an answer is sent before its charge is durable, and the charge is written when the database is back', async () => {
    const { promise: gate, resolve: release } = Promise.withResolvers<void>()
    let arrived = 0
    const url = await httpUpstream(async (request, response) => {
      request.resume()
      arrived++
      await gate
      if (request.headers.accept === 'application/json') response.setHeader('content-type', 'application/json').end(completion())
      else response.writeHead(200, sse).end(piece('four five') + piece('', 'stop') + event('[DONE]'))
    })
    const { server, ask } = await stage(kind, url, { server: { commitWaitMs: 1000 } })
    const answers = [ask(chat()), ask(chat({ stream: true }))]
    await eventually('both are held', () => arrived === 2)
    const giveBack = await interruptDatabase(server.app.database)
    release()
    const [whole, stream] = await Promise.all(answers)
    expect(whole?.status).toBe(503)
    expect(whole?.text).not.toContain('four')
    expect(stream?.text).toContain('four five')
    expect(stream?.text).not.toContain('[DONE]')
    expect(stream?.text.trimEnd().split('\n\n').at(-1)).toMatch(/^data: {"error":/)

    await giveBack()
    // The whole answer was not delivered: it is charged when a repeat of the call gets it.
    await eventually('requests pass again', async () => (await ask(chat())).status === 200)
    await eventually('both charges are written', async () => (await charges(server)) >= 2)
    await settledCharges(server)
    await requireBalancedBooks(server)
  })

  it('a caller that disconnects while the charge is written is charged once, in full', async () => {
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.setHeader('content-type', 'application/json').end(completion())
    })
    const { server, token } = await stage(kind, url)
    const giveBack = kind === 'sqlite' ? await interruptDatabase(server.app.database) : async () => {}
    const caller = speak(server, requestBytes(token.key, JSON.stringify(chat())))
    if (kind === 'sqlite') await new Promise((resolve) => setTimeout(resolve, 300))
    else await giveBack()
    caller.socket.destroy()
    if (kind === 'sqlite') await giveBack()
    await eventually('it is charged or released', async () => server.app.ledger.openHolds === 0)
    await settledCharges(server)
    for (const row of (await books(server)).logs)
      expect([row.prompt_tokens, row.completion_tokens]).toEqual(JSON.parse(row.other).interrupted ? [8, 0] : [11, 7])
    await requireBalancedBooks(server)
  })
})

async function charges(server: TestServer): Promise<number> {
  return (await books(server).catch(() => ({ ledger: [] }))).ledger.filter((row) => row.kind === 'charge').length
}

/** A connection in addition to those of the server, for operator actions and failures in its database. */
async function operator(url: string): Promise<pg.Client> {
  const beside = new URL(url)
  beside.pathname = '/postgres'
  const client = new pg.Client({ connectionString: beside.href })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const cutAll = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1'

describe('several nodes on one PostgreSQL', () => {
  it('[T144] 200 requests on two nodes for a balance of 10: at most 10 pass, and nothing goes below zero', async () => {
    const upstream = await upstreamOfTest()
    upstream.program(model, { words: 1000 })
    const { server: a } = await stage('postgres', upstream.url)
    await setOptions(a, { ModelRatio: { [model]: 1 }, CompletionRatio: { [model]: 1 } })
    const { startServer } = await import('../helpers/app.ts')
    const b = await startServer('postgres', { database: a.database })
    onTestFinished(() => b.stop())
    const token = await addToken(a, { unlimited_quota: false, remain_quota: 10_300 })
    const statuses = await Promise.all(
      Array.from(
        { length: 200 },
        async (_, index) =>
          (await askWithRetry(index % 2 ? a : b, token.key, chat({ max_tokens: 1000, stream: index % 4 < 2 }))).status,
      ),
    )
    const passed = statuses.filter((status) => status === 200).length
    expect(passed).toBeGreaterThan(0)
    expect(passed).toBeLessThanOrEqual(10)
    expect(new Set(statuses)).toEqual(new Set([200, 403]))
    expect(upstream.journal).toHaveLength(passed)
    await settledCharges(a)
    expect((await books(a)).tokens.find((row) => row.id === token.id)?.remain_quota).toBeGreaterThanOrEqual(0)
    await requireBalancedBooks(a)
  })

  it('[T215] database connections cut while 40 streams run: every completed answer is charged once, and no hold is left', async () => {
    const upstream = await upstreamOfTest()
    upstream.program(model, { words: 40, pauseMs: 10 })
    const { server, ask } = await stage('postgres', upstream.url)
    const { database } = server.app
    if (database.dialect !== 'postgres') return
    const client = await operator(database.url)
    let ended = 0
    let endedAtCut = -1
    let lastCut: Promise<unknown> | undefined
    // Between two cuts some requests succeed, even if a new connection takes longer than the time between them.
    const cut = setInterval(() => {
      if (ended === endedAtCut) return
      endedAtCut = ended
      lastCut = client.query(cutAll, [new URL(database.url).pathname.slice(1)])
    }, 150)
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 20))
        const answer = await ask(chat({ stream: true }))
        if (answer.text.includes('[DONE]')) ended++
        return answer
      }),
    )
    clearInterval(cut)
    await lastCut
    await eventually('the ledger answers', async () => (await ask(chat())).status === 200)
    await eventually('nothing is held', async () => {
      await server.app.ledger.expire()
      return (await books(server)).holds.length === 0
    }).catch(() => {})
    const charged = (await settledCharges(server)).map(({ id }) => id)
    const complete = answers.filter(({ text }) => text.includes('[DONE]')).map(({ headers }) => headers.get('x-request-id') ?? '')
    expect(complete.length).toBeGreaterThan(0)
    expect(complete.filter((id) => charged.filter((other) => other === id).length !== 1)).toEqual([])
    for (const { status } of answers) expect([200, 503]).toContain(status)
    await requireBalancedBooks(server)
  })
})

describe('time', () => {
  it('an upstream that fails after heartbeats ends the stream with an error, and costs nothing', async () => {
    let aheadMs = 0
    const now = () => Date.now() + aheadMs
    const { promise: failing, resolve: fail } = Promise.withResolvers<void>()
    const url = await httpUpstream(async (request, response) => {
      request.resume()
      aheadMs = 60_000
      await failing
      response.writeHead(500).end('{"error":{"message":"broken"}}')
    })
    const other = await upstreamOfTest()
    const { server, token } = await stage('sqlite', url, { channel: { priority: 9 }, server: { now } })
    await addChannel(server, { url: other.url, models: model })
    await setOptions(server, { RetryTimes: 3 })
    // The head of the answer is sent with the first heartbeat.
    const answer = await post(server, token.key, chat({ stream: true }))
    fail()
    expect(await answer.text()).toMatch(/^: keep-alive\n\n(: keep-alive\n\n)*data: {"error":.*}\n\n$/)
    expect(other.journal).toHaveLength(0)
    expect(await settledCharges(server)).toEqual([])
    await requireBalancedBooks(server)
  })

  it("a slow caller's pauses do not count as silence of the upstream; after minutes without a read it is disconnected", async () => {
    let ahead = 0
    const big = piece('x'.repeat(16_000))
    const url = await httpUpstream((_request, response) => {
      response.writeHead(200, sse)
      let left = 2000
      const pump = () => {
        while (left-- > 0) if (!response.write(left % 3 ? big : big.slice(0, 9000)) && response.once('drain', pump)) return
      }
      pump()
    })
    const { server, token } = await stage('sqlite', url, {
      channel: { setting: JSON.stringify({ idle_timeout_ms: 1500 }), key: upstreamKey },
      server: { now: () => Date.now() + ahead },
    })
    const caller = speak(server, requestBytes(token.key, JSON.stringify(chat({ stream: true }))))
    await caller.until((text) => text.includes('xxxx'))
    caller.socket.pause()
    await new Promise((resolve) => setTimeout(resolve, 3000))
    expect(await running(server)).toBe(1)
    ahead = 301_000
    expect(await settledCharges(server)).toHaveLength(1)
    expect(await interrupted(server)).toMatchObject({ interrupted: 'client', estimated: true })
    await requireBalancedBooks(server)
  })
})
