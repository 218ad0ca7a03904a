import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { awsException } from '../helpers/aws-event-stream.ts'
import { addChannel } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { caller } from './realtime-stage.ts'
import { sharedStages } from './shared-stage.ts'
import { chat, event, httpUpstream, model, upstreamKey } from './stage.ts'

/**
 * Every vendor's errors for a conversation that is too long, refused content, an account without quota and an unknown model,
 * through every endpoint, in the wording of the caller's dialect. The fixtures are as the vendors write them;
 * `hidden-upstream-model` is the model to which the channel maps the caller's.
 */
interface Said {
  readonly status: number
  readonly body: Record<string, unknown>
  /** The numbers in the error, for a conversation that is too long. */
  readonly tokens?: number
  readonly limit?: number
  readonly excess?: number
  /** The event of a stream, if it is not the error itself. */
  readonly event?: Record<string, unknown>
  /** The name of the exception in a stream of Bedrock. */
  readonly exception?: string
}

interface Vendor {
  readonly type: number
  readonly key?: string
  readonly contextTooLong: Said
  readonly contentFiltered?: Said
  readonly modelUnknown: Said
  readonly quotaExhausted?: Said
}

const folder = new URL('./vendor-errors/', import.meta.url)
const vendors = readdirSync(folder).map((file): [string, Vendor] => [
  file.replace('.json', ''),
  JSON.parse(readFileSync(new URL(file, folder), 'utf8')),
])

const prompt = 'one two three'
const doors = {
  chat: { path: () => '/v1/chat/completions', body: (stream: boolean) => chat({ stream }) },
  responses: { path: () => '/v1/responses', body: (stream: boolean) => ({ model, input: prompt, stream }) },
  messages: {
    path: () => '/v1/messages',
    body: (stream: boolean) => ({ model, max_tokens: 5, messages: [{ role: 'user', content: prompt }], stream }),
  },
  gemini: {
    path: (stream: boolean) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
  },
} as const
type Door = keyof typeof doors
const allDoors = Object.keys(doors) as Door[]

const sharedStage = sharedStages()
/** Stages on a server that tries other channels. */
const retryingStage = sharedStages('sqlite', { RetryTimes: 3 })

/** A stage whose upstream answers with an error: under its status, or in a stream that has begun with success. */
async function stageOf(vendor: Vendor, said: Said, stageOn = sharedStage) {
  const { url, channel, sender, times } = await sayerOf(vendor, said)
  const { server, token, ...staged } = await stageOn(url, channel)
  const addOther = async () => {
    const other = await upstreamOfTest()
    await addChannel(server, { url: other.url, models: model, priority: -1 })
    return other
  }
  return { ...staged, server, token, addOther, send: sender(server.url, token.key), times }
}

/** The upstream, the channel that leads there, and how callers ask through it. */
async function sayerOf({ type, key = upstreamKey }: Vendor, said: Said) {
  let inStream = false
  let asked = 0
  const url = await httpUpstream((request, response) => {
    request.resume()
    asked++
    if (inStream) sayInStream(response, type, said)
    else response.writeHead(said.status, { 'content-type': 'application/json' }).end(JSON.stringify(said.body))
  })
  const mapping = JSON.stringify({ [model]: 'hidden-upstream-model' })
  const channel = { type, key, models: model, model_mapping: mapping, auto_ban: 0 }
  const sender = (serverUrl: string, token: string) => async (door: Door, how: 'whole' | 'streamed' | 'in the stream') => {
    inStream = how === 'in the stream'
    const stream = how !== 'whole'
    const { path, body } = doors[door]
    const response = await fetch(serverUrl + path(stream), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body(stream)),
    })
    const text = await response.text()
    for (const secret of ['hidden-upstream-model', key, new URL(url).host]) expect(text).not.toContain(secret)
    return { status: response.status, headers: response.headers, text }
  }
  return { url, channel, sender, times: () => asked }
}

function sayInStream(
  response: Parameters<Parameters<typeof httpUpstream>[0]>[1],
  type: number,
  { exception, body, event: said }: Said,
): void {
  if (exception !== undefined) {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' }).end(awsException(exception, body))
    return
  }
  const isLines = type === 4
  response.writeHead(200, { 'content-type': isLines ? 'application/x-ndjson' : 'text/event-stream' })
  if (isLines) response.end(`${JSON.stringify(body)}\n`)
  else
    response.end((type === 14 ? 'event: error\n' : '') + event(said ?? ('error' in body ? body : { type: 'error', error: body })))
}

/** The error of an answer: of its body, or of the event that ends its stream. */
function errorIn(text: string): Record<string, unknown> {
  if (!text.includes('data: ')) return JSON.parse(text).error
  const last = JSON.parse(text.slice(text.lastIndexOf('data: ') + 'data: '.length))
  return last.response?.error ?? last.error
}

const contextOf = 128_000

/** The message in each dialect, with the reported numbers; unreported ones are those of the model or of the prompt. */
function tooLong(door: Door, said: Said): RegExp {
  const { tokens, limit = contextOf, excess = 1 } = said
  const numbers = { tokens: tokens ?? limit + excess, limit }
  if (door === 'messages') return new RegExp(`^prompt is too long: ${numbers.tokens} tokens > ${numbers.limit} maximum `)
  if (door === 'gemini')
    return new RegExp(
      `input token count \\(${numbers.tokens}\\) exceeds the maximum number of tokens allowed \\(${numbers.limit}\\)`,
    )
  return new RegExp(`maximum context length is ${numbers.limit} tokens. However, .*${numbers.tokens} `)
}

describe.each(vendors)('a conversation that is too long for %s', (name, vendor) => {
  it.each(allDoors)('is reported to callers of %s in the wording of their dialect, whole and streamed', async (door) => {
    const said = vendor.contextTooLong
    const { send, charged, channelStatus } = await stageOf(vendor, said)
    for (const how of ['whole', 'streamed', 'in the stream'] as const) {
      const { status, text } = await send(door, how)
      const isStream = door === 'responses' && how !== 'whole'
      const error = errorIn(text)
      expect([how, status, error.message]).toEqual([how, isStream ? 200 : 400, expect.any(String)])
      if (door === 'messages' && name === 'bedrock')
        expect(error.message).toMatch(/prompt is too long: 227255 tokens > 200000 maximum/)
      else expect(error.message).toMatch(tooLong(door, said))
      if (door === 'messages') expect(error.type).toBe('invalid_request_error')
      else if (door === 'gemini') expect([error.code, error.status]).toEqual([400, 'INVALID_ARGUMENT'])
      else expect(error.code).toBe('context_length_exceeded')
      if (isStream) expect(eventTypes(text)).toEqual(['response.created', 'response.in_progress', 'response.failed'])
    }
    expect(await charged()).toEqual([])
    expect(await channelStatus()).toBe(1)
  })
})

const eventTypes = (text: string) => [...text.matchAll(/^event: (.+)$/gm)].map(([, type]) => type)

const filtering = vendors.filter(([, { contentFiltered }]) => contentFiltered)
describe.each(filtering)('content that %s refuses', (_name, vendor) => {
  it('is a 400 in the dialect of the caller, and no other channel is tried', async () => {
    const { send, times, addOther } = await stageOf(vendor, vendor.contentFiltered as Said, retryingStage)
    const other = await addOther()
    for (const door of allDoors) {
      const { status, text } = await send(door, 'whole')
      const error = errorIn(text)
      expect([door, status]).toEqual([door, 400])
      if (door === 'messages')
        expect(error).toMatchObject({ message: expect.stringMatching(/^Output blocked by content filtering policy/) })
      else if (door === 'gemini') expect(error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
      else expect(error).toMatchObject({ type: 'invalid_request_error', code: 'content_filter' })
    }
    expect([times(), other.journal.length]).toEqual([allDoors.length, 0])
  })
})

describe.each(vendors)('a model that %s does not have', (_name, vendor) => {
  it('is a 404 for the caller with the requested name, unless another channel has the model', async () => {
    const { send, addOther } = await stageOf(vendor, vendor.modelUnknown, retryingStage)
    for (const door of allDoors) {
      const { status, text } = await send(door, 'whole')
      const error = errorIn(text)
      expect([door, status, error.message]).toEqual([door, 404, expect.stringContaining(`The model ${model} does not exist`)])
      if (door === 'messages') expect(error.type).toBe('not_found_error')
      else expect(error).toMatchObject(door === 'gemini' ? { status: 'NOT_FOUND' } : { code: 'model_not_found', param: 'model' })
    }
    await addOther()
    expect((await send('chat', 'whole')).status).toBe(200)
  })
})

const billing = vendors.filter(([, { quotaExhausted }]) => quotaExhausted)
describe.each(billing)('an account without quota at %s', (_name, vendor) => {
  it('is not reported as the fault of the caller: the error discourages retries, and another channel is tried', async () => {
    const { send, addOther } = await stageOf(vendor, vendor.quotaExhausted as Said, retryingStage)
    for (const door of allDoors) {
      const { status, headers, text } = await send(door, 'whole')
      expect([door, status, headers.get('x-should-retry')]).toEqual([door, 503, 'false'])
      expect(errorIn(text).message).toContain('no quota left (quota exceeded); ask the admin')
      const { type, status: name } = errorIn(text)
      if (door === 'gemini') expect(name).toBe('FAILED_PRECONDITION')
      else expect([door, type]).toEqual([door, door === 'messages' ? 'billing_error' : 'insufficient_quota'])
    }
    await addOther()
    expect((await send('chat', 'whole')).status).toBe(200)
  })
})

it('a conversation that is too long is reported over a WebSocket as in a stream, so that Codex compacts it', async () => {
  const [, vendor] = vendors.find(([name]) => name === 'anthropic') ?? expect.unreachable('there is a fixture')
  const { server, token } = await stageOf(vendor, vendor.contextTooLong)
  const client = caller(server.url, token.key, { path: '/v1/responses' })
  await client.opened()
  client.say({ type: 'response.create', model, input: prompt, store: false })
  const { response } = await client.hears('response.failed')
  expect(response).toMatchObject({ status: 'failed', error: { code: 'context_length_exceeded' } })
  client.socket.close(1000)
})

it('a model without a price is 400 in every dialect', async () => {
  const { server, token } = await stageOf({ type: 1 } as Vendor, { status: 500, body: {} })
  await addChannel(server, { url: 'http://127.0.0.1:9', models: 'unpriced-model' })
  for (const door of allDoors) {
    const { path, body } = doors[door]
    const response = await fetch(server.url + path(false).replace(model, 'unpriced-model'), {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body(false), ...(door === 'gemini' ? {} : { model: 'unpriced-model' }) }),
    })
    const { error } = (await response.json()) as { error: Record<string, unknown> }
    const member = door === 'messages' ? error.type : door === 'gemini' ? error.status : error.code
    const wanted = {
      chat: 'price_missing',
      responses: 'price_missing',
      messages: 'invalid_request_error',
      gemini: 'INVALID_ARGUMENT',
    }
    expect([door, response.status, member]).toEqual([door, 400, wanted[door]])
  }
})
