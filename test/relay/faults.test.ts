import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { type Program, upstreamOfTest } from '../helpers/upstream.ts'
import { sharedStages } from './shared-stage.ts'
import { ask, chat, event, httpUpstream, upstreamKey as key, model, piece, stage } from './stage.ts'

/** A stage whose only channel leads to a simulated provider. */
async function programmed(
  programs: Program[],
  onStage: (url: string, channel?: Record<string, unknown>) => ReturnType<typeof stage>,
  channel?: Record<string, unknown>,
) {
  const upstream = await upstreamOfTest()
  if (programs.length > 0) upstream.program(model, programs)
  return { upstream, ...(await onStage(upstream.url, channel)) }
}

anyDatabase('a request that goes wrong', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)
  const retryingStage = sharedStages(kind, { RetryTimes: 5 })
  /** For tests that nothing is charged: the server is not shared with other tests. */
  const unchargedStage = sharedStages(kind)
  const ownStage = (url: string, channel?: Record<string, unknown>) => stage(kind, url, { channel })

  async function requireNothingCharged(server: TestServer): Promise<void> {
    const { users, ledger } = await books(server)
    expect(ledger.filter((row) => row.kind === 'charge' && row.amount !== 0)).toEqual([])
    expect(users[0]?.quota).toBe(100_000_000)
    await requireBalancedBooks(server)
    expect(server.app.ledger.openHolds).toBe(0)
  }

  it('invalid input gets the right status in the dialect, and reaches no upstream', async () => {
    const { server, upstream, token } = await programmed([], sharedStage)
    const cases: [unknown, number, RegExp][] = [
      ['', 400, /empty/],
      ['{"model":', 400, /cannot be parsed/],
      ['[1]', 400, /must be an object/],
      ['null', 400, /must be an object/],
      [{ messages: [] }, 400, /model/],
      [{ ...chat(), messages: [] }, 400, /messages/],
      [{ ...chat(), model: undefined }, 400, /model/],
      [{ ...chat(), model: 7 }, 400, /model/],
      [{ ...chat(), messages: 'hi' }, 400, /messages/],
      [{ ...chat(), messages: ['hi'] }, 400, /messages/],
      [{ ...chat(), stream: 'yes' }, 400, /stream/],
      [{ ...chat(), max_tokens: -1 }, 400, /max_tokens/],
      [{ ...chat(), max_tokens: 1.5 }, 400, /max_tokens/],
      [{ ...chat(), max_tokens: 1e308 }, 400, /max_tokens/],
      [{ ...chat(), n: 0 }, 400, /\bn\b/],
      [{ ...chat(), n: 1e9 }, 400, /\bn\b/],
      [{ ...chat(), model: 'nope' }, 404, /does not exist/],
      [`{"model":"${model}","messages":${'['.repeat(5000)}${']'.repeat(5000)}}`, 400, /messages|nested/],
    ]
    for (const [body, status, message] of cases) {
      const answer = await ask(server, token.key, body)
      expect([answer.status, JSON.stringify(body)?.slice(0, 80)]).toEqual([status, JSON.stringify(body)?.slice(0, 80)])
      expect(JSON.parse(answer.text).error.message).toMatch(message)
      expect(answer.headers.get('x-request-id')).toBeTruthy()
    }

    const anthropic = await ask(server, token.key, { model }, '/v1/messages')
    expect(JSON.parse(anthropic.text)).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
    expect((await ask(server, token.key, chat(), '/v1/nonsense')).status).toBe(404)
    expect((await ask(server, token.key, chat(), '/v1/threads')).status).toBe(501)
    expect((await ask(server, token.key, chat(), '/v1/models')).status).toBe(405)
    expect((await ask(server, token.key, chat(), '/v1/v1/chat/completions/?beta=true')).status).toBe(200)
    expect((await ask(server, token.key, chat(), undefined, { 'content-encoding': 'bogus' })).status).toBe(415)
    expect(upstream.journal).toHaveLength(1)
  })

  it('refuses a body beyond the limit before reading it, and a compression bomb', async () => {
    const { server, upstream, token } = await programmed([], sharedStage)
    const answer = await new Promise<string>((resolve, reject) => {
      const { port, hostname } = new URL(server.url)
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token.key}\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{`,
        ),
      )
      socket.once('data', (data) => {
        resolve(data.toString())
        socket.destroy()
      })
      socket.once('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1.1 413/)

    const { gzipSync } = await import('node:zlib')
    const bomb = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}`, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(100 * 1024 * 1024, 32)),
    })
    expect(bomb.status).toBe(413)
    const packed = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}`, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(chat())),
    })
    expect(packed.status).toBe(200)
    expect(upstream.journal).toHaveLength(1)
  })

  it('keys that are missing, wrong, disabled, expired, exhausted, limited or foreign are refused with their own error', async () => {
    const { server, token } = await programmed([], unchargedStage)
    const code = async (apiKey: string, body: unknown = chat()) => {
      const answer = await ask(server, apiKey, body)
      return [answer.status, JSON.parse(answer.text).error.code]
    }
    expect(await code('')).toEqual([401, 'invalid_api_key'])
    expect(await code('sk-0000')).toEqual([401, 'invalid_api_key'])
    expect(await code(`${token.key}-999`)).toEqual([400, 'channel_pin_unknown'])
    const disabled = await addToken(server)
    await server.call('PUT /api/token/?status_only=true', { id: disabled.id, status: 2 })
    expect(await code(disabled.key)).toEqual([401, 'invalid_api_key'])
    expect(await code((await addToken(server, { expired_time: 1000 })).key)).toEqual([401, 'invalid_api_key'])
    expect((await code((await addToken(server, { unlimited_quota: false, remain_quota: 0 })).key))[1]).toBe('insufficient_quota')
    expect((await code((await addToken(server, { unlimited_quota: false, remain_quota: 1 })).key))[1]).toBe('insufficient_quota')
    expect(await code((await addToken(server, { allow_ips: '10.0.0.0/8' })).key)).toEqual([403, 'token_address_forbidden'])
    expect(await code((await addToken(server, { model_limits_enabled: true, model_limits: 'other' })).key)).toEqual([
      403,
      'token_model_forbidden',
    ])
    await requireNothingCharged(server)
  })

  describe('an upstream that fails costs nothing and shows no secret', () => {
    const failing: [string, Program, number][] = [
      ['500', { status: 500 }, 502],
      ['401', { status: 401 }, 503],
      ['403', { status: 403 }, 503],
      ['404', { status: 404 }, 503],
      ['429', { status: 429, headers: { 'retry-after': '7' } }, 429],
      ['529', { status: 529 }, 503],
      ['504', { status: 504 }, 504],
      ['a key in the error', { echoKey: true }, 503],
      ['hang-up', { hangUp: true }, 502],
      ['an error under 200', { errorIn200: true }, 503],
      ['HTML', { bytes: '<html>hello</html>', contentType: 'text/html' }, 502],
      ['nothing', { bytes: '' }, 502],
      ['null', { bytes: 'null' }, 502],
      ['a list', { bytes: '[]' }, 502],
      ['half of a JSON', { bytes: '{"choices":[{"index":0' }, 502],
      ['a redirect', { redirect: 'http://127.0.0.1:1/' }, 502],
    ]
    for (const stream of [false, true]) {
      it.each(failing)(`%s (stream: ${stream})`, async (_name, program, status) => {
        const { server, token, upstream } = await programmed([program], unchargedStage)
        const answer = await ask(server, token.key, chat({ stream }))
        expect(upstream.journal).toHaveLength(1)
        expect(answer.status).toBe(status)
        expect(answer.text).not.toContain(key)
        expect(answer.text).not.toMatch(/127\.0\.0\.1/)
        expect(JSON.parse(answer.text).error.message.length).toBeGreaterThan(5)
        await requireNothingCharged(server)
      })
    }

    it("passes the caller's own error on as the upstream reported it, without failover", async () => {
      const error = { message: 'bad temperature', type: 'invalid_request_error', param: 'temperature', code: 'x' }
      const { server, token, upstream } = await programmed([{ status: 400, body: { error } }], ownStage)
      await setOptions(server, { RetryTimes: 3 })
      const answer = await ask(server, token.key, chat())
      expect(answer.status).toBe(400)
      expect(JSON.parse(answer.text).error).toMatchObject({ param: 'temperature', code: 'x' })
      expect(upstream.journal).toHaveLength(1)
      await requireNothingCharged(server)
    })

    it('passes on the retry-after of a saturated upstream', async () => {
      const { server, token } = await programmed([{ status: 429, headers: { 'retry-after': '7' } }], sharedStage)
      expect((await ask(server, token.key, chat())).headers.get('retry-after')).toBe('7')
    })

    it('maps status codes as the channel is set', async () => {
      const { server, token } = await programmed([{ status: 400 }], sharedStage, { status_code_mapping: '{"400":"503"}' })
      expect((await ask(server, token.key, chat())).status).toBe(503)
    })
  })

  it('[T148] tries other channels by priority, never the same twice, and charges once at the end', async () => {
    const { server, token, upstream } = await programmed([{ status: 500 }], retryingStage, { priority: 10 })
    const second = await upstreamOfTest()
    second.program(model, [{ hangUp: true }])
    await addChannel(server, { url: second.url, models: model, priority: 5 })
    const third = await upstreamOfTest()
    const thirdId = await addChannel(server, { url: third.url, models: model, priority: 1 })

    const answer = await ask(server, token.key, chat({ stream: true }))
    expect(answer.status).toBe(200)
    expect([upstream.journal.length, second.journal.length, third.journal.length]).toEqual([1, 1, 1])
    const { logs } = await books(server)
    expect(logs).toHaveLength(1)
    expect(JSON.parse(logs[0]?.other ?? '').admin_info).toMatchObject({
      use_channel: [expect.any(String), expect.any(String), String(thirdId)],
    })
    await requireBalancedBooks(server)
  })

  it('fails over when a stream breaks before its first output', async () => {
    const { server, token } = await programmed([{ errorAfterEvents: 1 }], retryingStage, { priority: 10 })
    const second = await upstreamOfTest()
    await addChannel(server, { url: second.url, models: model })
    const answer = await ask(server, token.key, chat({ stream: true }))
    expect(answer.text).toContain('[DONE]')
    expect(second.journal).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('[T101] a line of a stream may have up to 13 MB, the size of an image', async () => {
    const mb = 1024 * 1024
    let length = 0
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.on('error', () => {})
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(piece('x'.repeat(length)) + piece('', 'stop') + event('[DONE]'))
    })
    const { server, token } = await sharedStage(url)
    length = 13 * mb - 1024
    const most = await ask(server, token.key, chat({ stream: true }))
    expect([most.status, most.text.length > length, most.text.endsWith('data: [DONE]\n\n')]).toEqual([200, true, true])
    length = 13 * mb
    const more = await ask(server, token.key, chat({ stream: true }))
    expect([more.status, JSON.parse(more.text).error.type]).toEqual([502, 'invalid_request_error'])
    expect((await books(server)).logs).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('a stream that is cut after output ends with an error event and charges the partial reply', async () => {
    for (const program of [
      { words: 50, cutAfterEvents: 20 },
      { words: 50, errorAfterEvents: 20 },
    ]) {
      const { server, token } = await programmed([program], sharedStage)
      const answer = await ask(server, token.key, chat({ stream: true }))
      expect(answer.status).toBe(200)
      expect(answer.text).not.toContain('[DONE]')
      expect(answer.text.trimEnd().split('\n\n').at(-1)).toMatch(/^data: {"error":/)
      expect(answer.text.match(/"error"/g)).toHaveLength(1)
      const { logs } = await books(server)
      expect(JSON.parse(logs[0]?.other ?? '{}')).toMatchObject({ interrupted: 'upstream' })
      expect(logs[0]?.completion_tokens).toBeGreaterThan(10)
      await requireBalancedBooks(server)
    }
  })

  it('aborts a silent upstream at its deadlines', async () => {
    const { server, token } = await programmed([{ delayMs: 5000 }], unchargedStage, {
      setting: JSON.stringify({ headers_timeout_ms: 300 }),
    })
    expect((await ask(server, token.key, chat())).status).toBe(504)
    const idle = await programmed([{ words: 50, stallAfterEvents: 10 }], sharedStage, {
      setting: JSON.stringify({ idle_timeout_ms: 300 }),
    })
    const answer = await ask(idle.server, idle.token.key, chat({ stream: true }))
    expect(answer.text).toMatch(/"error"/)
    await requireBalancedBooks(idle.server)
    await requireNothingCharged(server)
  })

  it('every byte in its own write, compressed answers and missing usage change nothing for the caller', async () => {
    const { server, token, upstream } = await programmed([], sharedStage)
    const plain = await ask(server, token.key, chat({ stream: true }))
    for (const program of [{ pieceBytes: 1 }, { gzip: true }, { noUsage: true }] satisfies Program[]) {
      upstream.program(model, program)
      const answer = await ask(server, token.key, chat({ stream: true }))
      expect(words(answer.text)).toBe(words(plain.text))
      expect(answer.text.trimEnd().split('\n\n').at(-1), JSON.stringify(program)).toBe('data: [DONE]')
    }
    const { logs } = await books(server)
    expect(logs.map((row) => row.completion_tokens > 0)).toEqual([true, true, true, true])
    expect(JSON.parse(logs[3]?.other ?? '{}').estimated).toBe(true)
    await requireBalancedBooks(server)
  })

  it("sends the mapped model name upstream and restores the caller's name in the answer", async () => {
    const { server, token, upstream } = await programmed([], ownStage, { models: 'mine', model_mapping: `{"mine":"${model}"}` })
    await setOptions(server, { ModelRatio: '{"mine":1}' })
    const whole = await ask(server, token.key, chat({ model: 'mine' }))
    expect(JSON.parse(whole.text).model).toBe('mine')
    const stream = await ask(server, token.key, chat({ model: 'mine', stream: true }))
    expect(stream.text).not.toContain(model)
    expect(upstream.journal.map((entry) => entry.json.model)).toEqual([model, model])
    const { logs } = await books(server)
    expect(JSON.parse(logs[0]?.other ?? '{}')).toMatchObject({ is_model_mapped: true, upstream_model_name: model })
  })
})

it('a request is refused with 503 before any upstream call when the database is down', async () => {
  const { server, token, upstream } = await programmed([], (url) => stage('postgres', url))
  expect((await ask(server, token.key, chat())).status).toBe(200)
  await server.database.drop()
  const answer = await ask(server, token.key, chat())
  expect(answer.status).toBe(503)
  expect(upstream.journal).toHaveLength(1)
})

function words(stream: string): string {
  return stream
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)).choices?.[0]?.delta?.content ?? '')
    .join('')
}
