import { once } from 'node:events'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { jobNamed } from '../../src/server/watch/jobs/table.ts'
import { type ServerSettings, serverOfTest, type TestServer } from '../helpers/app.ts'
import { newClock } from '../helpers/clock.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { type Program, upstreamOfTest } from '../helpers/upstream.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, ask, chat, completion, eventually, model, requestBytes, running, speak, stage } from './stage.ts'

/** Holds replies of an upstream back until it is opened. */
function gate() {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const whenOpen =
    (program: Program = {}) =>
    async () => {
      await opened
      return program
    }
  return { open: () => open(), whenOpen }
}

async function staged(onStage: (url: string) => ReturnType<typeof stage>) {
  const upstream = await upstreamOfTest()
  const made = await onStage(upstream.url)
  const once = (body: unknown, key: string, path?: string) => made.ask(body, path, { 'idempotency-key': key })
  return { ...made, upstream, once }
}

const storedRows = ({ app }: TestServer, token: { id: number }) =>
  app.db.selectFrom('idempotent_requests').selectAll().where('token_id', '=', token.id).execute()
const code = ({ text }: { text: string }) => JSON.parse(text).error.code

async function charges(server: TestServer): Promise<number> {
  return (await books(server)).ledger.filter((row) => row.kind === 'charge').length
}

eachDatabase('a request with an Idempotency-Key', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)
  const ownStage = (url: string, settings?: ServerSettings) => stage(kind, url, { server: settings })

  it('runs once for 50 parallel callers: one upstream call, one charge, 50 equal replies; later callers get the same', async () => {
    const { server, upstream, once: send } = await staged(sharedStage)
    const { open, whenOpen } = gate()
    upstream.program(model, whenOpen())
    const asking = Array.from({ length: 50 }, () => send(chat(), 'order-1'))
    await eventually('the upstream is asked', () => upstream.journal.length > 0)
    open()
    const answers = [...(await Promise.all(asking)), await send(chat(), 'order-1')]

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(upstream.journal).toHaveLength(1)
    const first = answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)
    expect(first).toHaveLength(1)
    const original = first[0]?.headers.get('x-request-id')
    const replays = answers.filter((answer) => answer !== first[0])
    expect(new Set(replays.map(({ headers }) => headers.get('x-sluice-original-request-id')))).toEqual(new Set([original]))
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(51)
    expect(new Set(answers.map(({ headers }) => headers.get('content-type'))).size).toBe(1)
    expect(await charges(server)).toBe(1)
    await requireBalancedBooks(server)
  })

  it('is replayed byte for byte when it was a stream, and its reply is stored encrypted', async () => {
    const { server, upstream, token, once: send } = await staged(sharedStage)
    const first = await send(chat({ stream: true }), 's')
    const second = await send(chat({ stream: true }), 's')
    expect(first.text).toContain('data: [DONE]')
    expect(second.text).toBe(first.text)
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(upstream.journal).toHaveLength(1)
    const [row] = await storedRows(server, token)
    expect(row).toMatchObject({ state: 'done', status: 200, bytes: Buffer.byteLength(first.text), lease_until: 0 })
    const pieces = await server.app.db.selectFrom('reply_pieces').selectAll().execute()
    const ofReply = pieces.filter(({ request_id: id }) => id === row?.request_id)
    expect(ofReply.length).toBeGreaterThan(0)
    for (const { sealed } of ofReply) expect(sealed).toMatch(/^v1\./)
    expect(JSON.stringify([row, ofReply])).not.toMatch(/You said|"s"/)
    await requireBalancedBooks(server)
  })

  it('is refused with 422 in the dialect of the caller when URL or body differ from those of the first request with the key', async () => {
    const { upstream, once: send } = await staged(sharedStage)
    expect((await send(chat(), 'k')).status).toBe(200)
    const other = await send(chat({ temperature: 0.5 }), 'k')
    expect([other.status, code(other), other.headers.get('x-should-retry')]).toEqual([422, 'idempotency_key_reused', 'false'])
    expect((await send(chat(), 'k', '/v1/chat/completions?beta=true')).status).toBe(422)
    const messages = await send({ ...chat(), max_tokens: 10 }, 'k', '/v1/messages')
    expect([messages.status, JSON.parse(messages.text).error.type]).toEqual([422, 'invalid_request_error'])
    const gemini = await send({ contents: [] }, 'k', `/v1beta/models/${model}:generateContent`)
    expect([gemini.status, JSON.parse(gemini.text).error.code]).toEqual([422, 422])
    expect(upstream.journal).toHaveLength(1)
  })

  it('is refused with 422 while a different request with the key is still running', async () => {
    const { upstream, once: send } = await staged(sharedStage)
    const { open, whenOpen } = gate()
    upstream.program(model, whenOpen())
    const first = send(chat(), 'k')
    await eventually('the upstream is asked', () => upstream.journal.length > 0)
    expect((await send(chat({ n: 2 }), 'k')).status).toBe(422)
    open()
    expect((await first).status).toBe(200)
  })

  it('belongs to one token of one user', async () => {
    const { server, upstream, once: send } = await staged(ownStage)
    const other = await addToken(server)
    const first = await send(chat(), 'k')
    const second = await ask(server, other.key, chat(), undefined, { 'idempotency-key': 'k' })
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, null])
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    const fromSession = await server.raw('POST /pg/chat/completions', chat(), { 'idempotency-key': 'k' })
    expect([fromSession.status, fromSession.headers.get('idempotent-replayed')]).toEqual([200, null])
    expect(upstream.journal).toHaveLength(3)
    expect(await charges(server)).toBe(3)
  })

  it('needs a key of 1 to 255 visible characters', async () => {
    const { upstream, once: send } = await staged(sharedStage)
    expect((await send(chat(), 'x'.repeat(255))).status).toBe(200)
    for (const key of ['', 'x'.repeat(256), 'two words', 'é']) {
      const answer = await send(chat(), key)
      expect([key, answer.status, code(answer)]).toEqual([key, 400, 'idempotency_key_invalid'])
    }
    expect(upstream.journal).toHaveLength(1)
  })

  it('is not counted by limits of requests when it is a replay', async () => {
    const { server, upstream } = await staged(sharedStage)
    const { key } = await addToken(server, { limit_requests: 1, limit_seconds: 3600 })
    const send = (name: string) => ask(server, key, chat(), undefined, { 'idempotency-key': name })
    expect((await send('a')).status).toBe(200)
    expect((await send('a')).status).toBe(200)
    expect((await send('b')).status).toBe(429)
    expect(upstream.journal).toHaveLength(1)
  })

  it.each<[string, Program, number]>([
    ['500', { status: 500 }, 502],
    ['429', { status: 429 }, 429],
    ['an error under 200', { errorIn200: true }, 503],
  ])('runs again after a retryable failure: %s', async (_name, program, status) => {
    const { server, upstream, token, once: send } = await staged(sharedStage)
    upstream.program(model, [program, {}])
    expect((await send(chat(), 'k')).status).toBe(status)
    expect(await storedRows(server, token)).toEqual([])
    const again = await send(chat(), 'k')
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null])
    expect(await charges(server)).toBe(1)
    await requireBalancedBooks(server)
  })

  it('runs again after a refusal for lack of quota, but a mistake of the caller is replayed', async () => {
    const { server, upstream, once: send } = await staged(sharedStage)
    const poor = await addToken(server, { unlimited_quota: false, remain_quota: 1 })
    const refused = await ask(server, poor.key, chat(), undefined, { 'idempotency-key': 'k' })
    expect(refused.status).toBe(403)
    expect(await storedRows(server, poor)).toEqual([])

    const first = await send(chat({ max_tokens: -1 }), 'bad')
    const second = await send(chat({ max_tokens: -1 }), 'bad')
    expect([first.status, second.status, second.text]).toEqual([400, 400, first.text])
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(upstream.journal).toHaveLength(0)
  })

  it('returns the failure of the first caller to all waiting callers, and does not store it', async () => {
    const { server, upstream, token, once: send } = await staged(sharedStage)
    const { open, whenOpen } = gate()
    upstream.program(model, whenOpen({ status: 500 }))
    const asking = Array.from({ length: 10 }, () => send(chat(), 'k'))
    await eventually('the upstream is asked', () => upstream.journal.length > 0)
    await eventually('all wait', async () => (await running(server)) === 10)
    open()
    expect((await Promise.all(asking)).map(({ status }) => status)).toEqual(Array(10).fill(502))
    expect(upstream.journal).toHaveLength(1)
    expect(await storedRows(server, token)).toEqual([])
  })

  it.each(['a whole reply', 'a stream'])('is replayed byte for byte when it has many megabytes: %s', async (form) => {
    const { server, upstream, token, once: send } = await staged(ownStage)
    const words = 'ten bytes '.repeat(300_000)
    const chunk = (choice: object) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, ...choice }] })}\n\n`
    const pieces = Array.from({ length: 300 }, (_, at) =>
      chunk({ delta: { content: words.slice(at * 10_000, (at + 1) * 10_000) } }),
    )
    const events = [...pieces, chunk({ delta: {}, finish_reason: 'stop' }), 'data: [DONE]\n\n']
    const isStream = form === 'a stream'
    upstream.program(
      model,
      isStream ? { bytes: events.join(''), contentType: 'text/event-stream' } : { body: completion({ padding: words }) },
    )
    const answers = [await send(chat({ stream: isStream }), 'large'), await send(chat({ stream: isStream }), 'large')]
    const [first, second] = answers
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(first?.text.length).toBeGreaterThan(words.length)
    expect(second?.text === first?.text).toBe(true)
    expect(second?.headers.get('idempotent-replayed')).toBe('true')
    expect(upstream.journal).toHaveLength(1)
    expect(await charges(server)).toBe(1)
    const [row] = await storedRows(server, token)
    expect(row).toMatchObject({ state: 'done', body_sealed: '', bytes: Buffer.byteLength(first?.text ?? '') })

    // What neither the key nor the stream refers to any more is deleted.
    const stored = () => server.app.db.selectFrom('reply_pieces').select('request_id').execute()
    await server.app.replyPieces.purge()
    expect((await stored()).length).toBeGreaterThan(0)
    for (const table of ['idempotent_requests', 'resumable_replies'] as const) await server.app.db.deleteFrom(table).execute()
    await server.app.replyPieces.purge()
    expect(await stored()).toEqual([])
  })

  it('delivers a reply that is too large to store only once; others get 409 with advice, and no second charge', async () => {
    const { server, upstream, token, once: send } = await staged(ownStage)
    await setOptions(server, { 'idempotency.reply_kilobytes': 1 })
    const { open, whenOpen } = gate()
    upstream.program(model, whenOpen({ body: completion({ padding: 'x'.repeat(2000) }) }))
    const first = send(chat(), 'k')
    await eventually('the upstream is asked', () => upstream.journal.length > 0)
    const waiting = send(chat(), 'k')
    await eventually('both are open', async () => (await running(server)) === 2)
    open()
    const answers = [await first, await waiting, await send(chat(), 'k')]
    expect(answers.map(({ status }) => status)).toEqual([200, 409, 409])
    expect(answers[0]?.text.length).toBeGreaterThan(2000)
    expect(answers.slice(1).map(code)).toEqual(Array(2).fill('idempotency_reply_unavailable'))
    expect(answers[1]?.headers.get('x-should-retry')).toBe('false')
    expect(upstream.journal).toHaveLength(1)
    expect(await charges(server)).toBe(1)
    expect(await storedRows(server, token)).toMatchObject([{ state: 'unavailable', body_sealed: '', bytes: 0 }])
    await requireBalancedBooks(server)
  })

  it('stores no more than the limit of the site, and deletes the oldest replies first', async () => {
    const clock = newClock()
    const { server, upstream, token, once: send } = await staged((url) => ownStage(url, { now: () => clock.now() }))
    await setOptions(server, { 'idempotency.site_megabytes': 1 })
    upstream.program(model, { body: completion({ padding: 'x'.repeat(200_000) }) })
    for (let count = 0; count < 8; count++) {
      clock.passSeconds(1)
      expect((await send(chat(), `k${count}`)).status).toBe(200)
    }
    await server.app.idempotentRequests.purge()
    const rows = await storedRows(server, token)
    expect(rows.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(1024 * 1024)
    expect(rows.length).toBeGreaterThanOrEqual(4)
    expect((await send(chat(), 'k7')).headers.get('idempotent-replayed')).toBe('true')
    expect((await send(chat(), 'k0')).headers.get('idempotent-replayed')).toBeNull()
  })

  it('is forgotten after the hours for which the site stores keys', async () => {
    const clock = newClock()
    const { server, upstream, token, once: send } = await staged((url) => ownStage(url, { now: () => clock.now() }))
    await send(chat(), 'k')
    clock.passSeconds(24 * 3600 - 10)
    expect((await send(chat(), 'k')).headers.get('idempotent-replayed')).toBe('true')
    clock.passSeconds(11)
    expect((await send(chat({ n: 2 }), 'k')).headers.get('idempotent-replayed')).toBeNull()
    expect(upstream.journal).toHaveLength(2)
    clock.passSeconds(24 * 3600 + 1)
    await jobNamed('purge-idempotent-requests').run(server.app, new AbortController().signal, () => {})
    expect(await storedRows(server, token)).toEqual([])
  })

  it('runs to its end when its caller leaves before the reply begins, and a retry gets that reply, charged once', async () => {
    const { server, upstream, token, once: send } = await staged(sharedStage)
    const { open, whenOpen } = gate()
    upstream.program(model, whenOpen())
    const left = speak(server, requestBytes(token.key, JSON.stringify(chat()), { 'idempotency-key': 'k' }))
    await eventually('the upstream is asked', () => upstream.journal.length > 0)
    left.socket.destroy()
    await once(left.socket, 'close')
    open()
    const answer = await send(chat(), 'k')
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(answer.text).toContain('You said')
    expect(upstream.journal).toHaveLength(1)
    const { logs } = await books(server)
    expect(logs.map(({ other }) => JSON.parse(other).interrupted)).toEqual([undefined])
    await requireBalancedBooks(server)
  })

  it('is charged as interrupted when its caller disconnects in the middle of a stream under a key that an SDK made up; a retry runs again', async () => {
    const { server, upstream, token, once: send } = await staged(sharedStage)
    upstream.program(model, [{ stallAfterEvents: 2 }, {}])
    const key = 'stainless-node-retry-5'
    const body = JSON.stringify(chat({ stream: true }))
    const left = speak(server, requestBytes(token.key, body, { 'idempotency-key': key }))
    await left.until((text) => text.includes('data:'))
    left.socket.destroy()
    await eventually('it is charged', async () => (await charges(server)) === 1)
    const again = await send(chat({ stream: true }), key)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null])
    expect(again.text).toContain('[DONE]')
    const { logs } = await books(server)
    expect(logs.map(({ other }) => JSON.parse(other).interrupted)).toEqual(['client', undefined])
    await requireBalancedBooks(server)
  })

  it('is not stored while the option is off, nor is a request without a key', async () => {
    const { server, upstream, token, once: send, ask: plain } = await staged(ownStage)
    await plain(chat())
    expect(await storedRows(server, token)).toEqual([])
    await setOptions(server, { 'idempotency.enabled': false })
    await send(chat(), 'k')
    expect((await send(chat(), 'k')).headers.get('idempotent-replayed')).toBeNull()
    expect(await storedRows(server, token)).toEqual([])
    expect(upstream.journal).toHaveLength(3)
  })

  it('of a node that died runs again when nothing was charged, and is refused when it was', async () => {
    const { server, upstream, token, once: send } = await staged(sharedStage)
    const { db } = server.app
    const asDead = { state: 'running', node: 'dead', lease_until: 1, body_sealed: '', status: 0, bytes: 0 }
    await send(chat(), 'k')
    await db.updateTable('idempotent_requests').set(asDead).where('token_id', '=', token.id).execute()
    const charged = await send(chat(), 'k')
    expect([charged.status, code(charged)]).toEqual([409, 'idempotency_reply_unavailable'])
    expect(upstream.journal).toHaveLength(1)

    await db
      .updateTable('idempotent_requests')
      .set({ ...asDead, request_id: 'never-charged' })
      .where('token_id', '=', token.id)
      .execute()
    const again = await Promise.all([send(chat(), 'k'), send(chat(), 'k')])
    expect(again.map(({ status }) => status)).toEqual([200, 200])
    expect(upstream.journal).toHaveLength(2)
    expect(await charges(server)).toBe(2)
  })

  it('of the official SDK is replayed for the same key and charged once', async () => {
    const { server, upstream, token } = await staged(sharedStage)
    class Client extends OpenAI {
      protected override idempotencyHeader = 'Idempotency-Key'
    }
    const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const create = () =>
      client.chat.completions.create({ model, messages: [{ role: 'user', content: 'hello' }] }, { idempotencyKey: 'order-7' })
    expect(await create()).toEqual(await create())
    expect(upstream.journal).toHaveLength(1)
    expect(await charges(server)).toBe(1)
  })
})

describe('every POST of the relay', () => {
  const sharedStage = sharedStages()
  const text = (value: string) => ({ type: 'application/json', body: Buffer.from(value) })
  const json = (value: unknown) => text(JSON.stringify(value))
  const replies: readonly (readonly [end: string, reply: { type: string; body: Buffer }])[] = [
    ['/chat/completions', text(completion())],
    [
      '/completions',
      json({ object: 'text_completion', choices: [{ index: 0, text: 'x' }], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
    ],
    [
      '/responses',
      json({
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        output: [],
        usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      }),
    ],
    [
      '/embeddings',
      json({ object: 'list', data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 2, total_tokens: 2 } }),
    ],
    ['/images/generations', json({ created: 1, data: [{ b64_json: 'AAAA' }] })],
    ['/audio/speech', { type: 'audio/mpeg', body: Buffer.from(Array.from({ length: 5000 }, (_, at) => at % 256)) }],
    ['/audio/transcriptions', json({ text: 'four five' })],
    ['/moderations', json({ id: 'm', results: [{ flagged: false }] })],
    ['/rerank', json({ results: [{ index: 0, relevance_score: 0.5 }], usage: { total_tokens: 4 } })],
  ]
  const user = { role: 'user', content: 'one two' }
  const calls: readonly (readonly [path: string, body: object])[] = [
    ['/v1/chat/completions', { model, messages: [user] }],
    ['/v1/completions', { model, prompt: 'one two' }],
    ['/v1/responses', { model, input: 'one two' }],
    ['/v1/messages', { model, max_tokens: 20, messages: [user] }],
    ['/v1/messages/count_tokens', { model, messages: [user] }],
    [`/v1beta/models/${model}:generateContent`, { contents: [{ role: 'user', parts: [{ text: 'one two' }] }] }],
    ['/v1beta/interactions', { model, input: 'one two' }],
    [`/v1/engines/${model}/embeddings`, { input: 'one' }],
    ['/v1/embeddings', { model, input: 'one two' }],
    ['/v1/images/generations', { model, prompt: 'a sluice' }],
    ['/v1/audio/speech', { model, voice: 'alloy', input: 'one two' }],
    ['/v1/moderations', { model, input: 'one two' }],
    ['/v1/rerank', { model, query: 'one', documents: ['two'] }],
  ]

  async function vendor() {
    const { url, heard } = await answeringUpstream(({ path }) => {
      const [, reply] = replies.find(([end]) => path.endsWith(end)) ?? ['', json({})]
      return { bytes: reply.body, type: reply.type }
    })
    return { ...(await sharedStage(url)), heard }
  }

  it('honours the key: a repeat gets the same bytes, is not charged, and calls no upstream', async () => {
    const { server, heard, token } = await vendor()
    for (const [path, body] of calls) {
      const send = async () => {
        const headers = { authorization: `Bearer ${token.key}`, 'content-type': 'application/json', 'idempotency-key': path }
        const answer = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
        return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
      }
      const first = await send()
      expect([path, first.answer.status, first.bytes.toString('latin1', 0, 200)]).toEqual([path, 200, expect.anything()])
      const before = [heard.length, await charges(server)]
      const second = await send()
      expect([path, second.answer.status, second.bytes.equals(first.bytes)]).toEqual([path, 200, true])
      expect([path, second.answer.headers.get('idempotent-replayed')]).toEqual([path, 'true'])
      expect([path, second.answer.headers.get('content-type')]).toEqual([path, first.answer.headers.get('content-type')])
      expect([heard.length, await charges(server)]).toEqual(before)
    }
    await requireBalancedBooks(server)
  })

  it('compares forms by their fields and files, not by their boundary', async () => {
    const { server, heard, token } = await vendor()
    const send = async (bytes: string) => {
      const form = new FormData()
      form.set('model', model)
      form.set('file', new File([bytes], 'a.wav', { type: 'audio/wav' }))
      const headers = { authorization: `Bearer ${token.key}`, 'idempotency-key': 'recording' }
      const answer = await fetch(`${server.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
      return [answer.status, answer.headers.get('idempotent-replayed'), (await answer.text()).includes('four five')]
    }
    expect(await send('RIFF1')).toEqual([200, null, true])
    expect(await send('RIFF1')).toEqual([200, 'true', true])
    expect(await send('RIFF2')).toEqual([422, null, false])
    expect(heard).toHaveLength(1)
    expect(await charges(server)).toBe(1)
  })
})

describe('a request with an Idempotency-Key on two nodes', () => {
  it('runs once for 50 parallel callers of both: one upstream call, one charge, 50 equal replies', async () => {
    const { server: a, upstream, token } = await staged((url) => stage('postgres', url))
    const b = await serverOfTest('postgres', { database: a.database })
    const { open, whenOpen } = gate()
    upstream.program(model, whenOpen())
    const asking = Array.from({ length: 50 }, (_, at) =>
      ask(at % 2 === 0 ? a : b, token.key, chat(), undefined, { 'idempotency-key': 'k' }),
    )
    await eventually('the upstream is asked', () => upstream.journal.length > 0)
    open()
    const answers = await Promise.all(asking)
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(upstream.journal).toHaveLength(1)
    expect(await charges(a)).toBe(1)
    await requireBalancedBooks(a)
  })

  it('is taken over from a node with an expired lease, by one of the waiting callers', async () => {
    const { server: a, upstream, token } = await staged((url) => stage('postgres', url))
    const b = await serverOfTest('postgres', { database: a.database })
    const { open, whenOpen } = gate()
    upstream.program(model, [whenOpen({ hangUp: true }) as never, {}])
    const send = (node: TestServer) => ask(node, token.key, chat(), undefined, { 'idempotency-key': 'k' })
    const first = send(a)
    await eventually('the upstream is asked', () => upstream.journal.length > 0)
    await a.app.db.updateTable('idempotent_requests').set({ lease_until: 1 }).execute()
    const second = await send(b)
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, null])
    open()
    await first
    // The first request has lost the key, so its end does not change the stored reply.
    expect((await send(b)).headers.get('idempotent-replayed')).toBe('true')
  })
})

describe('headers of OpenAI requests upstream', () => {
  const sent = {
    'idempotency-key': 'k',
    'x-client-request-id': 'trace-1',
    'openai-organization': 'org-of-caller',
    'openai-project': 'proj-of-caller',
  }

  it("include one idempotency key per token and body, the same for each attempt, and the client's id", async () => {
    const { server, upstream, ask: send } = await staged((url) => stage('sqlite', url))
    const other = await addToken(server)
    upstream.program(model, [{ status: 500 }, {}])
    await send(chat(), undefined, sent)
    await send(chat(), undefined, sent)
    await send(chat(), undefined, { ...sent, 'idempotency-key': 'other' })
    await ask(server, other.key, chat(), undefined, sent)
    await send(chat())
    const keys = upstream.journal.map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(keys[1]).toBe(keys[0])
    expect(new Set(keys.slice(1, 4)).size).toBe(3)
    expect(keys[4]).toBeUndefined()
    expect(upstream.journal[0]?.headers['x-client-request-id']).toBe('trace-1')
    expect(upstream.journal[0]?.headers).toMatchObject({
      'openai-organization': 'org-of-caller',
      'openai-project': 'proj-of-caller',
    })
  })
})
