import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, books, requireBalancedBooks } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { sharedStages } from './shared-stage.ts'
import {
  answerBytes,
  answeringUpstream,
  chat,
  claude,
  completion,
  event,
  httpUpstream,
  model,
  piece,
  settledCharges,
  tcpUpstream,
  upstreamKey,
} from './stage.ts'

const sharedStage = sharedStages()
const retryingStage = sharedStages('sqlite', { RetryTimes: 1 })
const sse = 'text/event-stream'

/** An upstream that always answers with these bytes. */
const replying = async (bytes: string | Buffer, type = 'application/json', headers: Record<string, string> = {}, status = 200) =>
  (await answeringUpstream({ bytes, type, headers, status })).url

const dataOf = (text: string) =>
  text
    .split(/\r?\n\r?\n/)
    .filter((block) => block.startsWith('data: {'))
    .map((block) => JSON.parse(block.slice(6)))

const said = (text: string) =>
  dataOf(text)
    .map((data) => data.choices[0]?.delta?.content ?? '')
    .join('')

describe('an answer in another form than was requested', () => {
  it.each(['application/json', sse, 'text/plain', ''])(
    'one completion instead of a stream reaches the caller as a stream (%s)',
    async (type) => {
      const { server, ask, logs } = await sharedStage(await replying(completion(), type))
      const plain = await ask(chat({ stream: true }))
      expect([plain.status, plain.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
      expect(said(plain.text)).toBe('four five six')
      expect(plain.text).not.toContain('prompt_tokens')
      expect(plain.text.endsWith('data: [DONE]\n\n')).toBe(true)
      expect(dataOf(plain.text).map((data) => data.choices[0].finish_reason)).toEqual([null, 'stop'])

      const counted = await ask(chat({ stream: true, stream_options: { include_usage: true } }))
      expect(dataOf(counted.text).at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 11 } })
      expect((await logs()).map((row) => [row.prompt_tokens, row.completion_tokens])).toEqual([
        [11, 7],
        [11, 7],
      ])
      await requireBalancedBooks(server)
    },
  )

  it('tool calls of one completion become deltas with an index', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{"at":"noon"}' } }
    const body = completion({
      choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }],
    })
    const { ask } = await sharedStage(await replying(body))
    const [first, last] = dataOf((await ask(chat({ stream: true }))).text)
    expect(first.choices[0].delta).toEqual({ role: 'assistant', content: '', tool_calls: [{ index: 0, ...call }] })
    expect(last.choices[0].finish_reason).toBe('tool_calls')
  })

  it('a stream instead of one completion reaches the caller as one completion', async () => {
    const calls = (more: unknown) =>
      event({ id: 'c', created: 1, model, choices: [{ index: 0, delta: { tool_calls: [more] }, finish_reason: null }] })
    const stream = [
      piece('four '),
      piece('five'),
      calls({ index: 0, id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{"at":' } }),
      calls({ index: 1, id: 'call_2', type: 'function', function: { name: 'wind', arguments: '' } }),
      calls({ index: 0, function: { arguments: '"noon"}' } }),
      piece('', 'tool_calls'),
      event({ id: 'c', choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } }),
      event('[DONE]'),
    ].join('')
    const { ask, logs } = await sharedStage(await replying(stream, sse))
    const answer = await ask(chat())
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(JSON.parse(answer.text)).toMatchObject({
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'four five',
            tool_calls: [
              { id: 'call_1', function: { name: 'tide', arguments: '{"at":"noon"}' } },
              { id: 'call_2', function: { name: 'wind', arguments: '' } },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 7 },
    })
    expect((await logs())[0]).toMatchObject({ prompt_tokens: 11, completion_tokens: 7, is_stream: 0 })
  })

  it('a stream that is cut off, or reports an error, does not become a completion', async () => {
    const reported = piece('four ') + event({ error: { message: 'overloaded', type: 'server_error' } })
    for (const [stream, status] of [
      [piece('four '), 502],
      [reported, 503],
    ] as const) {
      const { ask, charged } = await sharedStage(await replying(stream, sse))
      expect((await ask(chat())).status).toBe(status)
      expect(await charged()).toEqual([])
    }
  })

  it('Completions and Messages are converted in both directions', async () => {
    const text = {
      id: 't',
      object: 'text_completion',
      created: 1,
      model,
      choices: [{ index: 0, text: 'four five', finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    }
    const whole = await sharedStage(await replying(JSON.stringify(text)))
    const streamed = await whole.ask({ model, prompt: 'one', stream: true }, '/v1/completions')
    expect(dataOf(streamed.text)).toMatchObject([{ choices: [{ text: 'four five' }] }])
    expect(streamed.text.endsWith('[DONE]\n\n')).toBe(true)
    const events = ['four ', 'five'].map((some) =>
      event({ ...text, usage: null, choices: [{ index: 0, text: some, finish_reason: some === 'five' ? 'stop' : null }] }),
    )
    const gathered = await sharedStage(
      await replying(`${events.join('')}${event({ ...text, choices: [] })}${event('[DONE]')}`, sse),
    )
    expect(JSON.parse((await gathered.ask({ model, prompt: 'one' }, '/v1/completions')).text)).toMatchObject(text)

    const content = [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'four five' },
      { type: 'tool_use', id: 'toolu_1', name: 'tide', input: { at: 'noon' } },
    ]
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: claude,
      content,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 6 },
    }
    const { server, token } = await sharedStage(await replying(JSON.stringify(message)), { type: 14, models: claude })
    const client = new Anthropic({ apiKey: token.key, baseURL: server.url, maxRetries: 0 })
    const asked = { model: claude, max_tokens: 50, messages: [{ role: 'user' as const, content: 'one' }] }
    const stream = client.messages.stream(asked)
    expect(await stream.finalMessage()).toMatchObject({
      content,
      stop_reason: 'tool_use',
      usage: { input_tokens: 9, output_tokens: 6 },
    })

    const raw = await fetch(`${server.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': token.key },
      body: JSON.stringify({ ...asked, stream: true }),
    })
    const turned = await sharedStage(await replying(await raw.text(), sse), { type: 14, models: claude })
    const back = new Anthropic({ apiKey: turned.token.key, baseURL: turned.server.url, maxRetries: 0 })
    expect(await back.messages.create(asked)).toMatchObject(message)
    await requireBalancedBooks(server)
  })
})

describe('an invalid answer', () => {
  it.each([
    ['no list of choices', '{"message":"all fine"}', 'application/json'],
    ['choices that are no list', '{"choices":{"index":0}}', 'application/json'],
    ['an empty stream', '', sse],
    ['a stream of nothing but its end', event('[DONE]'), sse],
    ['comments and the end', ': one\n\n: two\n\ndata: [DONE]\n\n', sse],
    [
      'roles without content',
      event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] }) + event('[DONE]'),
      sse,
    ],
    ['HTML that calls itself a stream', '<html>bad gateway</html>', sse],
    ['plain text', 'error: out of cheese', 'text/plain'],
    ['binary', Buffer.from([0, 159, 146, 150]), 'application/octet-stream'],
  ])('%s is a failure, reported as 502 and free of charge', async (_name, body, type) => {
    const { server, ask, charged } = await sharedStage(await replying(body, type))
    for (const stream of [true, false]) {
      const answer = await ask(chat({ stream }))
      expect([answer.status, JSON.parse(answer.text).error.type]).toEqual([502, 'server_error'])
    }
    expect(await charged()).toEqual([])
    await requireBalancedBooks(server)
  })

  it.each([[204], [205]])('status %i without a body is a failure', async (status) => {
    const { server, ask } = await sharedStage(await httpUpstream((_request, response) => response.writeHead(status).end()))
    expect((await ask(chat())).status).toBe(502)
    expect((await ask(chat({ stream: true }))).status).toBe(502)
    await requireBalancedBooks(server)
  })
})

anyDatabase('impossible usage', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)
  const usages: [string, unknown][] = [
    ['negative', { prompt_tokens: -11, completion_tokens: -7, total_tokens: -18 }],
    ['text', { prompt_tokens: '11', completion_tokens: '7' }],
    ['beyond every number', { prompt_tokens: 1e308, completion_tokens: 7 }],
    ['infinite', '{"prompt_tokens":1e400,"completion_tokens":7}'],
    ['empty', {}],
    ['null', { prompt_tokens: null, completion_tokens: null }],
    ['a list', [1, 2]],
    ['only a total', { total_tokens: 18 }],
  ]

  it('is not trusted: tokens are counted, and the charge is marked as estimated', async () => {
    const upstream = await upstreamOfTest()
    const { server, ask } = await sharedStage(upstream.url)
    for (const [, usage] of usages) {
      const text = typeof usage === 'string' ? usage : JSON.stringify(usage)
      const body = completion().replace(/"usage":\{[^}]*\}/, `"usage":${text}`)
      upstream.program(model, { body })
      expect((await ask(chat())).text).toBe(body)
      upstream.program(model, {
        bytes: `${piece('four five six')}${piece('', 'stop')}data: {"choices":[],"usage":${text}}\n\n${event('[DONE]')}`,
      })
      expect((await ask(chat({ stream: true }))).text).toContain('[DONE]')
    }
    const { logs } = await books(server)
    expect(logs).toHaveLength(2 * usages.length)
    for (const row of logs) {
      expect(JSON.parse(row.other).estimated).toBe(true)
      expect(row.prompt_tokens).toBeGreaterThan(0)
      expect(row.prompt_tokens).toBeLessThan(50)
      expect(row.completion_tokens).toBe(3)
    }
    await requireBalancedBooks(server)
  })

  it('does not end the process when it is in a long stream', async () => {
    const url = await httpUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': sse })
      response.write(
        `data: {"choices":[{"index":0,"delta":{"content":"four"}}],"usage":{"prompt_tokens":1e308,"completion_tokens":1e308}}\n\n`,
      )
      setTimeout(() => response.end(piece('', 'stop') + event('[DONE]')), 6000)
    })
    const { server, ask } = await sharedStage(url)
    expect((await ask(chat({ stream: true }))).text).toContain('[DONE]')
    expect((await books(server)).logs[0]?.completion_tokens).toBe(1)
    await requireBalancedBooks(server)
  })

  it('zeros beside an answer are counted, missing parts are computed from the total, and details cannot make a charge negative', async () => {
    const upstream = await upstreamOfTest()
    const { server, ask } = await sharedStage(upstream.url)
    const used = async (usage: unknown) => {
      upstream.program(model, { body: completion({ usage }) })
      await ask(chat())
      const row = (await books(server)).logs.at(-1)
      return [row?.prompt_tokens, row?.completion_tokens, JSON.parse(row?.other ?? '{}').cache_tokens, (row?.quota ?? -1) >= 0]
    }
    expect(await used({ prompt_tokens: 0, completion_tokens: 0 })).toEqual([11, 3, 0, true])
    expect(await used({ prompt_tokens: 11, total_tokens: 18 })).toEqual([11, 7, 0, true])
    expect(await used({ prompt_tokens: 11, completion_tokens: 7, prompt_tokens_details: { cached_tokens: -5 } })).toEqual([
      11,
      7,
      0,
      true,
    ])
    expect(await used({ prompt_tokens: 11, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 20 } })).toEqual([
      20,
      7,
      20,
      true,
    ])
    expect(await used({ prompt_tokens: 11.5, completion_tokens: 7 })).toEqual([11, 7, 0, true])
    await requireBalancedBooks(server)
  })
})

describe('impossible usage of Messages', () => {
  it('is replaced by the earlier usage, or by a count', async () => {
    const upstream = await upstreamOfTest()
    const { server, ask, logs } = await sharedStage(upstream.url, { type: 14, models: claude })
    const events = (start: unknown, end: unknown) =>
      [
        {
          type: 'message_start',
          message: { id: 'm', type: 'message', role: 'assistant', model: claude, content: [], usage: start },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'four five six' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: end },
        { type: 'message_stop' },
      ]
        .map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
        .join('')
    const used = async (start: unknown, end: unknown) => {
      upstream.program(claude, { bytes: events(start, end) })
      const answer = await ask(
        { model: claude, max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'one' }] },
        '/v1/messages',
      )
      expect(answer.text).toContain('message_stop')
      const row = (await logs()).at(-1)
      return [row?.prompt_tokens, row?.completion_tokens, JSON.parse(row?.other ?? '{}').estimated ?? false]
    }
    expect(await used({ input_tokens: 9, output_tokens: 1 }, { output_tokens: 6 })).toEqual([9, 6, false])
    expect(await used({ input_tokens: 9, output_tokens: 1 }, { output_tokens: 6, input_tokens: null })).toEqual([9, 6, false])
    expect(await used({ input_tokens: 9, output_tokens: 1 }, { output_tokens: -6 })).toEqual([9, 1, false])
    expect((await used({ input_tokens: -9, output_tokens: 1 }, { output_tokens: 6 })).at(2)).toBe(true)
    expect((await used({ input_tokens: 1e300 }, undefined)).at(2)).toBe(true)
    await requireBalancedBooks(server)
  })
})

describe('slightly malformed streams', () => {
  const tail = `${piece('', 'stop')}`
  it.each([
    ['a terminal event with a space behind it', `${piece('four')}${tail}data: [DONE] \n\n`],
    ['a terminal event without its blank line', `${piece('four')}${tail}data: [DONE]`],
    ['a terminal event that is missing', `${piece('four')}${tail}`],
    ['a last event without its blank line and no terminal event', `${piece('four')}${tail}`.trimEnd()],
    ['half an event behind the finish', `${piece('four')}${tail}data: {"usa`],
    ['more behind the terminal event', `${piece('four')}${tail}${event('[DONE]')}${event({ error: { message: 'late' } })}`],
    [
      'finish reasons of "" and "null" before the real one',
      `${piece('four').replace('"finish_reason":null', '"finish_reason":""')}${event({ choices: [{ index: 0, delta: {}, finish_reason: 'null' }] })}${tail}${event('[DONE]')}`,
    ],
    ['a byte order mark at the beginning', `\ufeff${piece('four')}${tail}${event('[DONE]')}`],
    ['line ends of both kinds', `${piece('four').replaceAll('\n', '\r\n')}${tail}${event('[DONE]').replaceAll('\n', '\r\n')}`],
  ])('%s: the caller gets complete events and a valid end, and is charged once', async (_name, stream) => {
    const { server, ask, charged } = await sharedStage(await replying(stream, sse))
    const { text } = await ask(chat({ stream: true }))
    expect(said(text.replace('\ufeff', ''))).toBe('four')
    expect(text).toMatch(/data: \[DONE\]\r?\n\r?\n$/)
    expect(text).not.toContain('"error"')
    expect(text.split(/\r?\n\r?\n/).filter((block) => block !== '')).toHaveLength(dataOf(text.replace('\ufeff', '')).length + 1)
    expect(await charged()).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('half an event at the end of an unfinished stream is not passed on; an error event is sent', async () => {
    const { server, ask } = await sharedStage(await replying(`${piece('four')}data: {"choices":[{"ind`, sse))
    const { text } = await ask(chat({ stream: true }))
    expect(dataOf(text)).toHaveLength(2)
    expect(dataOf(text)[1].error.message).toBeTruthy()
    await requireBalancedBooks(server)
  })

  it.each([
    ['an error object', { error: { message: 'overloaded', type: 'server_error' } }],
    ['an error text', { error: 'overloaded' }],
    ['an event that is an error as a whole', { type: 'error', message: 'overloaded', code: 500 }],
  ])('%s in the middle ends the stream with one error event, charged by the partial reply', async (_name, error) => {
    const { server, ask, logs } = await sharedStage(
      await replying(`${piece('four five ')}${event(error)}${piece('six')}${event('[DONE]')}`, sse),
    )
    const { text } = await ask(chat({ stream: true }))
    expect(text).not.toContain('[DONE]')
    expect(text).not.toContain('six')
    expect(text.trimEnd().split('\n\n').at(-1)).toMatch(/^data: {"error":{"message":".*(overloaded|server error)/)
    expect((await logs())[0]).toMatchObject({ completion_tokens: 3 })
    await requireBalancedBooks(server)
  })

  it('the usage event is hidden from callers that did not request it, in any form, and shown to others', async () => {
    const usage = 'data: {"choices": [], "usage" : {"prompt_tokens": 11, "completion_tokens": 7}}\n\n'
    const { ask, logs } = await sharedStage(await replying(`${piece('four')}${tail}${usage}${event('[DONE]')}`, sse))
    for (const stream_options of [
      undefined,
      null,
      {},
      { include_usage: false },
      { include_usage: null },
      { include_obfuscation: true },
    ]) {
      expect((await ask(chat({ stream: true, stream_options }))).text).not.toContain('prompt_tokens')
    }
    expect((await ask(chat({ stream: true, stream_options: { include_usage: true } }))).text).toContain(usage)
    for (const stream_options of [7, 'yes', [], true])
      expect((await ask(chat({ stream: true, stream_options }))).status).toBe(400)
    const rows = await logs()
    expect(rows.map((row) => row.completion_tokens)).toEqual([7, 7, 7, 7, 7, 7, 7])
  })
})

describe('unusual HTTP answers of an upstream', () => {
  it('informational answers before the real one are skipped', async () => {
    const url = await tcpUpstream((socket) => {
      socket.once('data', () =>
        socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${answerBytes(completion())}`),
      )
    })
    const { ask } = await sharedStage(url)
    expect((await ask(chat())).text).toBe(completion())
  })

  it('an unrequested protocol switch is a failure', async () => {
    const url = await tcpUpstream((socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: foo\r\nconnection: upgrade\r\n\r\nhello'),
      )
    })
    const { server, ask } = await sharedStage(url)
    expect((await ask(chat())).status).toBe(502)
    await requireBalancedBooks(server)
  })

  it('an answer before the request was read is accepted', async () => {
    const url = await tcpUpstream((socket) => {
      socket.once('data', () => {
        socket.pause()
        socket.write(
          answerBytes(
            '{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}',
            {},
            '413 Content Too Large',
          ),
        )
      })
    })
    const { server, ask } = await sharedStage(url)
    const answer = await ask(chat({ messages: [{ role: 'user', content: 'x'.repeat(8_000_000) }] }))
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([400, 'context_length_exceeded'])
    await requireBalancedBooks(server)
  })

  /** Answers the first request of each connection, and calls `then` for the second. */
  async function keeping(then: (socket: Socket) => void) {
    const requests: number[] = []
    const url = await tcpUpstream((socket, connection) => {
      let asked = 0
      socket.on('data', (data) => {
        if (!data.toString().includes('POST')) return
        requests.push(connection)
        if (++asked === 1 && connection < 3) socket.write(answerBytes(completion()))
        else then(socket)
      })
    })
    return { requests, ...(await sharedStage(url)) }
  }

  const chainOf = async (server: TestServer, row: number) => JSON.parse((await books(server)).logs[row]?.other ?? '{}').admin_info

  it('a kept-alive connection that the upstream closes at once is replaced, with an entry in the chain; a new one is not', async () => {
    const { server, ask, requests, channelId } = await keeping((socket) => void socket.destroy())
    expect((await ask(chat())).status).toBe(200)
    expect((await ask(chat())).status).toBe(200)
    expect(requests).toEqual([1, 1, 2])
    expect((await ask(chat())).status).toBe(502)
    expect(requests.filter((connection) => connection === 3)).toHaveLength(1)
    expect(await settledCharges(server)).toHaveLength(2)
    expect((await chainOf(server, 0)).attempts).toBeUndefined()
    expect(await chainOf(server, 1)).toMatchObject({
      use_channel: [String(channelId), String(channelId)],
      attempts: [{ channel: channelId, status: 0, reason: 'kept_connection_closed' }],
    })
    await requireBalancedBooks(server)
  })

  it.each([
    ['a while after it has read the request', (socket: Socket) => void setTimeout(() => socket.destroy(), 300)],
    ['after a part of a status line', (socket: Socket) => void socket.end('HTTP/1.')],
    ['after an interim reply', (socket: Socket) => void socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
  ])('a request on a kept-alive connection that is closed %s is not sent to its upstream again', async (_name, then) => {
    const { server, ask, requests } = await keeping(then)
    expect((await ask(chat())).status).toBe(200)
    expect((await ask(chat())).status).toBe(502)
    expect(requests).toEqual([1, 1])
    expect(await settledCharges(server)).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('interim replies before the answer are neither an answer nor a failure, in one piece and byte by byte', async () => {
    const interim =
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\nx: y\r\n\r\n'
    let inBytes = false
    let connections = 0
    const url = await tcpUpstream((socket, connection) => {
      connections = connection
      socket.setNoDelay()
      socket.on('data', async (data) => {
        if (!data.toString().includes('POST')) return
        const bytes = interim + answerBytes(completion())
        if (!inBytes) return void socket.write(bytes)
        for (const byte of bytes) {
          socket.write(byte)
          await new Promise((resolve) => setImmediate(resolve))
        }
      })
    })
    const { ask, charged } = await sharedStage(url)
    for (inBytes of [false, true, false]) expect((await ask(chat())).text).toBe(completion())
    expect(connections).toBe(1)
    expect(await charged()).toHaveLength(3)
  })

  it.each([
    ['whose body is cut off', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 500\r\n\r\n{"err')],
    [
      'whose body is broken gzip',
      (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope'),
    ],
    ['whose body never ends', (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\ncontent-length: 500\r\n\r\n{"err')],
  ])('an error status %s is reported as that status', async (_name, answer) => {
    const url = await tcpUpstream((socket) => void socket.once('data', () => answer(socket)))
    const { server, ask } = await sharedStage(url, { setting: JSON.stringify({ idle_timeout_ms: 300 }) })
    expect((await ask(chat())).status).toBe(400)
    await requireBalancedBooks(server)
  })

  it('a compressed error is decoded', async () => {
    const { ask } = await sharedStage(
      await replying(
        gzipSync('{"error":{"message":"bad seed","param":"seed"}}'),
        'application/json',
        { 'content-encoding': 'gzip' },
        400,
      ),
    )
    expect(JSON.parse((await ask(chat())).text).error).toMatchObject({ param: 'seed' })
  })

  it.each(['constructor', '__proto__', 'zstd', 'gzip, gzip'])(
    'an answer with content-encoding %s is a failure',
    async (encoding) => {
      const { server, ask } = await sharedStage(
        await replying(gzipSync(completion()), 'application/json', { 'content-encoding': encoding }),
      )
      expect((await ask(chat())).status).toBe(502)
      await requireBalancedBooks(server)
    },
  )

  it('an answer beyond the limit is cut off: whole, streamed, compressed, as one line', async () => {
    const big = Buffer.alloc(70 * 1024 * 1024, 'a')
    const events = Buffer.from(piece('x'.repeat(1024 * 1024 - 200)))
    const cases: [boolean, Buffer | (() => Buffer), Record<string, string>, number | RegExp][] = [
      [false, Buffer.concat([Buffer.from('{"choices":[],"a":"'), big, Buffer.from('"}')]), {}, 502],
      [
        false,
        gzipSync(Buffer.concat([Buffer.from('{"choices":[],"a":"'), big, Buffer.from('"}')])),
        { 'content-encoding': 'gzip' },
        502,
      ],
      [true, Buffer.concat([Buffer.from('data: '), big]), {}, 502],
      [true, Buffer.concat(Array.from({ length: 70 }, () => events)), {}, /is larger than this site accepts/],
    ]
    for (const [stream, body, headers, expected] of cases) {
      const { server, ask } = await sharedStage(await replying(body as Buffer, stream ? sse : 'application/json', headers))
      const answer = await ask(chat({ stream }))
      if (typeof expected === 'number') expect(answer.status).toBe(expected)
      else expect(answer.text.slice(-1000)).toMatch(expected)
      await settledCharges(server)
      await requireBalancedBooks(server)
    }
  })

  it('an account without credit and a redirect fail over to the next channel, and do not count as saturation', async () => {
    const upstream = await upstreamOfTest()
    for (const program of [
      { status: 429, body: { error: { message: 'no credit', type: 'insufficient_quota', code: 'insufficient_quota' } } },
      { redirect: 'http://127.0.0.1:9/' },
    ]) {
      upstream.program(model, program)
      const { server, ask } = await retryingStage(upstream.url, { priority: 9, auto_ban: 0 })
      expect((await ask(chat())).status).toBe('status' in program ? 503 : 502)
      const second = await upstreamOfTest()
      await addChannel(server, { url: second.url, models: model, key: upstreamKey })
      expect((await ask(chat())).status).toBe(200)
      await requireBalancedBooks(server)
    }
  })

  it.each([
    ['7', '7'],
    ['0.2', '1'],
    ['120', '120'],
    [() => new Date(Date.now() + 60_000).toUTCString(), /^([345]\d|60)$/],
    ['-5', null],
    ['soon', null],
  ])('a retry-after of %s is passed on as seconds up to two minutes, or not at all', async (sent, told) => {
    const header = typeof sent === 'string' ? sent : sent()
    const { ask } = await sharedStage(
      await replying('{"error":{"message":"slow down"}}', 'application/json', { 'retry-after': header }, 429),
    )
    const got = (await ask(chat())).headers.get('retry-after')
    if (told instanceof RegExp) expect(got).toMatch(told)
    else expect(got).toBe(told)
  })

  it('a longer wait is told in words, and discourages retries, in every dialect', async () => {
    const requests: readonly [object, string?][] = [
      [chat()],
      [{ model, input: 'hi' }, '/v1/responses'],
      [{ ...chat(), max_tokens: 5 }, '/v1/messages'],
      [{ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }, `/v1beta/models/${model}:generateContent`],
    ]
    for (const request of requests) {
      // The channel pauses after its refusal, so that each request has one of its own.
      const { ask } = await sharedStage(
        await replying('{"error":{"message":"slow down"}}', 'application/json', { 'retry-after': '86400' }, 429),
      )
      const { status, headers, text } = await ask(...request)
      expect([status, headers.get('retry-after'), headers.get('x-should-retry')]).toEqual([429, null, 'false'])
      expect(text).toContain('the wait is about 24 hours')
      expect(text).not.toContain('RetryInfo')
    }
  })

  it('a request tried on several channels is answered with an error that discourages retries', async () => {
    const upstream = await upstreamOfTest()
    upstream.program(model, { status: 500 })
    const { server, ask } = await retryingStage(upstream.url)
    expect((await ask(chat())).headers.get('x-should-retry')).toBeNull()
    await addChannel(server, { url: upstream.url, models: model, key: upstreamKey })
    expect((await ask(chat())).headers.get('x-should-retry')).toBe('false')
  })
})
