import { Agent, get, type IncomingMessage } from 'node:http'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { newClock } from '../helpers/clock.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { isTorture } from '../helpers/torture.ts'
import {
  ask,
  chat,
  claude,
  completion,
  countsInRedis,
  eventually,
  httpUpstream,
  model,
  patient,
  post,
  settledCharges,
  stage,
} from './stage.ts'

const answering = (text = completion()) =>
  httpUpstream((_request, response) => response.setHeader('content-type', 'application/json').end(text))

async function limitModels(server: TestServer, { count = 0, successes = 1000, minutes = 1 } = {}) {
  if (count > 0) await setOptions(server, { ModelRequestRateLimitCount: count })
  if (successes !== 1000) await setOptions(server, { ModelRequestRateLimitSuccessCount: successes })
  if (minutes !== 1) await setOptions(server, { ModelRequestRateLimitDurationMinutes: minutes })
  await setOptions(server, { ModelRequestRateLimitEnabled: true })
}

async function statuses(times: number, one: () => Promise<{ status: number }>): Promise<number[]> {
  const all: number[] = []
  for (let n = 0; n < times; n++) all.push((await one()).status)
  return all
}

const codeOf = (text: string) => (JSON.parse(text) as { error: { code: string; type: string; message: string } }).error

const crowd = isTorture ? 1000 : 300

eachDatabase('limits of model requests', (_fresh, kind) => {
  it('refuse in the dialect of the caller, report when to retry, and admit requests again after the period', async () => {
    const clock = newClock()
    const { server, ask } = await stage(kind, await answering(), { server: { now: () => clock.now() } })
    await limitModels(server, { count: 2 })
    expect(await statuses(2, () => ask(chat()))).toEqual([200, 200])
    clock.passSeconds(20)

    const refused = await ask(chat())
    expect(refused.status).toBe(429)
    expect(codeOf(refused.text)).toMatchObject({
      code: 'rate_limit_exceeded',
      type: 'rate_limit_exceeded',
      message: expect.stringContaining('at most 2 within 1 minute'),
    })
    expect(refused.headers.get('retry-after')).toBe('40')
    expect(refused.headers.get('x-should-retry')).toBe(null)
    const inMessages = await ask({ ...chat(), max_tokens: 5 }, '/v1/messages')
    expect(inMessages.status).toBe(429)
    expect(JSON.parse(inMessages.text)).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } })

    clock.passSeconds(40)
    expect(await statuses(3, () => ask(chat()))).toEqual([200, 200, 429])
    expect((await settledCharges(server)).length).toBe(4)
    await requireBalancedBooks(server)
  })

  it("are unaffected by a jump of the machine's clock, as are durations", async () => {
    const steady = newClock()
    let jumpedMs = 0
    const jumps = [3_600_000, -7_200_000]
    const url = await httpUpstream((_request, response) => {
      jumpedMs += jumps.shift() ?? 0
      steady.nowMs += 1500
      response.setHeader('content-type', 'application/json').end(completion())
    })
    const clocks = { now: () => steady.now() + jumpedMs, steady: () => steady.now() }
    const { server, ask } = await stage(kind, url, { server: clocks })
    await limitModels(server, { count: 2 })
    expect(await statuses(3, () => ask(chat()))).toEqual([200, 200, 429])
    steady.passSeconds(60)
    expect(await statuses(3, () => ask(chat()))).toEqual([200, 200, 429])
    await settledCharges(server)
    const { logs } = await books(server)
    expect(logs.map(({ use_time }) => use_time)).toEqual([2, 2, 2, 2])
    for (const { other } of logs) expect(JSON.parse(other)).toMatchObject({ use_time_ms: 1500, frt: 1500 })
    expect((logs[1]?.created_at ?? 0) - (logs[0]?.created_at ?? 0)).toBeLessThan(-7000)
  })

  it('are off for a count of -1, which is stored as 0', async () => {
    const { server, ask } = await stage(kind, await answering())
    await limitModels(server, { count: 1 })
    expect(await statuses(2, () => ask(chat()))).toEqual([200, 429])
    await setOptions(server, { ModelRequestRateLimitCount: -1 })
    expect(await statuses(3, () => ask(chat()))).toEqual([200, 200, 200])
    const options = await server.call<{ key: string; value: string }[]>('GET /api/option/')
    expect(options.find(({ key }) => key === 'ModelRequestRateLimitCount')?.value).toBe('0')
    await requireBalancedBooks(server)
  })

  it('count failed requests in the total, and only answered ones in the successes', async () => {
    let status = 500
    const url = await httpUpstream((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(status === 200 ? completion() : '{"error":{"message":"down"}}')
    })
    const { server, ask } = await stage(kind, url)
    await limitModels(server, { count: 6, successes: 1 })
    expect(await statuses(2, () => ask(chat()))).toEqual([502, 502])
    expect((await ask('{"model":')).status).toBe(400)
    expect((await ask(chat({ model: 'no-such-model' }))).status).toBe(404)
    status = 200
    expect(await statuses(2, () => ask(chat()))).toEqual([200, 429])
    const successes = codeOf((await ask(chat())).text).message
    expect(successes).toContain('successful requests: at most 1')
    await setOptions(server, { ModelRequestRateLimitSuccessCount: 1000 })
    expect(await statuses(2, () => ask(chat()))).toEqual([200, 429])
    expect(codeOf((await ask('{"model":')).text).message).toContain('failed ones included')
  })

  it('take effect at once when the options change, and are not reported when there are none', async () => {
    const { server, ask } = await stage(kind, await answering())
    const free = await ask(chat())
    expect([...free.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([])
    await limitModels(server, { count: 1 })
    expect(await statuses(2, () => ask(chat()))).toEqual([200, 429])
    await setOptions(server, { ModelRequestRateLimitCount: 3 })
    expect(await statuses(3, () => ask(chat()))).toEqual([200, 200, 429])
    await setOptions(server, { ModelRequestRateLimitGroup: { default: [5, 1000] } })
    expect(await statuses(3, () => ask(chat()))).toEqual([200, 200, 429])
    await setOptions(server, { ModelRequestRateLimitEnabled: false })
    expect(await statuses(5, () => ask(chat()))).toEqual([200, 200, 200, 200, 200])
  })

  it(`[T205] admit exactly as many of ${crowd} simultaneous requests as they allow`, async () => {
    const { server, ask } = await stage(kind, await answering())
    await limitModels(server, { successes: 40 })
    const all = await Promise.all(Array.from({ length: crowd }, () => ask(chat())))
    expect(all.filter(({ status }) => status === 200).length).toBe(40)
    expect(all.filter(({ status }) => status === 429).length).toBe(crowd - 40)
    expect((await settledCharges(server)).length).toBe(40)
    await requireBalancedBooks(server)
  })
})

it('[T205] of 1,000 requests of one client that claims another address in each, exactly as many pass as the limit allows', async () => {
  const server = await serverOfTest('sqlite')
  // An address from which no other request of this file is sent.
  const agent = new Agent({ keepAlive: true, maxSockets: 40, localAddress: '127.0.0.2' })
  onTestFinished(() => agent.destroy())
  const self = (index: number) =>
    new Promise<number | undefined>((resolve, reject) => {
      const named = `198.51.${index >> 8}.${index & 255}`
      const headers = { 'x-forwarded-for': named, 'x-real-ip': named, forwarded: `for=${named}` }
      const answered = (answer: IncomingMessage) => answer.resume().once('end', () => resolve(answer.statusCode))
      get(`${server.url}/api/user/self`, { agent, headers }, answered).once('error', reject)
    })
  const all = await Promise.all(Array.from({ length: 1000 }, (_, index) => self(index)))
  expect(all.filter((status) => status !== 429).length).toBe(600)
})

describe('limits of users, groups and tokens', () => {
  it('apply to all tokens of a user together, and to each token alone', async () => {
    const { server, ask: asFirst } = await stage('sqlite', await answering())
    const second = await addToken(server, { limit_requests: 2, limit_seconds: 3600 })
    const asSecond = () => ask(server, second.key, chat())
    expect(await statuses(3, asSecond)).toEqual([200, 200, 429])
    expect(codeOf((await asSecond()).text).message).toContain('This API key has reached')
    await setOptions(server, { UserRequestLimits: { '*': { requests: 3 } } })
    expect(await statuses(4, () => asFirst(chat()))).toEqual([200, 200, 200, 429])
    const token = await server.call<object>(`GET /api/token/${second.id}`)
    await server.call('PUT /api/token/', { ...token, limit_requests: 0 })
    expect((await asSecond()).status).toBe(429)
    await setOptions(server, { UserRequestLimits: { '*': [] } })
    expect((await asSecond()).status).toBe(200)
  })

  it('apply to all requests of a group, by the group in which a request runs', async () => {
    const { server, ask: inDefault } = await stage('sqlite', await answering(), { channel: { group: 'default,vip' } })
    const vip = await addToken(server, { group: 'vip' })
    await setOptions(server, { GroupRequestLimits: { vip: { requests: 2, seconds: 60 } } })
    expect(await statuses(3, () => ask(server, vip.key, chat()))).toEqual([200, 200, 429])
    expect(await statuses(3, () => inDefault(chat()))).toEqual([200, 200, 200])
    const playground = (group: string) => server.raw('POST /pg/chat/completions', { ...chat(), group })
    expect((await playground('default')).status).toBe(200)
    expect((await playground('vip')).status).toBe(429)
  })

  it('count used tokens once they are known, and report the rest', async () => {
    const { server } = await stage('sqlite', await answering())
    const { key } = await addToken(server, { limit_tokens: 1000, limit_requests: 10 })
    const first = await ask(server, key, chat({ max_tokens: 100 }))
    const left = (name: string) => Number(first.headers.get(`x-ratelimit-remaining-${name}`))
    expect(first.headers.get('x-ratelimit-limit-tokens')).toBe('1000')
    expect(left('tokens')).toBeLessThan(900)
    expect(left('requests')).toBe(9)
    expect(first.headers.get('x-ratelimit-reset-requests')).toMatch(/^(1m0s|59s)$/)
    const second = await ask(server, key, chat({ max_tokens: 900 }))
    expect(second.status).toBe(200)
    // Twice the 18 tokens that the upstream counted.
    const third = await ask(server, key, chat({ max_tokens: 10_000 }))
    expect(third.status).toBe(429)
    expect(third.headers.get('x-ratelimit-remaining-tokens')).toBe(String(1000 - 36))
    const long = await ask(server, key, chat({ messages: [{ role: 'user', content: 'word '.repeat(3000) }] }))
    expect(long.status).toBe(429)
    expect(long.headers.get('x-should-retry')).toBe('false')
    expect(long.headers.get('retry-after')).toBe(null)
  })

  it('are reported to clients of Messages in the headers of that dialect', async () => {
    const body = JSON.stringify({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: claude,
      content: [],
      usage: { input_tokens: 5, output_tokens: 1 },
    })
    const { server } = await stage('sqlite', await answering(body), { channel: { type: 14, models: claude } })
    const { key } = await addToken(server, { limit_tokens: 5000, limit_requests: 10 })
    const request = { model: claude, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
    const { status, headers } = await ask(server, key, request, '/v1/messages', { 'anthropic-version': '2023-06-01' })
    expect(status).toBe(200)
    expect(headers.get('anthropic-ratelimit-requests-limit')).toBe('10')
    expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('9')
    expect(headers.get('anthropic-ratelimit-tokens-limit')).toBe('5000')
    expect(headers.get('anthropic-ratelimit-tokens-reset')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  })

  it('apply to concurrent requests, until each has ended in any way', async () => {
    const waiting: (() => void)[] = []
    const url = await httpUpstream((_request, response) => void waiting.push(() => response.end(completion())))
    const { server } = await stage('sqlite', url)
    const { key } = await addToken(server, { limit_concurrency: 2 })
    const aborter = new AbortController()
    const gone = post(server, key, chat(), '/v1/chat/completions', { signal: aborter.signal }).catch(() => undefined)
    const staying = ask(server, key, chat())
    await eventually('both run', () => waiting.length === 2)
    const refused = await ask(server, key, chat())
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(codeOf(refused.text).message).toContain('at once')

    aborter.abort()
    await gone
    const next = (async () => {
      for (;;) {
        const answer = await ask(server, key, chat())
        if (answer.status !== 429) return answer
      }
    })()
    await eventually('the next one runs', () => waiting.length === 3)
    for (const answer of waiting) answer()
    expect([(await staying).status, (await next).status]).toEqual([200, 200])
  })
})

describe('over two nodes with Redis', async () => {
  const redis = await startRedis()
  afterAll(() => redis?.stop())

  it.skipIf(!redis)('the limit applies to both together; console limits too; service continues without Redis', async () => {
    const settings = { env: { REDIS_URL: redis?.url ?? '' }, redisTiming: patient }
    const a = await serverOfTest('postgres', settings)
    const b = await serverOfTest('postgres', { ...settings, database: a.database })
    await Promise.all([a, b].map(countsInRedis))
    await addChannel(a, { url: await answering(), models: model })
    const { key } = await addToken(a)
    await limitModels(a, { count: 60, minutes: 10 })
    await eventually('the other node has heard of it', () => b.app.options.current.ModelRequestRateLimitEnabled)

    // A thousand at once keep this process, in which all parts run, from its connections to Redis for too long on a busy machine.
    const all: Awaited<ReturnType<typeof ask>>[] = []
    for (let round = 0; round < 10; round++)
      all.push(...(await Promise.all(Array.from({ length: 100 }, (_, n) => ask(n % 2 ? a : b, key, chat())))))
    const passed = all.filter(({ status }) => status !== 429)
    expect(passed).toHaveLength(60)
    // On a busy machine the hold of an admitted request may time out.
    expect(passed.filter(({ status, text }) => status !== 200 && !text.includes('The database is unavailable'))).toEqual([])

    // Refused sign-ins count like others, before the throttle of passwords is asked.
    const tries: string[] = []
    for (let n = 0; n < 22; n++) {
      const node = n % 2 ? a : b
      // A node that was too busy to read from Redis counts alone for a while.
      await countsInRedis(node)
      const response = await fetch(`${node.url}/api/user/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: `nobody${n}`, password: 'wrong password' }),
      })
      const { code } = (await response.json()) as { code: string }
      tries.push(`${response.status} ${code}`)
      if (response.status === 429) expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(tries).toEqual([...Array(20).fill('200 credentials_wrong'), ...Array(2).fill('429 too_many_requests')])

    await redis?.kill()
    await setOptions(a, { ModelRequestRateLimitEnabled: false })
    expect((await ask(a, key, chat())).status).toBe(200)
  })
})
