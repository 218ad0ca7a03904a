import { afterAll, describe, expect, it } from 'vitest'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { addToken, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { ask, chat, completion, countsInRedis, eventually, httpUpstream, patient, settledCharges, speak, stage } from './stage.ts'

const answering = () =>
  httpUpstream((request, response) => {
    request.resume()
    request.once('end', () => response.setHeader('content-type', 'application/json').end(completion()))
  })

/** Announces a body of 20 MB and sends none of it; returns the reply. */
async function announce(
  server: Pick<TestServer, 'url'>,
  key: string,
  { path = '/v1/chat/completions', bytes = 20_000_000 } = {},
) {
  const lines = [`POST ${path} HTTP/1.1`, 'host: x', `authorization: Bearer ${key}`, 'content-type: application/json']
  const caller = speak(server, `${[...lines, `content-length: ${bytes}`].join('\r\n')}\r\n\r\n`)
  const text = await caller.until((got) => got.includes('}}') || got.includes('"request_id"'))
  return { status: Number(text.slice(9, 12)), text }
}

anyDatabase('before a body is read', (_fresh, kind) => {
  it('a user with an exhausted balance is refused, and admitted as soon as it is topped up', async () => {
    const { server, token } = await stage(kind, await answering())
    expect((await ask(server, token.key, chat())).status).toBe(200)
    await server.app.db.updateTable('users').set({ quota: 0 }).where('id', '=', 1).execute()
    server.app.ledger.refresh({ userId: 1 })
    // The hold refuses the first; from then on nothing is read.
    expect((await ask(server, token.key, chat())).status).toBe(403)
    const refused = await announce(server, token.key)
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('insufficient_quota')])
    expect(refused.text).toContain('connection: close')
    expect((await announce(server, token.key, { path: '/v1/messages' })).text).toContain('billing_error')

    // As if another node had done it: no event is published here.
    await server.app.db.updateTable('users').set({ quota: 1_000_000 }).where('id', '=', 1).execute()
    server.app.ledger.refresh({ userId: 1 })
    expect((await ask(server, token.key, chat())).status).toBe(200)
  })

  it('a user whose balance is already empty at the first request is refused at once', async () => {
    const { server, token } = await stage(kind, await answering())
    await server.app.db.updateTable('users').set({ quota: 0 }).where('id', '=', 1).execute()
    expect((await announce(server, token.key)).status).toBe(403)
  })

  it('free models can be used without a balance, as long as there is no debt', async () => {
    const { server, token } = await stage(kind, await answering(), { channel: { models: 'gpt-4o-mini,free' } })
    await setOptions(server, { ModelRatio: { 'gpt-4o-mini': 1, free: 0 } })
    await server.app.db.updateTable('users').set({ quota: 0 }).where('id', '=', 1).execute()
    expect((await ask(server, token.key, chat({ model: 'free' }))).status).toBe(200)
    expect((await ask(server, token.key, chat())).status).toBe(403)
    const narrow = await addToken(server, { model_limits_enabled: true, model_limits: 'gpt-4o-mini' })
    expect((await announce(server, narrow.key)).status).toBe(403)
    await server.app.db.updateTable('users').set({ quota: -1 }).where('id', '=', 1).execute()
    server.app.ledger.refresh({ userId: 1 })
    expect((await announce(server, token.key)).status).toBe(403)
  })

  it('a limit by count refuses with the headers of limits, and counts nothing twice', async () => {
    const { server, token } = await stage(kind, await answering())
    await setOptions(server, { UserRequestLimits: { '*': [{ seconds: 60, requests: 3, tokens: 100_000, concurrency: 0 }] } })
    for (const left of ['2', '1', '0']) {
      const answer = await ask(server, token.key, chat())
      expect([answer.status, answer.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, left])
    }
    const refused = await announce(server, token.key)
    expect(refused.status).toBe(429)
    for (const line of ['x-ratelimit-limit-requests: 3', 'x-ratelimit-remaining-requests: 0', 'x-ratelimit-limit-tokens: 100000'])
      expect(refused.text).toContain(line)
    expect(refused.text).toMatch(/retry-after: \d+/)
    const small = await ask(server, token.key, chat())
    expect([small.status, small.headers.get('x-ratelimit-remaining-requests')]).toEqual([429, '0'])
    expect((await settledCharges(server)).length).toBe(3)
    await requireBalancedBooks(server)
  })

  it('a token at its concurrency limit is refused; a larger limit of another group does not admit it', async () => {
    let answer: (() => void) | undefined
    const url = await httpUpstream((request, response) => {
      request.resume()
      answer = () => void response.setHeader('content-type', 'application/json').end(completion())
    })
    const { server } = await stage(kind, url)
    const token = await addToken(server, { limit_seconds: 60, limit_concurrency: 1, group: 'auto' })
    const first = ask(server, token.key, chat())
    await eventually('the upstream has it', () => answer !== undefined)
    const refused = await announce(server, token.key)
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('rate_limit_exceeded')])
    answer?.()
    expect((await first).status).toBe(200)
  })

  it('a body declared too large is refused; so is one of an unauthorized caller', async () => {
    const { server, token } = await stage(kind, await answering())
    expect((await announce(server, token.key, { bytes: 33 * 1024 * 1024 })).status).toBe(413)
    expect((await announce(server, 'sk-unknown')).status).toBe(401)
  })

  it('more than a hundred headers are refused by relay and console, and an answer of an upstream with two hundred is invalid', async () => {
    let sent = 0
    const url = await httpUpstream((request, response) => {
      request.resume()
      for (let at = 0; at < sent; at++) response.setHeader(`x-${at}`, 'v')
      response.setHeader('content-type', 'application/json').end(completion())
    })
    const { server, token } = await stage(kind, url)
    const call = async (path: string, count: number) => {
      const lines = ['host: x', `authorization: Bearer ${token.key}`, 'connection: close']
      const more = Array.from({ length: count - lines.length }, (_, at) => `x-${at}: v`)
      const text = await speak(server, `GET ${path} HTTP/1.1\r\n${[...lines, ...more].join('\r\n')}\r\n\r\n`).until(() => false)
      return { status: Number(text.slice(9, 12)), text }
    }
    for (const path of ['/v1/models', '/api/status']) {
      expect([path, (await call(path, 100)).status]).toEqual([path, 200])
      for (const count of [101, 900]) {
        const { status, text } = await call(path, count)
        expect([path, count, status, text]).toEqual([path, count, 431, expect.stringContaining('headers_too_many')])
      }
    }
    sent = 190
    expect((await ask(server, token.key, chat())).status).toBe(200)
    sent = 200
    const failed = await ask(server, token.key, chat())
    expect([failed.status, failed.text]).toEqual([502, expect.stringContaining('please retry your request')])
    expect((await settledCharges(server)).length).toBe(1)
  })
})

describe('two nodes', async () => {
  const redis = await startRedis()
  afterAll(() => redis?.stop())

  it.skipIf(!redis)('with Redis, a limit that was used up on another node refuses a large body before it is read', async () => {
    const settings = { env: { REDIS_URL: redis?.url ?? '' }, redisTiming: patient }
    const { server: one, token } = await stage('postgres', await answering(), { server: settings })
    const other = await serverOfTest('postgres', { ...settings, database: one.database })
    await Promise.all([one, other].map(countsInRedis))
    await setOptions(one, { UserRequestLimits: { '*': [{ seconds: 60, requests: 2, tokens: 0, concurrency: 0 }] } })
    await eventually('the other node knows', () => '*' in other.app.options.current.UserRequestLimits)
    for (let times = 0; times < 2; times++) expect((await ask(one, token.key, chat())).status).toBe(200)
    expect((await announce(other, token.key)).status).toBe(429)
    expect((await ask(other, token.key, chat())).status).toBe(429)
  })
})
