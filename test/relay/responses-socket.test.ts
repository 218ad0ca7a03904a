import { connect } from 'node:net'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startServer } from '../helpers/app.ts'
import { anyDatabase, freshDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { fixture, upstreamOfTest } from '../helpers/upstream.ts'
import { caller as connectCaller, type Event } from './realtime-stage.ts'
import { vendor } from './responses-vendor.ts'
import { sharedStages } from './shared-stage.ts'
import { claude, eventually, httpUpstream, model, settledCharges, stage } from './stage.ts'

const caller = (url: string, key: string) => connectCaller(url, key, { path: '/v1/responses' })
const create = (more: Record<string, unknown> = {}): Event => ({
  type: 'response.create',
  model,
  input: 'How is the bread?',
  ...more,
})
const idOf = ({ response }: Event) => (response as { id: string }).id

const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
const usage = { input_tokens: 30, output_tokens: 44, total_tokens: 74 }
const message = (text: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})

/** An upstream that sends the first text and waits until the test continues. */
async function waiting() {
  const asked: { body: Record<string, unknown>; finish(): void; cut(): void; isClosed: boolean }[] = []
  const url = await httpUpstream(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const id = `resp_${asked.length + 1}`
    const one = {
      body: JSON.parse(text),
      finish: () => {
        const done = { id, object: 'response', status: 'completed', model, store: false, output: [message('Rye.')], usage }
        response.end(event('response.completed', { sequence_number: 2, response: done }))
      },
      cut: () => void response.destroy(),
      isClosed: false,
    }
    response.on('close', () => {
      one.isClosed = true
    })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      event('response.created', { sequence_number: 0, response: { id, object: 'response', status: 'in_progress', model } }),
    )
    response.write(event('response.output_text.delta', { sequence_number: 1, item_id: 'msg_1', delta: '黑麦 rye' }))
    asked.push(one)
  })
  return { url, asked }
}

const sharedStage = sharedStages()

anyDatabase('Responses over a WebSocket', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  it('answers several turns of one connection, each charged before its end is sent; a turn continues a response stored upstream', async () => {
    const upstream = await vendor()
    const { server, token, channelId } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.opened()
    const charged: number[] = []
    let previous = ''
    for (let turn = 1; turn <= 3; turn++) {
      client.say(create(previous === '' ? {} : { previous_response_id: previous }))
      const done = await client.hears('response.completed', turn)
      charged.push((await books(server)).logs.length)
      previous = idOf(done)
    }
    expect(charged).toEqual([1, 2, 3])
    expect(client.heard.map(({ type }) => type).slice(0, 3)).toEqual([
      'response.created',
      'response.output_text.delta',
      'response.completed',
    ])
    const bodies = upstream.asked.map(({ body }) => JSON.parse(body))
    expect(bodies.map((body) => [body.previous_response_id, body.stream, body.type])).toEqual([
      [undefined, true, undefined],
      ['resp_1', true, undefined],
      ['resp_2', true, undefined],
    ])
    client.socket.close(1000)

    expect(new Set((await settledCharges(server)).map(({ id }) => id)).size).toBe(3)
    const row = {
      prompt_tokens: 30,
      completion_tokens: 44,
      is_stream: 1,
      channel_id: channelId,
      token_id: token.id,
      model_name: model,
    }
    expect((await books(server)).logs).toMatchObject([row, row, row])
    await requireBalancedBooks(server)
  })

  it('whose caller disconnects in the middle of a turn is charged the partial reply; the upstream is aborted, and queued turns are dropped', async () => {
    const upstream = await waiting()
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.opened()
    client.say(create({ store: false }))
    client.say(create({ store: false }))
    expect(await client.hears('response.output_text.delta')).toMatchObject({ delta: '黑麦 rye' })
    client.socket.terminate()
    expect(await settledCharges(server)).toHaveLength(1)
    const [log] = (await books(server)).logs
    expect(JSON.parse(log?.other ?? '{}')).toMatchObject({ interrupted: 'client', estimated: true })
    await eventually('the upstream is let go', () => upstream.asked[0]?.isClosed === true)
    expect(upstream.asked).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('whose upstream disconnects in the middle of a turn reports it, charges the partial reply, and continues with the next turn', async () => {
    const upstream = await waiting()
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.opened()
    client.say(create({ store: false }))
    await client.hears('response.output_text.delta')
    upstream.asked[0]?.cut()
    await client.hears('error')
    client.say(create({ store: false }))
    await client.hears('response.output_text.delta', 2)
    upstream.asked[1]?.finish()
    await client.hears('response.completed')
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(2)
    const [cut] = (await books(server)).logs
    expect(JSON.parse(cut?.other ?? '{}')).toMatchObject({ interrupted: 'upstream', estimated: true })
    await requireBalancedBooks(server)
  })

  it('stops with the server: the running turn ends and is charged, the caller gets a request to reconnect', async () => {
    const upstream = await waiting()
    const database = await freshDatabase(kind, 'started')
    const server = await startServer(kind, { database })
    await addChannel(server, { url: upstream.url, models: model })
    const token = await addToken(server)
    const [running, idle] = [caller(server.url, token.key), caller(server.url, token.key)]
    await Promise.all([running.opened(), idle.opened()])
    running.say(create({ store: false }))
    await running.hears('response.output_text.delta')
    const stopped = server.stop()
    expect((await idle.closed()).code).toBe(1012)
    running.say(create({ store: false }))
    expect(await running.hears('error')).toMatchObject({ status: 503 })
    upstream.asked[0]?.finish()
    await running.hears('response.completed')
    expect((await running.closed()).code).toBe(1012)
    await stopped
    const { db, close } = await database.open()
    const charges = await db.selectFrom('ledger').select('id').where('kind', '=', 'charge').execute()
    const holds = await db.selectFrom('holds').select('request_id').execute()
    expect([charges.length, holds.length, upstream.asked.length]).toEqual([1, 0, 1])
    await close()
    await database.drop()
  })
})

describe('Responses over a WebSocket', () => {
  it('works with the official SDK', async () => {
    const upstream = await vendor()
    const { server, token } = await sharedStage(upstream.url)
    const { port, hostname } = new URL(server.url)
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1` })
    const socket = new ResponsesWS(client, { createConnection: (() => connect(Number(port), hostname)) as never })
    onTestFinished(() => socket.close())
    const done = new Promise<string>((resolve, reject) => {
      socket.on('response.completed', ({ response }) => resolve(response.id))
      socket.on('error', reject)
    })
    socket.send({ type: 'response.create', model, input: 'How is the bread?' })
    expect(await done).toBe('resp_1')
    socket.close()
    expect(await settledCharges(server)).toHaveLength(1)
  })

  it('continues from an answer that no upstream stores: the whole conversation is sent instead of its id', async () => {
    const upstream = await waiting()
    const { server, token } = await stage('sqlite', upstream.url)
    const client = caller(server.url, token.key)
    await client.opened()
    client.say(create({ store: false, instructions: 'Be brief.' }))
    await client.hears('response.output_text.delta')
    upstream.asked[0]?.finish()
    await client.hears('response.completed')
    const input = [{ type: 'message', role: 'user', content: 'And the butter?' }]
    client.say(create({ store: false, previous_response_id: 'resp_1', input }))
    await client.hears('response.output_text.delta', 2)
    const first = { type: 'message', role: 'user', content: 'How is the bread?' }
    expect(upstream.asked[1]?.body).toEqual({ model, store: false, stream: true, input: [first, message('Rye.'), ...input] })
    upstream.asked[1]?.finish()
    const second = idOf(await client.hears('response.completed', 2))
    client.say(create({ store: false, previous_response_id: second, input: 'Thanks' }))
    await client.hears('response.output_text.delta', 3)
    expect(upstream.asked[2]?.body.input).toHaveLength(5)
    upstream.asked[2]?.finish()
    await client.hears('response.completed', 3)

    // The state of one connection does not exist for another.
    const other = caller(server.url, token.key)
    await other.opened()
    other.say(create({ store: false, previous_response_id: 'resp_1' }))
    expect(await other.hears('error')).toMatchObject({ status: 404, error: { code: 'previous_response_not_found' } })
    for (const { socket } of [client, other]) socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(3)
    await requireBalancedBooks(server)
  })

  it('[157] leaves out past reasoning that is stored nowhere, and keeps encrypted reasoning', async () => {
    const output = [
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'sealed' },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' },
    ]
    const asked: Record<string, unknown>[] = []
    const url = await httpUpstream(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      asked.push(JSON.parse(text))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      // The terminal event has an empty list: the items were sent in earlier events.
      for (const item of output) response.write(event('response.output_item.done', { output_index: 0, item }))
      response.end(event('response.completed', { response: { id: 'resp_1', status: 'completed', model, output: [], usage } }))
    })
    const { server, token } = await sharedStage(url)
    const client = caller(server.url, token.key)
    await client.opened()
    client.say(create({ store: false }))
    await client.hears('response.completed')
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'bread' }
    client.say(create({ store: false, previous_response_id: 'resp_1', input: [result] }))
    await client.hears('response.completed', 2)
    expect(asked[1]?.input).toEqual([expect.objectContaining({ role: 'user' }), output[1], output[2], result])
  })

  it('uses a channel of another format, and continues from its answers', async () => {
    const upstream = await upstreamOfTest()
    upstream.program(claude, { bytes: fixture('anthropic/text.sse') })
    const { server, token } = await sharedStage(upstream.url, { type: 14, models: claude })
    const client = caller(server.url, token.key)
    await client.opened()
    client.say(create({ model: claude }))
    const done = await client.hears('response.completed')
    const text = client.heard.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta)
    expect(text.join('').length).toBeGreaterThan(0)
    client.say(create({ model: claude, previous_response_id: idOf(done), input: 'And the butter?' }))
    await client.hears('response.completed', 2)
    const { messages } = JSON.parse(String(upstream.journal[1]?.body))
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user'])
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('accepts the beginning of a conversation ahead of its first question, without an upstream call or a charge', async () => {
    const upstream = await waiting()
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.opened()
    client.say(create({ generate: false, input: 'You are a baker.' }))
    const warm = await client.hears('response.completed')
    expect(warm).toMatchObject({ response: { status: 'completed', model, output: [], usage: { total_tokens: 0 } } })
    client.say(create({ store: false, previous_response_id: idOf(warm) }))
    await client.hears('response.output_text.delta')
    expect(upstream.asked.map(({ body }) => (body.input as { content: string }[]).map(({ content }) => content))).toEqual([
      ['You are a baker.', 'How is the bread?'],
    ])
    upstream.asked[0]?.finish()
    await client.hears('response.completed', 2)
    client.say(create({ generate: false, model: 'nope' }))
    expect(await client.hears('error')).toMatchObject({ status: 404, error: { code: 'model_not_found' } })
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('answers requests of one stream_id in order and those of several concurrently, and names it in each event', async () => {
    const upstream = await waiting()
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.opened()
    for (const [stream_id, input] of [
      ['a', 'a1'],
      ['a', 'a2'],
      ['b', 'b1'],
    ] as const)
      client.say(create({ stream_id, input, store: false }))
    await client.hears('response.output_text.delta', 2)
    expect(upstream.asked.map(({ body }) => body.input).sort()).toEqual(['a1', 'b1'])
    for (const one of upstream.asked) one.finish()
    await client.hears('response.output_text.delta', 3)
    upstream.asked[2]?.finish()
    await client.hears('response.completed', 3)
    expect(upstream.asked[2]?.body).toEqual({ model, input: 'a2', store: false, stream: true })
    expect(client.heard.map(({ stream_id }) => stream_id).sort()).toEqual([...'aaaaaabbb'])
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(3)
    await requireBalancedBooks(server)
  })

  it('reports an error as an event, and keeps the connection open', async () => {
    const upstream = await vendor()
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.opened()
    const wrong: [string | Event, unknown][] = [
      ['{"type":', { status: 400, error: { code: 'bad_json' } }],
      ['[1]', { status: 400, error: { code: 'bad_json' } }],
      [`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, { status: 400, error: { code: 'bad_json' } }],
      [{ type: 'response.cancel' }, { status: 400, error: { param: 'type' } }],
      [
        create({ background: true, store: false, stream_id: 'x' }),
        { status: 400, error: { param: 'background' }, stream_id: 'x' },
      ],
      [create({ stream_id: 'x'.repeat(300) }), { status: 400, error: { param: 'stream_id' } }],
      [create({ model: 'nope' }), { status: 404, error: { code: 'model_not_found' } }],
      [create({ input: 7 }), { status: 400, error: { param: 'input' } }],
      [create({ previous_response_id: 'resp_404' }), { status: 404, error: { code: 'previous_response_not_found' } }],
    ]
    for (const [at, [said, told]] of wrong.entries()) {
      if (typeof said === 'string') client.socket.send(said)
      else client.say(said)
      expect([said, await client.hears('error', at + 1)]).toEqual([said, expect.objectContaining({ type: 'error' })])
      expect(client.heard.at(-1)).toMatchObject(told as object)
    }
    expect(upstream.asked).toEqual([])
    client.say(create())
    await client.hears('response.completed')
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('returns the input for a response that is in progress, with the reason, and the response continues', async () => {
    const upstream = await waiting()
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.opened()
    client.say(create({ store: false }))
    const id = idOf(await client.hears('response.created'))
    const input = [{ type: 'message', role: 'user', content: 'And the rye?' }]
    const steer = { type: 'response.steer', previous_response_id: id, input }
    client.say(steer)
    expect(await client.hears('response.steer.failed')).toEqual({
      type: 'response.steer.failed',
      sequence_number: 0,
      error: { type: 'invalid_request_error', code: 'steering_not_supported', message: expect.stringContaining('next') },
      steer: { previous_response_id: id, input },
    })
    client.say({ type: 'response.inject', response_id: 'resp_of_others', input })
    expect(await client.hears('response.inject.failed')).toEqual({
      type: 'response.inject.failed',
      sequence_number: 0,
      error: { code: 'response_not_found', message: expect.any(String) },
      response_id: 'resp_of_others',
      input,
    })
    upstream.asked[0]?.finish()
    await client.hears('response.completed')
    client.say(steer)
    client.say({ type: 'response.inject', response_id: id, input })
    const codes = [await client.hears('response.steer.failed', 2), await client.hears('response.inject.failed', 2)]
    expect(codes.map(({ error }) => (error as { code: string }).code)).toEqual(Array(2).fill('response_already_completed'))
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(1)
  })

  it('passes an error of the upstream on with its status and without its secrets', async () => {
    const url = await httpUpstream((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"bad bread","type":"invalid_request_error","param":"input","code":"stale"}}')
    })
    const { server, token } = await sharedStage(url)
    const client = caller(server.url, token.key)
    await client.opened()
    client.say(create())
    expect(await client.hears('error')).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('bad bread'), param: 'input', code: 'stale' },
    })
    client.socket.close(1000)
    expect(await settledCharges(server)).toEqual([])
  })

  it('checks key, balance and limits at every turn', async () => {
    const upstream = await vendor()
    const { server } = await sharedStage(upstream.url)
    expect(await caller(server.url, 'sk-wrong').refused()).toMatchObject({ status: 401 })

    const limited = await addToken(server, { limit_seconds: 60, limit_requests: 1, limit_tokens: 0, limit_concurrency: 0 })
    const many = caller(server.url, limited.key)
    await many.opened()
    many.say(create())
    await many.hears('response.completed')
    many.say(create())
    expect(await many.hears('error')).toMatchObject({ status: 429, error: { code: 'rate_limit_exceeded' } })

    const poor = await addToken(server, { unlimited_quota: false, remain_quota: 1 })
    const broke = caller(server.url, poor.key)
    await broke.opened()
    broke.say(create())
    expect(await broke.hears('error')).toMatchObject({ status: 403, error: { code: 'insufficient_quota' } })

    const token = await addToken(server)
    const client = caller(server.url, token.key)
    await client.opened()
    client.say(create())
    await client.hears('response.completed')
    await server.call('PUT /api/token/?status_only=true', { id: token.id, status: 2 })
    client.say(create())
    expect(await client.hears('error')).toMatchObject({ status: 401 })
    for (const { socket } of [many, broke, client]) socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('can be cancelled over HTTP where the upstream keeps it, and is charged once', async () => {
    const upstream = await vendor()
    const { server, token, ask } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.opened()
    client.say(create())
    const id = idOf(await client.hears('response.completed'))
    const got = await fetch(`${server.url}/v1/responses/${id}`, { headers: { authorization: `Bearer ${token.key}` } })
    expect([got.status, (await got.json()).id]).toEqual([200, id])
    expect((await ask({}, `/v1/responses/${id}/cancel`)).status).toBe(200)
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('is closed for a message beyond the maximum, and for a non-text message', async () => {
    const upstream = await vendor()
    const { server, token } = await sharedStage(upstream.url)
    const large = caller(server.url, token.key)
    await large.opened()
    large.say(create({ input: 'A'.repeat(25 * 1024 * 1024) }))
    expect((await large.closed()).code).toBe(1009)
    const binary = caller(server.url, token.key)
    await binary.opened()
    binary.socket.send(Buffer.from([1, 2, 3]))
    expect(await binary.hears('error')).toMatchObject({ status: 400 })
    expect(upstream.asked).toEqual([])
  })
})
