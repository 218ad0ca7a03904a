import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { Log } from '../../src/contract/entities/log.ts'
import { addChannel } from '../helpers/seed.ts'
import { caller, live, realtimeUpstream } from './realtime-stage.ts'
import { sharedStages } from './shared-stage.ts'
import {
  answeringUpstream,
  chat,
  claude,
  event,
  eventually,
  httpUpstream,
  model,
  piece,
  tcpUpstream,
  upstreamKey,
} from './stage.ts'

/**
 * Sentences as vendors and hosts send them, with addresses, accounts and mail addresses of the operator. The caller and the owner of
 * the token see none of these, whatever the dialect, the status and the moment of the error; admins see the sentence.
 */
interface Sentence {
  readonly said: string
  readonly details: readonly string[]
}
const sentences: Readonly<Record<string, Sentence>> = {
  'OpenAI, of its organisation': {
    said: 'Rate limit reached for gpt-4o in organization org-aBcD1234eFgH5678 on tokens per min (TPM): Limit 30000, Requested 31000.',
    details: ['org-aBcD1234eFgH5678'],
  },
  'OpenAI, of its project': {
    said: 'Project `proj_9Zx8Yw7Vu6` does not have access to this parameter.',
    details: ['proj_9Zx8Yw7Vu6'],
  },
  'Azure, of its resource': {
    said: 'The deployment gpt4-prod-eu of https://contoso-ai.openai.azure.com/ in /subscriptions/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f/resourceGroups/rg-contoso is invalid.',
    details: ['gpt4-prod-eu', 'contoso', '0a1b2c3d'],
  },
  'AWS, of its account': {
    said: 'User: arn:aws:iam::123456789012:user/sluice-prod may not use arn:aws:bedrock:us-east-1:123456789012:inference-profile/x',
    details: ['123456789012', 'sluice-prod'],
  },
  'Google, of its project': {
    said: "Quota exceeded for consumer 'project_number:987654321098' in projects/acme-prod-1/locations/us-central1.",
    details: ['987654321098', 'acme-prod-1'],
  },
  'Anthropic, of its request': {
    said: "This request would exceed your organization's limit (org: 5e3a6a1c-8c3d-4a1e-9b1a-2f6f5d0c9a11), request req_011CSHoEeqs5C35K2UUqR7Fy",
    details: ['5e3a6a1c', 'req_011CSHoEeqs5C35K2UUqR7Fy'],
  },
  'DeepSeek, of a person': { said: 'Please contact ops@acme-corp.com to raise the limit', details: ['ops@', 'acme-corp'] },
  'a host in an inner network': {
    said: 'dial tcp 10.0.3.7:8000: connect: connection refused (http://10.0.3.7:8000/v1, fd00::3:7)',
    details: ['10.0.3.7', 'fd00::3:7'],
  },
  'a host with a name': {
    said: 'upstream vllm-7.internal:8000 failed, File "/opt/vllm/api_server.py", line 7, root@gpu-node-03',
    details: ['vllm-7', '/opt', 'api_server', 'gpu-node-03'],
  },
  'a key': { said: 'key AIzaSyA1234567890abcdefghijk is refused', details: ['AIzaSy'] },
}

const gemini = 'gemini-1.5-pro-latest'
const doors = {
  chat: { type: 1, named: model, path: () => '/v1/chat/completions', body: (stream: boolean) => chat({ stream }) },
  responses: { type: 1, named: model, path: () => '/v1/responses', body: (stream: boolean) => ({ model, input: 'one', stream }) },
  messages: {
    type: 14,
    named: claude,
    path: () => '/v1/messages',
    body: (stream: boolean) => ({ model: claude, max_tokens: 5, messages: [{ role: 'user', content: 'one' }], stream }),
  },
  gemini: {
    type: 24,
    named: gemini,
    path: (stream: boolean) => `/v1beta/models/${gemini}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'one' }] }] }),
  },
  translated: {
    type: 40,
    named: model,
    path: () => '/v1/messages',
    body: (stream: boolean) => ({ model, max_tokens: 5, messages: [{ role: 'user', content: 'one' }], stream }),
  },
} as const
type Door = keyof typeof doors

const bodyOf = (door: Door, message: string, status: number) => {
  if (door === 'messages')
    return { type: 'error', error: { type: status === 400 ? 'invalid_request_error' : 'api_error', message } }
  if (door === 'gemini') return { error: { code: status, message, status: status === 400 ? 'INVALID_ARGUMENT' : 'INTERNAL' } }
  return { error: { message, type: status === 400 ? 'invalid_request_error' : 'server_error', param: null, code: null } }
}

/** The first output in the format of each channel, so that the error comes in the middle of the answer. */
const begun: Readonly<Record<Door, string>> = {
  chat: piece('four'),
  translated: piece('four'),
  responses: ['response.created', 'response.output_text.delta']
    .map((type) => `event: ${type}\n${event({ type, delta: 'four', response: { id: 'resp_1', model, output: [] } })}`)
    .join(''),
  messages: [
    { type: 'message_start', message: { id: 'm', role: 'assistant', model: claude, content: [], usage: {} } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'four' } },
  ]
    .map((data) => `event: ${data.type}\n${event(data)}`)
    .join(''),
  gemini: event({ candidates: [{ content: { role: 'model', parts: [{ text: 'four' }] } }] }),
}

function answer(response: ServerResponse, door: Door, said: string, how: How): void {
  const { status, moment } = how
  const body = bodyOf(door, said, status)
  if (moment === 'status') {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const name = door === 'messages' || door === 'responses' ? 'event: error\n' : ''
  const last = door === 'responses' ? { type: 'error', ...body } : body
  response.end((moment === 'in the middle' ? begun[door] : '') + name + event(last))
}

interface How {
  readonly status: number
  readonly stream: boolean
  readonly moment: 'status' | 'at first' | 'in the middle'
}
const ways: readonly How[] = [
  ...[400, 401, 409, 429, 500].flatMap((status): How[] => [
    { status, stream: false, moment: 'status' },
    { status, stream: true, moment: 'status' },
  ]),
  ...[400, 500].flatMap((status): How[] => [
    { status, stream: true, moment: 'at first' },
    { status, stream: true, moment: 'in the middle' },
  ]),
]

const sharedStage = sharedStages()
const retryingStage = sharedStages('sqlite', { RetryTimes: 1 })
type Stage = Awaited<ReturnType<typeof sharedStage>>

/**
 * The rows of failed and cut calls of the stage's token, as its owner and as an admin see them. The log leaves out failed calls that come too
 * quickly: `fail` makes another one.
 */
async function rowsOf({ server, token }: Stage, fail: () => Promise<unknown>): Promise<{ own: string; admin: string }> {
  const read = async (path: string) => (await server.call<{ items: Log[] }>(`GET ${path}?p=1&page_size=100`)).items
  const ofToken = (rows: readonly Log[]) => rows.filter(({ token_id }) => token_id === token.id)
  await eventually('a failed call is logged', async () => {
    await fail()
    return ofToken(await read('/api/log/')).some(({ type }) => type === 5)
  })
  const admin = ofToken(await read('/api/log/'))
  const own = ofToken(await read('/api/log/self'))
  return {
    own: JSON.stringify(own.map(({ content, other }) => ({ content, other: visibleTo(other) }))),
    admin: JSON.stringify(admin),
  }
}

/** The owner of the tests is an admin; `admin_info` is what the console leaves out for others. */
const visibleTo = (other: string) => JSON.stringify({ ...JSON.parse(other || '{}'), admin_info: undefined })

describe.each(Object.entries(sentences))('a sentence of %s', (_name, { said, details }) => {
  it.each(Object.keys(doors) as Door[])('reaches no caller of %s and no owner, but the admin', async (door) => {
    const { type, named, path, body } = doors[door]
    let how: How = { status: 500, stream: false, moment: 'status' }
    const url = await httpUpstream((request, response) => {
      request.resume()
      answer(response, door, said, how)
    })
    const staged = await sharedStage(url, { type, models: named, auto_ban: 0 })
    for (how of ways) {
      const { text, headers } = await staged.ask(body(how.stream), path(how.stream))
      const told = `${text} ${JSON.stringify([...headers])}`
      for (const detail of [...details, upstreamKey, new URL(url).host])
        expect(told, `${JSON.stringify(how)} ${told}`).not.toContain(detail)
      if (how.moment !== 'in the middle') expect(text, JSON.stringify(how)).toContain('error')
    }
    how = { status: 500, stream: false, moment: 'status' }
    const { own, admin } = await rowsOf(staged, () => staged.ask(body(false), path(false)))
    for (const detail of details) expect(own).not.toContain(detail)
    const [detail = ''] = details
    if (!detail.startsWith('AIza')) expect(admin).toContain(JSON.stringify(detail).slice(1, -1))
  })
})

describe('a sentence about the request of the caller', () => {
  it.each([
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    'messages.0.content.1.image.source.base64.data: invalid base64 data',
    '`temperature` must be between 0 and 1.5',
  ])('passes unchanged: %s', async (said) => {
    for (const door of Object.keys(doors) as Door[]) {
      const { type, named, path, body } = doors[door]
      const url = await httpUpstream((request, response) => {
        request.resume()
        answer(response, door, said, { status: 400, stream: false, moment: 'status' })
      })
      const { ask } = await sharedStage(url, { type, models: named })
      const { status, text } = await ask(body(false), path(false))
      expect([door, status, JSON.parse(text).error.message]).toEqual([door, 400, expect.stringContaining(said)])
    }
  })
})

it('an error of a realtime session has no word of the operator: as an event, and in the end of an answer', async () => {
  const { said, details } = sentences['a host in an inner network'] ?? expect.unreachable('it is in the table')
  const error = { type: 'server_error', code: null, message: said, param: null, event_id: 'event_1' }
  const upstream = await realtimeUpstream((talk, { type }) => {
    if (type !== 'response.create') return
    talk.say({ type: 'error', event_id: 'e', error })
    talk.say({ type: 'response.done', response: { id: 'r', status: 'failed', status_details: { type: 'failed', error } } })
  })
  const { server, token } = await sharedStage(upstream.url, { type: 1, models: live })
  const client = caller(server.url, token.key)
  await client.hears('session.created')
  client.say({ type: 'response.create' })
  const heard = [await client.hears('error'), await client.hears('response.done')]
  expect(heard[0]).toMatchObject({ error: { type: 'server_error', event_id: 'event_1' } })
  for (const detail of details) expect(JSON.stringify(heard)).not.toContain(detail)
  client.socket.close(1000)
})

it.each([
  ['a banner of SSH', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['an alert of TLS', '\x15\x03\x01\0\x02\x02\x28'],
  ['the settings of HTTP/2', '\0\0\x12\x04\0\0\0\0\0'],
  ['a status line of HTTP/2', 'HTTP/2.0 200'],
])('an upstream that sends %s and waits is a failed attempt, and the next channel answers', async (_title, greeting) => {
  const silent = await tcpUpstream((socket) => void socket.on('data', () => socket.write(greeting, 'latin1')))
  const { url: good } = await answeringUpstream(`${piece('four')}${piece('', 'stop')}data: [DONE]\n\n`)
  const { server, ask, logs } = await retryingStage(silent, { priority: 9 })
  const next = await addChannel(server, { url: good, models: model })
  const { status, text } = await ask(chat({ stream: true }))
  expect([status, text]).toEqual([200, expect.stringContaining('four')])
  await eventually('the call is logged', async () => (await logs()).length > 0)
  const [row] = await logs()
  expect(row?.channel_id).toBe(next)
  expect(JSON.parse(row?.other ?? '{}').admin_info.attempts).toMatchObject([
    { reason: expect.stringContaining('MALFORMED_REPLY') },
  ])
})
