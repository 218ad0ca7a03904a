import { createServer, type Server } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import { listening } from '../helpers/listening.ts'
import { testLogger } from '../helpers/logger.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { isTorture, sampled } from '../helpers/torture.ts'
import { fixture } from '../helpers/upstream.ts'
import { bodies, forms, inheritedNames, mutationsOf } from './inherited-names.ts'

/**
 * Names of members that every JavaScript object inherits are ordinary names: wherever a caller or an upstream sends them they are
 * unknown names, which neither select a value of the program nor make it fail.
 */

interface Kind {
  readonly type: number
  readonly model: string
  readonly key?: string
  readonly other?: string
}

/** One kind of channel for every request writer; each serves its own model. */
const channels: Readonly<Record<string, Kind>> = {
  chat: { type: 1, model: 'gpt-4o-mini' },
  responses: { type: 1, model: 'gpt-5-pro' },
  messages: { type: 14, model: 'claude-sonnet-4-5' },
  gemini: { type: 24, model: 'gemini-2.5-flash' },
  mistral: { type: 42, model: 'mistral-large-latest' },
  ollama: { type: 4, model: 'qwen3', other: '8192' },
  cohere: { type: 34, model: 'command-a-03-2025' },
  bedrock: { type: 33, model: 'amazon.nova-pro-v1:0', key: 'AKIDEXAMPLE|secret|us-east-1' },
  deepseek: { type: 43, model: 'deepseek-chat' },
  ali: { type: 17, model: 'qwen-max' },
  zhipu: { type: 26, model: 'glm-4-plus' },
  minimax: { type: 35, model: 'MiniMax-Text-01' },
  volcengine: { type: 45, model: 'doubao-pro' },
  cloudflare: { type: 39, model: '@cf/meta/llama-3-8b' },
  replicate: { type: 56, model: 'black-forest-labs/flux-schnell' },
  tencent: { type: 23, model: 'hunyuan-lite', key: '1|id|key' },
  dify: { type: 37, model: 'dify-app' },
  coze: { type: 49, model: 'coze-bot', other: '1' },
}

/**
 * The ordinary run sends each changed request to one channel in so many, and each changed answer to one dialect; torture to all.
 */
const channelsPerPlace = 18

/** A model with a channel and without a price, like the names. */
const unpriced = 'model-without-a-price'

/** The upstream's reply to every request. */
const answer = { status: 404, type: 'application/json', body: '{"error":{"message":"unknown"}}' }
let upstream: Server
let server: TestServer
let key: string
const failures: string[] = []

beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body))
  })
  const url = await listening(upstream)
  server = await startServer('sqlite', { logger: testLogger('error', (line) => void failures.push(line)) })
  await setOptions(server, { AutomaticDisableChannelEnabled: false })
  key = (await addToken(server)).key
  const { app } = server
  const ratios = Object.fromEntries(Object.values(channels).map(({ model }) => [model, 1]))
  await setOptions(server, { ModelRatio: { ...app.options.current.ModelRatio, ...ratios } })
  for (const { model, ...channel } of Object.values(channels)) await addChannel(server, { url, models: model, ...channel })
  await addChannel(server, { url, models: [unpriced, ...inheritedNames].join(',') })
})
afterAll(async () => {
  await requireBalancedBooks(server)
  await server.stop()
  upstream.closeAllConnections()
  upstream.close()
})
afterEach(() => {
  Object.assign(answer, { status: 404, type: 'application/json', body: '{"error":{"message":"unknown"}}' })
  expect(failures.splice(0).slice(0, 3)).toEqual([])
})

interface Told {
  readonly status: number
  readonly text: string
}

async function ask(path: string, body?: string | FormData, headers: Record<string, string> = {}): Promise<Told> {
  const type: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
  const response = await fetch(server.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, ...type, ...headers },
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, text: await response.text() }
}

const isFailureOfOurs = ({ status, text }: Told) => status === 500 || /"code":"internal"|Internal server error/.test(text)

describe('names that every object inherits', () => {
  it.each(Object.entries(channels))(
    'are ordinary names in every place of a request to a channel of %s',
    async (kind, { model }) => {
      const failed: string[] = []
      const first = Object.keys(channels).indexOf(kind)
      for (const { path, body } of bodies(model)) {
        for (const [position, { place, value }] of [...mutationsOf(body)].entries()) {
          if (!isTorture && (position + first) % channelsPerPlace !== 0) continue
          const told = await ask(path, JSON.stringify(value))
          if (isFailureOfOurs(told)) failed.push(`${path}: ${place}: ${told.text}`)
        }
      }
      for (const { path, fields } of forms) {
        for (const name of inheritedNames) {
          const form = new FormData()
          for (const [field, value] of Object.entries({ ...fields, model, [name]: name })) form.append(field, value)
          form.append('__proto__', name)
          form.append('file', new File(['x'], name), name)
          form.append(name, new File(['x'], name), name)
          const told = await ask(path, form)
          if (isFailureOfOurs(told)) failed.push(`${path}: form with ${name}: ${told.text}`)
        }
      }
      expect(failed).toEqual([])
    },
  )

  const replies: Readonly<Record<string, readonly string[]>> = {
    chat: ['openai-chat/nonstream_tools.json', 'openai-chat/tool_call.sse', 'openai-chat/reasoning_content.sse'],
    responses: ['openai-responses/nonstream.json', 'openai-responses/function_call.sse'],
    messages: ['anthropic/nonstream_tool_use.json', 'anthropic/tool_use.sse', 'anthropic/error_midstream.sse'],
    gemini: ['gemini-generate/nonstream.json', 'gemini-generate/function_call.sse', 'gemini-generate/grounding.sse'],
  }
  it.each(Object.entries(replies))('are ordinary names in every place of an answer of a channel of %s', async (kind, names) => {
    const model = channels[kind]?.model ?? ''
    const failed: string[] = []
    for (const name of names) {
      for (const [position, { place, text, type }] of [...mutatedReplies(name)].entries()) {
        Object.assign(answer, { status: 200, type, body: text })
        for (const { path, body } of sampled(askers(model, name.endsWith('.sse')), 4, position)) {
          const told = await ask(path, JSON.stringify(body))
          if (isFailureOfOurs(told)) failed.push(`${name} to ${path}: ${place}: ${told.text}`)
        }
      }
    }
    expect(failed).toEqual([])
  })

  it('are unknown models like any other model without a price, wherever a request names its model', async () => {
    const statuses = async (name: string) => {
      const told = [
        ...bodies(name).map(({ path, body }) => ask(path, JSON.stringify(body))),
        ...['/v1/models/x', '/v1beta/models/x', '/v1/', '/v1/responses/'].map((path) => ask(`${path}${name}`)),
      ]
      return (await Promise.all(told)).map(({ status }) => status)
    }
    const usual = await statuses(unpriced)
    expect(new Set(usual)).toContain(400)
    for (const name of inheritedNames) expect([name, await statuses(name)]).toEqual([name, usual])
    const charges = server.app.db.selectFrom('logs').select('id').where('model_name', 'in', inheritedNames).where('quota', '>', 0)
    expect(await charges.execute()).toEqual([])
  })

  it('are ordinary names of headers, parameters, tools and orders', async () => {
    const failed: string[] = []
    const [{ path: chatPath, body: chatBody } = { path: '', body: {} }] = bodies('gpt-4o-mini')
    for (const name of inheritedNames) {
      const tries: readonly (readonly [string, string?, Record<string, string>?])[] = [
        [`${chatPath}?${name}=${name}&__proto__[x]=1`, JSON.stringify(chatBody)],
        [chatPath, JSON.stringify(chatBody), { [name]: name, 'accept-language': name, 'content-encoding': name }],
        [chatPath, JSON.stringify(chatBody), { [name]: name, 'anthropic-beta': name, 'openai-beta': name, accept: name }],
        [`/v1/models?limit=${name}&after_id=${name}`],
        [`/v1beta/models/gpt-4o-mini:${name}`, '{}'],
        [`/v1/responses/${name}`],
        [`/v1/responses/${name}/input_items?order=${name}`],
        [`/mj/submit/${name}`, '{}'],
        [`/mj-${name}/submit/imagine`, JSON.stringify({ prompt: name, botType: name, state: name })],
        ['/mj/submit/change', JSON.stringify({ taskId: name, action: name })],
        [`/mj/task/${name}/fetch`],
        [`/suno/submit/${name}`, JSON.stringify({ prompt: name, mv: name })],
        [`/suno/fetch/${name}`],
      ]
      for (const [path, body, headers] of tries) {
        const told = await ask(path, body, headers)
        if (isFailureOfOurs(told)) failed.push(`${path}: ${name}: ${told.text}`)
      }
    }
    expect(failed).toEqual([])
  })
})

/** Calls of the four dialects of conversations. */
function askers(model: string, stream: boolean) {
  const messages = [{ role: 'user', content: 'one' }]
  return [
    { path: '/v1/chat/completions', body: { model, messages, stream } },
    { path: '/v1/messages', body: { model, messages, stream, max_tokens: 9 } },
    { path: '/v1/responses', body: { model, input: 'one', stream, store: false } },
    {
      path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      body: { contents: [{ role: 'user', parts: [{ text: 'one' }] }] },
    },
  ]
}

/** A recorded answer with the names in each of its places; in streams the same place of every event at once. */
function* mutatedReplies(name: string): Generator<{ place: string; text: string; type: string }> {
  const recorded = fixture(name).toString()
  if (name.endsWith('.json')) {
    for (const { place, value } of mutationsOf(JSON.parse(recorded)))
      yield { place, text: JSON.stringify(value), type: 'application/json' }
    return
  }
  const lines = recorded.split('\n')
  const places = new Set(
    lines.flatMap((line) => (line.startsWith('data: {') ? [...mutationsOf(parse(line))] : [])).map(({ place }) => place),
  )
  for (const place of places) {
    const changed = lines.map((line) => {
      const found = line.startsWith('data: {') ? [...mutationsOf(parse(line))].find((one) => one.place === place) : undefined
      return found ? `data: ${JSON.stringify(found.value)}` : line
    })
    yield { place, text: changed.join('\n'), type: 'text/event-stream' }
  }
}

function parse(line: string): unknown {
  return JSON.parse(line.slice('data: '.length))
}
