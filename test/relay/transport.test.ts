import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import { listening } from '../helpers/listening.ts'
import { scaledByLoad } from '../helpers/scaled-by-load.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { type Client, clients, type Understood } from './clients.ts'
import { completion, eventually, settledCharges } from './stage.ts'

/**
 * Streams from one Chat upstream to callers of every dialect: passed through to Chat, translated to the others. Numbers are those of
 * the list of edge cases.
 */
const model = 'gpt-4o-mini'
const said = 'Die Flut 🌊 ist hoch – 潮!'
const pieces = ['Die Flut ', '🌊', ' ist hoch', ' – 潮!']
const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  ...more,
})
const chunks = [
  chunk({ role: 'assistant', content: '' }),
  ...pieces.map((content) => chunk({ content })),
  chunk({}, 'stop'),
  chunk({}, null, { choices: [], usage }),
]
const event = (data: unknown, end = '\n\n') => `data: ${JSON.stringify(data)}${end}`
const done = 'data: [DONE]\n\n'
const wholeStream = chunks.map((data) => event(data)).join('') + done

type Answer = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>
const upstream = { answer: (() => {}) as Answer, asked: 0 }
const spare = { answer: (() => {}) as Answer, asked: 0 }
const servers: Server[] = []
const ask = { url: '', key: '' }
let server: TestServer

beforeAll(async () => {
  const urls = [await listen(upstream), await listen(spare)]
  server = await startServer('sqlite')
  ask.url = server.url
  ask.key = (await addToken(server)).key
  // Channels of type 40 only have Chat.
  await addChannel(server, { url: urls[0] ?? '', type: 40, models: model })
  // A channel that was too busy is skipped for a while: every dialect has its own.
  for (const models of Object.keys(requests).flatMap((dialect) => [`busy-${dialect}`, `late-${dialect}`])) {
    await addChannel(server, { url: urls[0] ?? '', type: 40, models, priority: 9 })
    await addChannel(server, { url: urls[1] ?? '', type: 40, models })
  }
  await setOptions(server, { RetryTimes: 1, SelfUseModeEnabled: true })
})
afterEach(() => settledCharges(server))
afterAll(async () => {
  await requireBalancedBooks(server)
  await server.stop()
  for (const one of servers) one.closeAllConnections()
})

async function listen(target: { answer: Answer; asked: number }): Promise<string> {
  const one = createServer(async (request, response) => {
    target.asked++
    request.resume()
    await target.answer(response, request)
  })
  servers.push(one.unref())
  return listening(one)
}

/** An answer with these bytes, each in a separate write. */
const replying =
  (bytes: string | Buffer, { type = 'text/event-stream', size = Number.POSITIVE_INFINITY, headers = {} } = {}): Answer =>
  async (response) => {
    const all = Buffer.from(bytes)
    response.socket?.setNoDelay(true)
    response.writeHead(200, { 'content-type': type, ...headers })
    for (let at = 0; at < all.length; at += size) {
      response.write(all.subarray(at, Math.min(all.length, at + size)))
      if (size < 100) await new Promise(setImmediate)
    }
    response.end()
  }

const read = (name: string, named = model): Promise<Understood> => {
  const client: Client | undefined = clients[name]
  return client ? client({ ...ask, model: named }) : Promise.reject(new Error(`${name} is not there`))
}

/** Asserts that every client parsed the same content. */
async function understoodByAll(): Promise<void> {
  for (const name of Object.keys(clients)) {
    expect([name, await read(name)]).toEqual([
      name,
      { text: said, reasoning: '', calls: [], usage: { input: 11, output: 7, cached: 0 } },
    ])
  }
}

/** A request in each dialect, by hand. */
const requests: Readonly<Record<string, (stream: boolean, named?: string) => { path: string; body: object }>> = {
  chat: (stream, named = model) => ({
    path: '/v1/chat/completions',
    body: { model: named, stream, messages: [{ role: 'user', content: 'x' }] },
  }),
  responses: (stream, named = model) => ({ path: '/v1/responses', body: { model: named, stream, input: 'x' } }),
  messages: (stream, named = model) => ({
    path: '/v1/messages',
    body: { model: named, stream, max_tokens: 50, messages: [{ role: 'user', content: 'x' }] },
  }),
  gemini: (stream, named = model) => ({
    path: `/v1beta/models/${named}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
  }),
}

async function post(dialect: string, stream: boolean, { named = model, signal }: { named?: string; signal?: AbortSignal } = {}) {
  const { path, body } = requests[dialect]?.(stream, named) ?? { path: '/', body: {} }
  return fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${ask.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  })
}

async function raw(dialect: string, stream: boolean, named = model) {
  const response = await post(dialect, stream, { named })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function lastLog() {
  await settledCharges(server)
  const row = (await books(server)).logs.at(-1)
  return { ...row, other: JSON.parse(row?.other ?? '{}') as Record<string, unknown> }
}

describe('a stream is the same for every caller', () => {
  it.each<[string, string | Buffer, number?]>([
    ['[1] with one byte in each segment', wholeStream, 1],
    ['[2] with CRLF', wholeStream.replaceAll('\n', '\r\n')],
    ['[2] with CR', wholeStream.replaceAll('\n', '\r')],
    [
      '[2] with line ends of all kinds',
      chunks.map((data, at) => event(data, ['\n\n', '\r\n\r\n', '\r\r', '\n\r\n'][at % 4])).join('') + done,
      3,
    ],
    ['[3] without a space behind the colon', wholeStream.replaceAll('data: {', 'data:{')],
    [
      '[4] with data in several lines',
      chunks.map((data) => `data: ${JSON.stringify(data, null, 1).replaceAll('\n', '\ndata: ')}\n\n`).join('') + done,
    ],
    [
      '[5] with comments between the events',
      `: OPENROUTER PROCESSING\n\n${wholeStream.replaceAll('\n\ndata', '\n\n: busy\n\ndata')}`,
    ],
    ['[6] with empty events', wholeStream.replaceAll('\n\ndata: {', '\n\nevent: ping\ndata: \n\ndata: {')],
    ['[7] behind a byte order mark', `\ufeff${wholeStream}`],
    ['[8] without a blank line at the end', wholeStream.trimEnd()],
    ['[9] with a space behind the last word', wholeStream.replace('[DONE]', '[DONE] ')],
    ['[9] with a CR behind the last word', wholeStream.replace('[DONE]', '[DONE]\r')],
    ['[10] with more behind the last word', `${wholeStream}${event(chunk({ content: 'more' }))}`],
    ['[11] without the last word', wholeStream.replace(done, '')],
    ['[16] out of one completion', completion({ choices: wholeChoice() })],
  ])('%s', async (_, bytes, size = Number.POSITIVE_INFINITY) => {
    const type = String(bytes).startsWith('{') ? 'application/json' : 'text/event-stream'
    upstream.answer = replying(bytes, { size, type })
    await understoodByAll()
  })

  it('[18] compressed although plain bytes were requested: decoded once, and not labelled as compressed', async () => {
    upstream.answer = async (response, request) => {
      expect(request.headers['accept-encoding']).toBe('identity')
      await replying(gzipSync(wholeStream), { headers: { 'content-encoding': 'gzip' }, size: 50 })(response, request)
    }
    await understoodByAll()
    const { headers } = await raw('chat', true)
    expect([headers.get('content-encoding'), headers.get('content-length')]).toEqual([null, null])
  })

  it.each(Object.keys(requests))(
    '[9] [11] ends for %s with the terminal event of the dialect, however the upstream ends',
    async (dialect) => {
      const ends: Readonly<Record<string, RegExp>> = {
        chat: /\ndata: \[DONE\]\n\n$/,
        responses: /event: response\.completed\ndata: [^\n]+\n\n$/,
        messages: /event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
        gemini: /"finishReason":"STOP"[^\n]+\r\n\r\n$/,
      }
      for (const bytes of [wholeStream, wholeStream.replace('[DONE]', '[DONE] '), wholeStream.replace(done, '')]) {
        upstream.answer = replying(bytes)
        const { text } = await raw(dialect, true)
        expect(text).toMatch(ends[dialect] ?? /$^/)
        expect(text.match(/\[DONE\]|response\.completed\n|message_stop\n|"finishReason"/g)).toHaveLength(1)
      }
    },
  )

  it.each(Object.keys(requests))("[5] [6] hides an upstream's heartbeats from %s", async (dialect) => {
    upstream.answer = replying(
      wholeStream.replaceAll('\n\ndata: {', '\n\n: OPENROUTER PROCESSING\n\nevent: ping\ndata: \n\ndata: {'),
    )
    const { text } = await raw(dialect, true)
    // A comment is not an event for clients of Chat, whose stream passes unchanged.
    if (dialect !== 'chat') expect(text).not.toContain('OPENROUTER')
    expect(text.match(/^data: ?$/m)).toBeNull()
  })
})

function wholeChoice() {
  return [{ index: 0, message: { role: 'assistant', content: said, refusal: null }, logprobs: null, finish_reason: 'stop' }]
}

describe.each(Object.keys(requests))('an answer to %s', (dialect) => {
  const textIn = (text: string): string => JSON.stringify(JSON.parse(text))

  it('[15] is one JSON body even when the upstream streams it', async () => {
    upstream.answer = replying(wholeStream)
    const { status, headers, text } = await raw(dialect, false)
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('application/json')])
    expect(textIn(text)).toContain(said)
  })

  it('[12] that is cut off ends with an error after its output, is charged and recorded', async () => {
    upstream.answer = replying(
      chunks
        .slice(0, 4)
        .map((data) => event(data))
        .join(''),
    )
    const { status, text } = await raw(dialect, true)
    expect(status).toBe(200)
    expect(text).toContain('Die Flut')
    expect(lastEvent(text)).toMatchObject(errorOf(dialect))
    expect((await lastLog()).other).toMatchObject({ interrupted: 'upstream', estimated: true })
  })

  it.each([
    ['[13] of no events', '', 'text/event-stream'],
    ['[13] of comments alone', ': OPENROUTER PROCESSING\n\n', 'text/event-stream'],
    ['[14] that is an error under a status of success', '{"error":{"message":"no credits","code":502}}', 'application/json'],
    [
      '[14] that is an error in the stream, before anything else',
      event({ error: { message: 'no credits', code: 502 } }),
      'text/event-stream',
    ],
  ])('%s is an HTTP error, and costs nothing', async (_, bytes, type) => {
    upstream.answer = replying(bytes, { type })
    const before = (await books(server)).logs.length
    const { status, headers } = await raw(dialect, true)
    expect([status, headers.get('content-type')]).toEqual([502, expect.stringContaining('application/json')])
    expect((await books(server)).logs.length).toBe(before)
  })

  it('[17] with a line of twelve megabytes passes', async () => {
    const long = 'x'.repeat(12_000_000)
    upstream.answer = replying(event(chunk({ content: long })) + event(chunk({}, 'stop')) + done, { size: 500_000 })
    const { text } = await raw(dialect, true)
    expect(text.length).toBeGreaterThan(12_000_000)
    expect(text.includes(long)).toBe(true)
  })

  it('[20] of which the caller reads only the beginning is aborted within a second, charged once, and requested once', async () => {
    let isClosed = false
    upstream.answer = async (response) => {
      response.once('close', () => {
        isClosed = true
      })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const data of chunks.slice(0, 4)) response.write(event(data))
    }
    const [asked, rows] = [upstream.asked, (await books(server)).logs.length]
    const leaving = new AbortController()
    const response = await post(dialect, true, { signal: leaving.signal })
    await response.body?.getReader().read()
    const leftMs = Date.now()
    leaving.abort()
    await eventually('the upstream is let go', () => isClosed)
    expect(Date.now() - leftMs).toBeLessThan(scaledByLoad(1000))
    expect((await lastLog()).other).toMatchObject({ interrupted: 'client', estimated: true })
    expect([upstream.asked - asked, (await books(server)).logs.length - rows]).toEqual([1, 1])
  })

  it('[24] that fails in the middle ends with an error of the dialect, and nothing after it', async () => {
    const error = { error: { message: 'overloaded', type: 'server_error', code: 'overloaded' } }
    upstream.answer = replying(
      chunks
        .slice(0, 3)
        .map((data) => event(data))
        .join('') +
        event(error) +
        wholeStream,
    )
    const { text } = await raw(dialect, true)
    expect(text).toContain('Die Flut')
    expect(lastEvent(text)).toMatchObject(errorOf(dialect))
    expect(text).not.toContain('ist hoch')
    expect(text).not.toContain('[DONE]')
  })

  it('[26] refused by a busy channel is served by another; the caller does not notice', async () => {
    upstream.answer = (response) => void response.writeHead(429, { 'retry-after': '30' }).end('{"error":{"message":"slow down"}}')
    spare.answer = replying(wholeStream)
    const before = [upstream.asked, spare.asked]
    const { status, text } = await raw(dialect, true, `busy-${dialect}`)
    expect([status, upstream.asked, spare.asked]).toEqual([200, ...before.map((count) => count + 1)])
    expect(text).toContain('ist hoch')
  })

  it('[27] that is refused after its first output is not sent to another channel', async () => {
    const busy = { error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' } }
    upstream.answer = replying(
      chunks
        .slice(0, 3)
        .map((data) => event(data))
        .join('') + event(busy),
    )
    const before = spare.asked
    const { text } = await raw(dialect, true, `late-${dialect}`)
    expect(lastEvent(text)).toMatchObject(errorOf(dialect))
    expect(spare.asked - before).toBe(0)
  })
})

/** The data of the last event. */
function lastEvent(text: string): unknown {
  const [last = ''] = text
    .trimEnd()
    .split(/\r?\n\r?\n/)
    .slice(-1)
  return JSON.parse(last.replace(/^(event:.*\n)?data: ?/, ''))
}

function errorOf(dialect: string): object {
  const message = expect.any(String)
  switch (dialect) {
    case 'messages':
      return { type: 'error', error: { type: expect.any(String), message } }
    case 'responses':
      return { type: 'response.failed', response: { status: 'failed', error: { code: expect.any(String), message } } }
    case 'gemini':
      return { error: { code: expect.any(Number), message, status: expect.any(String) } }
    default:
      return { error: { message, type: expect.any(String) } }
  }
}
