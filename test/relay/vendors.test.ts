import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { eventsIn } from '../../src/server/base/lib/bytes/sse.ts'
import { listeningInTest } from '../helpers/listening.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, chat, type Heard, model } from './stage.ts'

const sharedStage = sharedStages()

type Reply = { body: string | object; type?: string; status?: number }

/** An upstream that records its requests and answers in chunks that split every frame. */
async function upstream(answerTo: (asked: Heard, number: number) => Reply) {
  const { url, heard: asked } = await answeringUpstream((one, number) => {
    const { body, ...more } = answerTo(one, number)
    return typeof body === 'string'
      ? { bytes: body, type: 'text/event-stream', size: 41, ...more }
      : { json: body, size: 41, ...more }
  })
  return { url, asked }
}

const fixture = (path: string) => readFileSync(new URL(`../../src/server/gateway/protocols/${path}`, import.meta.url), 'utf8')
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const eventsOf = (text: string) => eventsIn(Buffer.from(text).toString('latin1'))
const saidIn = (text: string) =>
  eventsOf(text)
    .filter(({ data }) => data.startsWith('{'))
    .map(({ data }) => JSON.parse(data).choices?.[0]?.delta?.content ?? '')
    .join('')
const mapped = (upstreamModel: string) => JSON.stringify({ [model]: upstreamModel })

describe('a channel of Ollama', () => {
  it('converts its lines of JSON to events for a caller of Messages', async () => {
    const { url, asked } = await upstream(() => ({
      body: fixture('ollama-chat/fixtures/tools_thinking.ndjson'),
      type: 'application/x-ndjson',
    }))
    const { server, ask, charged } = await sharedStage(url, { type: 4, key: 'none' })
    const tools = [{ name: 'get_tide', input_schema: { type: 'object', properties: {} } }]
    const body = { model, max_tokens: 50, stream: true, tools, messages: [{ role: 'user', content: 'Tide?' }] }
    const answer = await ask(body, '/v1/messages')

    const events = eventsOf(answer.text).map(({ data }) => JSON.parse(data))
    expect(events.at(-1)).toEqual({ type: 'message_stop' })
    expect(events.filter(({ type }) => type === 'content_block_start').map((start) => start.content_block.type)).toEqual([
      'thinking',
      'tool_use',
    ])
    expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { input_tokens: 18, output_tokens: 7 },
    })
    expect(asked[0]).toMatchObject({ path: '/api/chat', body: { model, stream: true, options: { num_predict: 50 } } })
    expect(await charged()).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('passes requests of a Chat caller through', async () => {
    const reply = {
      id: 'c',
      object: 'chat.completion',
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    }
    const { url, asked } = await upstream(() => ({ body: reply }))
    const { ask } = await sharedStage(url, { type: 4, key: 'none' })
    expect(JSON.parse((await ask(chat())).text)).toEqual(reply)
    expect(asked[0]?.path).toBe('/v1/chat/completions')
  })

  it('[249] reports an error in the middle of its lines', async () => {
    const { url } = await upstream(() => ({
      body: fixture('ollama-chat/fixtures/error_midstream.ndjson'),
      type: 'application/x-ndjson',
    }))
    const { ask } = await sharedStage(url, { type: 4, key: 'none', other: '8192' })
    const answer = await ask(chat({ stream: true }))
    expect(saidIn(answer.text)).toBe('The')
    expect(answer.text).not.toContain('[DONE]')
    expect(JSON.parse(eventsOf(answer.text).at(-1)?.data ?? '').error).toBeDefined()
  })
})

describe('a channel of Cohere', () => {
  it('converts its own events for a caller of Chat', async () => {
    const { url, asked } = await upstream(() => ({ body: fixture('cohere-chat/fixtures/tool_call.sse') }))
    const { ask } = await sharedStage(url, { type: 34, model_mapping: mapped('command-a-03-2025') })
    const tools = [{ type: 'function', function: { name: 'get_tide' } }]
    const answer = await ask(chat({ tools, logit_bias: { 1: 1 } }))
    expect(JSON.parse(answer.text)).toMatchObject({
      model,
      choices: [
        {
          message: {
            reasoning_content: 'I will check the tide.',
            tool_calls: [{ id: 'get_tide_fx', function: { name: 'get_tide' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 74, completion_tokens: 6 },
    })
    expect(answer.headers.get('x-sluice-dropped')).toBe('logit_bias')
    expect(asked[0]).toMatchObject({ path: '/v2/chat', body: { model: 'command-a-03-2025', stream: false } })
  })
})

describe('a channel of Dify', () => {
  const said = event({ event: 'message', answer: 'Calm.' })
  const end = event({ event: 'message_end', metadata: { usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } } })

  it('streams the answer of an application', async () => {
    const { url, asked } = await upstream(() => ({ body: `event: ping\n\n${said}${end}` }))
    const { ask } = await sharedStage(url, { type: 37 })
    const answer = await ask(chat({ stream: true, user: 'u-7' }))
    expect(saidIn(answer.text)).toBe('Calm.')
    expect(asked[0]).toMatchObject({
      path: '/v1/chat-messages',
      body: { query: 'one two three', user: 'u-7', response_mode: 'streaming' },
    })
  })

  it('collects the stream of an agent for a caller that did not request one', async () => {
    const { url, asked } = await upstream(() => ({ body: said + end }))
    const { ask } = await sharedStage(url, { type: 37, model_mapping: mapped('agent-1') })
    const answer = await ask(chat())
    expect(JSON.parse(answer.text)).toMatchObject({ choices: [{ message: { content: 'Calm.' } }], usage: { prompt_tokens: 9 } })
    expect(asked[0]?.body.response_mode).toBe('streaming')
  })

  it('[244] ends the stream with its error', async () => {
    const failed = event({ event: 'error', status: 400, code: 'provider_quota_exceeded', message: 'no credits' })
    const { url } = await upstream(() => ({ body: said + failed + end }))
    const { ask } = await sharedStage(url, { type: 37 })
    const answer = await ask(chat({ stream: true }))
    expect(saidIn(answer.text)).toBe('Calm.')
    expect(answer.text).not.toContain('[DONE]')
  })
})

describe('a channel of Coze', () => {
  const named = (name: string, data: object | string) => `event:${name}\ndata:${JSON.stringify(data)}\n\n`
  const stream =
    named('conversation.message.delta', { id: '1', type: 'answer', content: 'Calm.' }) +
    named('conversation.message.completed', { id: '2', type: 'follow_up', content: 'And tomorrow?' }) +
    named('conversation.chat.completed', { usage: { token_count: 13, input_count: 9, output_count: 4 } }) +
    named('done', '[DONE]')

  it('[245] is always streamed, and collected for a caller that did not request a stream', async () => {
    const { url, asked } = await upstream(() => ({ body: stream }))
    const { ask } = await sharedStage(url, { type: 49, model_mapping: mapped('7342') })
    const answer = await ask(chat())
    expect(JSON.parse(answer.text)).toMatchObject({ choices: [{ message: { content: 'Calm.' } }], usage: { prompt_tokens: 9 } })
    expect(asked[0]).toMatchObject({
      path: '/v3/chat',
      headers: { accept: 'text/event-stream' },
      body: { bot_id: '7342', stream: true },
    })
  })

  it('reports an error by the code in its answer', async () => {
    const { url } = await upstream(() => ({ body: { code: 4028, msg: 'quota of the workspace' } }))
    const { ask, charged } = await sharedStage(url, { type: 49 })
    expect((await ask(chat({ stream: true }))).status).toBeGreaterThanOrEqual(400)
    expect(await charged()).toEqual([])
  })
})

describe('a channel of Baidu', () => {
  const reply = {
    id: 'a',
    result: 'Calm.',
    is_truncated: false,
    usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
  }

  it('fetches a token once, and a new one when it was revoked', async () => {
    let tokens = 0
    const { url, asked } = await upstream(({ path }) => {
      if (path.startsWith('/oauth/')) return { body: { access_token: `token-${++tokens}`, expires_in: 2_592_000 } }
      return {
        body: path.endsWith('token-1') && asked.length > 3 ? { error_code: 110, error_msg: 'Access token invalid' } : reply,
      }
    })
    const { ask } = await sharedStage(url, { type: 15, key: 'id|secret', model_mapping: mapped('ERNIE-4.0-8K') })
    for (let call = 0; call < 3; call++) {
      expect(JSON.parse((await ask(chat())).text)).toMatchObject({ choices: [{ message: { content: 'Calm.' } }] })
    }
    const path = '/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/completions_pro?access_token='
    expect(asked.map((call) => call.path.split('?client')[0])).toEqual([
      '/oauth/2.0/token?grant_type=client_credentials&client_id=id&client_secret=secret',
      `${path}token-1`,
      `${path}token-1`,
      `${path}token-1`,
      '/oauth/2.0/token?grant_type=client_credentials&client_id=id&client_secret=secret',
      `${path}token-2`,
    ])
  })
})

describe('a channel of Tencent', () => {
  it('signs its requests, and [248] treats an error under status 200 as an error', async () => {
    const { url, asked } = await upstream((_asked, number) => ({
      body:
        number === 1
          ? {
              Response: {
                Choices: [{ Message: { Role: 'assistant', Content: 'Calm.' }, FinishReason: 'stop' }],
                Usage: { PromptTokens: 9, CompletionTokens: 4, TotalTokens: 13 },
              },
            }
          : { Response: { Error: { Code: 'InvalidParameterValue.Model', Message: 'no such model' } } },
    }))
    const { ask } = await sharedStage(url, { type: 23, key: '1300|AKID|secret-of-tencent', model_mapping: mapped('hunyuan-pro') })
    expect(JSON.parse((await ask(chat())).text)).toMatchObject({
      choices: [{ message: { content: 'Calm.' } }],
      usage: { total_tokens: 13 },
    })
    expect(asked[0]?.headers).toMatchObject({
      'x-tc-action': 'ChatCompletions',
      'x-tc-version': '2023-09-01',
      'x-tc-timestamp': expect.stringMatching(/^\d{10}$/),
      authorization: expect.stringMatching(/^TC3-HMAC-SHA256 Credential=AKID\/\d{4}-\d\d-\d\d\/hunyuan\/tc3_request, /),
    })
    const refused = await ask(chat())
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.text).not.toContain('secret-of-tencent')
  })
})

describe('a channel of DashScope', () => {
  it('[246] streams in its native format for a model that is only available in it', async () => {
    const piece = (content: string, finish_reason: string) =>
      `id:1\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify({
        output: { choices: [{ message: { role: 'assistant', content }, finish_reason }] },
        usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
      })}\n\n`
    const { url, asked } = await upstream(() => ({ body: piece('Ca', 'null') + piece('lm.', 'stop') }))
    const { ask } = await sharedStage(url, { type: 17, model_mapping: mapped('farui-plus') })
    const answer = await ask(chat({ stream: true }))
    expect(saidIn(answer.text)).toBe('Calm.')
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(asked[0]).toMatchObject({
      path: '/api/v1/services/aigc/text-generation/generation',
      headers: { 'x-dashscope-sse': 'enable' },
    })
  })
})

describe('a channel of Replicate', () => {
  it('waits for the answer, and sends it as a stream to a caller that requests one', async () => {
    const { url, asked } = await upstream(() => ({
      body: { status: 'succeeded', output: ['Ca', 'lm.'], metrics: {} },
      status: 201,
    }))
    const { ask, charged } = await sharedStage(url, { type: 56, model_mapping: mapped('meta/llama-3') })
    const answer = await ask(chat({ stream: true }))
    expect(saidIn(answer.text)).toBe('Calm.')
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(asked[0]).toMatchObject({ path: '/v1/models/meta/llama-3/predictions', headers: { prefer: 'wait=60' } })
    expect(await charged()).toHaveLength(1)
  })
})

describe('a channel of the old type of Zhipu', () => {
  it('is called with version 4 of the Chat API, with a token made from its key', async () => {
    const { url, asked } = await upstream(() => ({
      body: { id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'Calm.' }, finish_reason: 'stop' }] },
    }))
    const { ask } = await sharedStage(url, { type: 16, key: 'id1.secret1' })
    await ask(chat())
    expect(asked[0]?.path).toBe('/api/paas/v4/chat/completions')
    expect(asked[0]?.headers.authorization).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/)
  })
})

describe('an advanced custom channel', () => {
  it("converts Chat to the upstream's protocol, with its own authorisation", async () => {
    const reply = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Calm.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 9, output_tokens: 4 },
    }
    const { url, asked } = await upstream(() => ({ body: reply }))
    const other = JSON.stringify({
      speaks: { 'anthropic.messages': '/llm/{model}/messages' },
      auth: { by: 'header', name: 'x-llm-key', prefix: 'Key ' },
    })
    const { ask } = await sharedStage(url, { type: 58, key: 'k-1', other, model_mapping: mapped('claude-sonnet-4-6') })
    expect(JSON.parse((await ask(chat())).text)).toMatchObject({
      choices: [{ message: { content: 'Calm.' } }],
      usage: { prompt_tokens: 9 },
    })
    expect(asked[0]).toMatchObject({ path: '/llm/claude-sonnet-4-6/messages', headers: { 'x-llm-key': 'Key k-1' } })
    expect(asked[0]?.headers.authorization).toBeUndefined()
  })
})

describe('a channel of Spark', () => {
  const usage = { text: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } }
  const frame = (status: number, content: string) => ({
    header: { code: 0, message: 'Success', status },
    payload: { choices: { status, text: [{ content, role: 'assistant', index: 0 }] }, ...(status === 2 ? { usage } : {}) },
  })
  const spark = (url: string) =>
    sharedStage(url, { type: 18, key: 'app1|secret|apikey', other: 'v3.5', model_mapping: mapped('SparkDesk') })

  it('answers over a WebSocket, streamed or collected', async () => {
    const { url, asked } = await socketUpstream([frame(0, 'Ca'), frame(1, 'lm'), frame(2, '. 🌊')])
    const { ask } = await spark(url)
    expect(saidIn((await ask(chat({ stream: true }))).text)).toBe('Calm. 🌊')
    expect(JSON.parse((await ask(chat())).text)).toMatchObject({
      choices: [{ message: { content: 'Calm. 🌊' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 4 },
    })
    expect(asked[0]?.path).toMatch(/^\/v3\.5\/chat\?authorization=[^&]+&date=[^&]+&host=127\.0\.0\.1/)
    expect(asked[0]?.body).toMatchObject({
      header: { app_id: 'app1' },
      parameter: { chat: { domain: 'generalv3.5' } },
      payload: { message: { text: [{ role: 'user', content: 'one two three' }] } },
    })
  })

  it('reports an error by the code in its message', async () => {
    const { url } = await socketUpstream([{ header: { code: 11202, message: 'too fast', status: 2 } }])
    const { ask } = await spark(url)
    expect((await ask(chat({ stream: true }))).status).toBe(429)
  })
})

/** A WebSocket server that answers the first message of each connection with these. It supports only short frames. */
async function socketUpstream(messages: readonly object[]) {
  const asked: { path: string; body: Record<string, unknown> }[] = []
  const server = createServer()
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    )
    socket.on('error', () => socket.destroy())
    socket.once('data', (bytes: Buffer) => {
      asked.push({ path: request.url ?? '', body: JSON.parse(unmasked(bytes)) })
      for (const message of messages) socket.write(textFrame(JSON.stringify(message)))
      socket.end(Buffer.from([0x88, 0x00]))
    })
  })
  return { url: await listeningInTest(server), asked }
}

function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const head =
    payload.length < 126
      ? Buffer.from([0x81, payload.length])
      : Buffer.from([0x81, 126, payload.length >> 8, payload.length & 255])
  return Buffer.concat([head, payload])
}

function unmasked(frame: Buffer): string {
  const short = (frame[1] ?? 0) & 127
  const start = short === 126 ? 4 : 2
  const length = short === 126 ? frame.readUInt16BE(2) : short
  const mask = frame.subarray(start, start + 4)
  return Buffer.from(frame.subarray(start + 4, start + 4 + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0))).toString()
}

describe('an error under a status of success, on a channel that passes through', () => {
  const minimax = (status_code: number) => ({ id: 'x', choices: null, base_resp: { status_code, status_msg: 'vendor says no' } })

  it.each([
    ['[247] MiniMax, too many requests', 35, minimax(1002), 429],
    ['[247] MiniMax, what the caller may not ask', 35, minimax(2013), 400],
    ['[254] Cloudflare', 39, { success: false, errors: [{ code: 5006, message: 'vendor says no' }], result: null }, 502],
  ])('%s: has its own status, and nothing is charged', async (_name, type, body, status) => {
    const { url } = await upstream(() => ({ body }))
    const { server, ask, charged } = await sharedStage(url, { type, ...(type === 39 ? { other: 'account' } : {}) })
    const answer = await ask(chat())
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(status === 400 ? /vendor says no/ : /error/)])
    expect(await charged()).toEqual([])
    await requireBalancedBooks(server)
  })
})

describe('channels whose vendors were shut down', () => {
  it('a stream from PaLM is made from one message', async () => {
    const { url, asked } = await upstream(() => ({ body: { candidates: [{ author: '1', content: 'It is high.' }] } }))
    const { server, ask, charged } = await sharedStage(url, { type: 11, key: 'palm-key', model_mapping: mapped('PaLM-2') })
    const answer = await ask(chat({ stream: true }))
    expect(saidIn(answer.text)).toBe('It is high.')
    expect(asked[0]).toMatchObject({
      path: '/v1beta2/models/chat-bison-001:generateMessage',
      headers: { 'x-goog-api-key': 'palm-key' },
      body: { prompt: { messages: [{ author: '0', content: 'one two three' }] } },
    })
    expect(await charged()).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('a knowledge base is called by the id in its channel, and its documents are sources', async () => {
    const documents = [{ title: 'Tides', url: 'https://a.example/tides' }]
    const { url, asked } = await upstream(() => ({
      body: event({ content: 'It is ', finish: false }) + event({ content: 'high.', finish: true, documents }),
    }))
    const { server, ask, charged } = await sharedStage(url, { type: 21, other: 'lib-7' })
    const answer = await ask(chat({ stream: true }))
    expect(saidIn(answer.text)).toBe('It is high.')
    expect(answer.text).toContain('https://a.example/tides')
    expect(asked[0]).toMatchObject({
      path: '/api/library/ask',
      body: { model, libraryId: 'lib-7', query: 'one two three', stream: true },
    })
    expect(await charged()).toHaveLength(1)
    await requireBalancedBooks(server)
  })
})
