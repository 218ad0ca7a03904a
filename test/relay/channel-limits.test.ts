import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Budget } from '../../src/contract/entities/budget.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { startTaskPeer } from '../helpers/task-peer.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { caller, live, realtimeUpstream } from './realtime-stage.ts'
import {
  askRedis,
  askWithRetry,
  chat,
  completion,
  countsInRedis,
  event,
  eventually,
  httpUpstream,
  patient,
  piece,
  post,
  probe,
  settledCharges,
} from './stage.ts'

const redis = await startRedis()
afterAll(() => redis?.stop())

describe.skipIf(!redis)('the limits of a channel over two nodes with Redis', () => {
  // The tests are skipped without it.
  const shared = redis as RedisServer
  let a: TestServer
  let b: TestServer
  let key = ''
  beforeAll(async () => {
    const settings = { env: { REDIS_URL: shared.url }, redisTiming: patient }
    a = await startServer('postgres', settings)
    b = await startServer('postgres', { ...settings, database: a.database })
    key = (await addToken(a)).key
    await countTogether()
  })
  afterAll(async () => {
    await b?.stop()
    await a?.stop()
  })

  const countTogether = () => Promise.all([a, b].map(countsInRedis))

  /** Adds a channel, and waits until both nodes have it. */
  async function add(channel: { url: string; models: string; setting?: object; priority?: number; type?: number }) {
    const setting = channel.setting ? { setting: JSON.stringify(channel.setting) } : {}
    const id = await addChannel(a, { ...channel, ...setting })
    await eventually('the other node knows the channel', () => b.app.channels.current.keysOf(id).length > 0)
    return id
  }

  const onBoth = (count: number, one: (node: TestServer) => Promise<{ status: number; headers: Headers }>) =>
    Promise.all(Array.from({ length: count }, (_, n) => one(n % 2 ? a : b)))
  const retryAfter = ({ headers }: { headers: Headers }) => Number(headers.get('retry-after'))

  it('admit five of 20 requests at five a minute; the rest fail over without an attempt, and are refused when no channel is left', async () => {
    const [model, small, large] = ['gpt-4o', await upstreamOfTest(), await upstreamOfTest()]
    const id = await add({ url: small.url, models: model, priority: 5, setting: { max_requests_per_minute: 5 } })
    const otherId = await add({ url: large.url, models: model })
    const answers = await onBoth(20, (node) => askWithRetry(node, key, chat({ model })))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect([small.journal.length, large.journal.length]).toEqual([5, 15])
    await settledCharges(a)
    const { logs } = await books(a)
    const infos = logs.map(({ other }) => JSON.parse(other).admin_info)
    expect(infos.filter(({ use_channel }) => use_channel.length === 1)).toHaveLength(20)

    await a.call(`DELETE /api/channel/${otherId}`)
    await eventually('the other node knows it is gone', () => b.app.channels.current.keysOf(otherId).length === 0)
    const refused = await onBoth(4, (node) => askWithRetry(node, key, chat({ model })))
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429, 429])
    expect(refused.every((answer) => retryAfter(answer) > 0 && retryAfter(answer) <= 60)).toBe(true)
    // A caller that pins the channel gets it, even when it is full.
    expect((await onBoth(2, (node) => askWithRetry(node, `${key}-${id}`, chat({ model })))).map(({ status }) => status)).toEqual([
      200, 200,
    ])
    expect(small.journal).toHaveLength(7)
    await requireBalancedBooks(a)
  })

  it('allow only so many streams at once; a stream that ended, failed or was aborted frees its slot', async () => {
    const model = 'gpt-4-turbo'
    const open: ServerResponse[] = []
    const url = await httpUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(piece('one'))
      open.push(response)
    })
    await add({ url, models: model, setting: { max_concurrency: 3 } })
    const aborters: AbortController[] = []
    const stream = async (node: TestServer) => {
      const aborter = new AbortController()
      const response = await post(node, key, chat({ model, stream: true }), '/v1/chat/completions', { signal: aborter.signal })
      if (response.status === 200) aborters.push(aborter)
      return response
    }
    onTestFinished(() => {
      for (const aborter of aborters) aborter.abort()
    })
    const first = await onBoth(10, stream)
    expect(first.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(first.filter((answer) => answer.status === 429 && retryAfter(answer) === 1)).toHaveLength(7)

    open[0]?.end(piece('', 'stop') + event('[DONE]'))
    open[1]?.destroy()
    // Every caller disconnects, which aborts the third stream.
    for (const aborter of aborters) aborter.abort()
    for (const node of [a, b, a]) await eventually('there is room again', async () => (await stream(node)).status === 200)
    expect((await onBoth(4, stream)).map(({ status }) => status)).toEqual([429, 429, 429, 429])
    expect(open).toHaveLength(6)
  })

  it("a failed attempt releases its slot, as does a cancelled one, and one node's tokens count on the other", async () => {
    const model = 'gpt-4'
    let [status, served] = [500, 0]
    const url = await httpUpstream((_request, response) => {
      served++
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(completion({ usage: { prompt_tokens: 11, completion_tokens: 2000, total_tokens: 2011 } }))
    })
    const id = await add({ url, models: model, setting: { max_concurrency: 1, max_tokens_per_minute: 1000 } })
    const [channel] = a.app.channels.current.keysOf(id)
    const aborter = channel && a.app.traffic.begin(channel, { id: 'leaver', model, inputTokens: 0, isPinned: false })
    // Abandoned before Redis has answered.
    aborter?.abandoned()
    expect(await aborter?.refusal).toBeUndefined()
    expect((await askWithRetry(a, key, chat({ model }))).status).toBe(502)
    status = 200
    await eventually('the place is free', async () => (await askWithRetry(b, key, chat({ model }))).status === 200)
    const before = served
    const tokens = { ...probe, key: `channel:${id}`, requests: 0, tokens: 1000 }
    await eventually('Redis knows the tokens', async () => (await askRedis(a, tokens))?.refusal?.measure === 'tokens')
    const refused = await askWithRetry(a, key, chat({ model }))
    expect([refused.status, retryAfter(refused) > 1, retryAfter(refused) <= 60, served - before]).toEqual([429, true, true, 0])
  })

  it('apply to realtime sessions and to orders of drawings', async () => {
    const upstream = await realtimeUpstream()
    await add({ url: upstream.url, models: live, setting: { max_concurrency: 1 } })
    const talk = caller(a.url, key)
    await talk.hears('session.created')
    expect((await caller(b.url, key).refused()).status).toBe(429)
    talk.socket.close(1000)
    await eventually('the other node takes the next', async () => {
      const next = caller(b.url, key)
      const isOpen = await Promise.race([next.opened(), next.refused().then(() => false)])
      next.socket.close(1000)
      return isOpen
    })

    const peer = await startTaskPeer()
    onTestFinished(() => peer.stop())
    await add({ url: peer.url, type: 2, models: 'mj_imagine', setting: { max_requests_per_minute: 2 } })
    const orders = await onBoth(6, (node) => askWithRetry(node, key, { prompt: 'a cat' }, '/mj/submit/imagine'))
    expect(orders.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(peer.asked.filter(({ path }) => path.endsWith('/submit/imagine'))).toHaveLength(2)
  })

  it('leave budgets exact, with Redis and while it is unreachable', async () => {
    const [model, upstream] = ['gpt-4o-mini', await upstreamOfTest()]
    await add({ url: upstream.url, models: model })
    let amount = 90
    const { id } = await a.call<Budget>('POST /api/budget/', { scope: 'model', subject: model, period: 'day', amount })
    const knows = () => b.app.budgets.windowsOf({ userId: 0, tokenId: 0 }, '', [model]) !== undefined
    await eventually('the other node knows the budget', knows)
    const spent = async () => {
      const { logs } = await books(a)
      return logs.filter(({ model_name, type }) => model_name === model && type === 2).reduce((sum, { quota }) => sum + quota, 0)
    }
    for (const isAway of [false, true]) {
      if (isAway) await shared.kill()
      const answers = await onBoth(40, (node) => askWithRetry(node, key, chat({ model, max_tokens: 7 })))
      expect([...new Set(answers.map(({ status }) => status))].filter((status) => status !== 200 && status !== 429)).toEqual([])
      await settledCharges(a)
      expect(await spent()).toBeLessThanOrEqual(amount)
      for (let status = 200; status === 200; )
        ({ status } = await askWithRetry(isAway ? a : b, key, chat({ model, max_tokens: 7 })))
      await settledCharges(a)
      const used = await spent()
      expect(used).toBeGreaterThan(amount / 2)
      expect(used).toBeLessThanOrEqual(amount)
      expect((await a.call<{ items: Budget[] }>('GET /api/budget/')).items).toMatchObject([{ spent: used }])
      amount = 180
      await a.call(`PUT /api/budget/${id}`, { amount })
    }
    await a.call(`DELETE /api/budget/${id}`)
    await shared.start()
    await countTogether()
  })

  it('count on each node alone while Redis is unreachable, without delay', async () => {
    const [model, upstream] = ['gpt-3.5-turbo', await upstreamOfTest()]
    await add({ url: upstream.url, models: model, setting: { max_requests_per_minute: 5, max_concurrency: 100 } })
    await shared.kill()
    const answers = await onBoth(20, (node) => askWithRetry(node, key, chat({ model })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
    expect(upstream.journal).toHaveLength(10)
  })
})
