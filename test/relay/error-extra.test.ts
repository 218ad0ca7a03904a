import { describe, expect, it } from 'vitest'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, chat, claude, event, model, upstreamKey } from './stage.ts'

const sharedStage = sharedStages()

/**
 * Members of an upstream's error besides its message reach callers of the same dialect unchanged, and no callers of other dialects.
 */

const refusing = async (status: number, bytes: string) =>
  (await answeringUpstream({ status, bytes, type: status === 200 ? 'text/event-stream' : 'application/json' })).url

const gemini = 'gemini-1.5-pro-latest'
const doors = {
  chat: { path: '/v1/chat/completions', body: (name: string) => chat({ model: name }) },
  responses: { path: '/v1/responses', body: (name: string) => ({ model: name, input: 'hi' }) },
  messages: {
    path: '/v1/messages',
    body: (name: string) => ({ model: name, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
  },
  gemini: {
    path: (name: string) => `/v1beta/models/${name}:generateContent`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
  },
} as const
type Door = keyof typeof doors

async function errorAt(
  door: Door,
  channel: { type: number; models: string },
  text: string,
  { status = 400, stream = false } = {},
) {
  const { ask } = await sharedStage(await refusing(stream ? 200 : status, text), channel)
  const { path, body } = doors[door]
  const sent = { ...body(channel.models), ...(stream ? { stream } : {}) }
  const answer = await ask(sent, typeof path === 'string' ? path : path(channel.models))
  const last = answer.text.slice(answer.text.lastIndexOf('data: ') + (answer.text.includes('data: ') ? 'data: '.length : 1))
  return JSON.parse(last).error as Record<string, unknown>
}

const long = 'x'.repeat(5000)
const groq = {
  message: 'Failed to call a function.',
  type: 'invalid_request_error',
  code: 'tool_use_failed',
  failed_generation: `<function=a>${long}`,
}
const openRouter = {
  message: 'Provider returned error',
  code: 400,
  metadata: { raw: `key ${upstreamKey}`, provider_name: 'Deep', attempts: [{ status: 400, isFinal: true }], user_id: 'user_2' },
}
const image = {
  type: 'invalid_request_error',
  message: 'messages.0: the image is too large',
  details: { error_code: 'image_too_large', max_side_length_pixels: 8000, sizes: [{ width: 9000 }], hint: upstreamKey },
}
const told = { error_code: 'image_too_large', max_side_length_pixels: 8000, sizes: [{ width: 9000 }], hint: '…' }
const google = {
  code: 400,
  message: 'Invalid value',
  status: 'INVALID_ARGUMENT',
  details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'contents', n: 1 }] }],
}

describe('structured details of an error', () => {
  it('failed_generation and metadata reach callers of Chat and Responses, without secrets', async () => {
    const channel = { type: 1, models: model }
    expect(await errorAt('chat', channel, JSON.stringify({ error: groq }))).toMatchObject({
      failed_generation: groq.failed_generation,
    })
    const { metadata } = await errorAt('responses', channel, JSON.stringify({ error: openRouter }))
    expect(metadata).toEqual({ raw: 'key …', provider_name: 'Deep', attempts: [{ status: 400, isFinal: true }] })
  })

  it('none reach a caller with a fault of the upstream', async () => {
    const error = await errorAt('chat', { type: 1, models: model }, JSON.stringify({ error: groq }), { status: 500 })
    expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code'])
  })

  it('error.details of Anthropic keep numbers and objects, whole and in a stream that has begun', async () => {
    const channel = { type: 14, models: claude }
    const error = JSON.stringify({ type: 'error', error: image })
    expect((await errorAt('messages', channel, error)).details).toEqual(told)
    const start = { type: 'message_start', message: { id: 'm', role: 'assistant', model: claude, content: [], usage: {} } }
    const begun = [
      start,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    ]
    const stream = [...begun, { type: 'error', error: image }].map((data) => `event: ${data.type}\n${event(data)}`).join('')
    expect((await errorAt('messages', channel, stream, { stream: true })).details).toEqual(told)
    const early = `event: error\n${event({ type: 'error', error: image })}`
    expect((await errorAt('messages', channel, early, { stream: true })).details).toEqual(told)
  })

  it('failed_generation in a stream reaches a caller of Chat', async () => {
    const delta = event({ id: 'c', choices: [{ index: 0, delta: { content: 'Hello' } }] })
    const error = await errorAt('chat', { type: 1, models: model }, delta + event({ error: groq }), { stream: true })
    expect(error.failed_generation).toBe(groq.failed_generation)
  })

  it('details of Google reach its callers', async () => {
    const error = await errorAt('gemini', { type: 24, models: gemini }, JSON.stringify({ error: google }))
    expect(error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', details: google.details })
  })

  it('callers of another dialect do not get details', async () => {
    const anthropic = JSON.stringify({ type: 'error', error: image })
    expect(await errorAt('chat', { type: 14, models: claude }, anthropic)).not.toHaveProperty('details')
    const openai = await errorAt('messages', { type: 1, models: model }, JSON.stringify({ error: groq }))
    expect(Object.keys(openai)).toEqual(['type', 'message'])
  })
})
