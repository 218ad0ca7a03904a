import { describe, expect, it, onTestFinished } from 'vitest'
import { startServer } from '../helpers/app.ts'
import { addChannel, requireBalancedBooks } from '../helpers/seed.ts'
import { answeringUpstream, ask as askServer, claude as model, stage } from './stage.ts'

const path = '/v1/messages'
const request = {
  model,
  max_tokens: 10,
  messages: [{ role: 'user', content: 'Go on.' }],
  thread: { type: 'continue', previous_message_id: 'msg_2' },
}
const opening = { ...request, thread: { type: 'create' } }
const reply = {
  id: 'msg_2',
  type: 'message',
  role: 'assistant',
  model,
  content: [{ type: 'text', text: 'Yes.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 2 },
}

const events = [
  { type: 'message_start', message: { ...reply, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Yes.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: reply.usage },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('')

async function upstream(status: number, answer: object) {
  const asked: Record<string, unknown>[] = []
  const { url } = await answeringUpstream(({ body }) => {
    asked.push(body)
    return body.stream === true ? { bytes: events, status } : { json: answer, status }
  })
  return { url, asked }
}

describe('a conversation stored by the vendor', () => {
  it.each([
    ['whole', {}],
    ['streamed', { stream: true }],
  ])('is continued, %s, at the channel and with the key that stores it, unchanged and from every node', async (_, more) => {
    const { url, asked } = await upstream(200, reply)
    const other = await upstream(200, reply)
    const { server, ask, token } = await stage('postgres', url, { channel: { type: 14, models: model } })
    expect((await ask({ ...opening, ...more }, path)).status).toBe(200)
    await addChannel(server, { url: other.url, type: 14, models: model, priority: 9 })
    expect((await ask(request, path)).status).toBe(200)
    const node = await startServer('postgres', { database: server.database })
    onTestFinished(() => node.stop())
    expect((await askServer(node, token.key, request, path)).status).toBe(200)
    expect([asked, other.asked]).toEqual([[{ ...opening, ...more }, request, request], []])
    await requireBalancedBooks(server)
  })

  it('that is not stored for the caller is a 404, with the error that makes the SDK start again', async () => {
    const { url, asked } = await upstream(200, reply)
    const { ask } = await stage('sqlite', url, { channel: { type: 14, models: model } })
    const answer = await ask(request, path)
    expect([answer.status, JSON.parse(answer.text).error]).toMatchObject([
      404,
      {
        type: 'not_found_error',
        message: expect.stringContaining('send all of it'),
        details: { error_code: 'thread_not_found' },
      },
    ])
    expect(asked).toEqual([])
  })

  it('that its vendor has lost is a 404, with the error details of the vendor', async () => {
    const details = { error_code: 'thread_not_found' }
    const error = { type: 'error', error: { type: 'not_found_error', message: 'Thread expired', details } }
    const { url } = await upstream(404, error)
    const made = await upstream(200, reply)
    const { server, ask, channelId } = await stage('sqlite', made.url, { channel: { type: 14, models: model } })
    await ask(opening, path)
    await server.call('PUT /api/channel/', { id: channelId, base_url: url, key: 'another-key-0123456789' })
    const answer = await ask(request, path)
    expect([answer.status, JSON.parse(answer.text).error]).toMatchObject([404, { details }])
    expect(JSON.parse(answer.text).error.message).toContain('Thread expired')
  })

  it.each([
    ['translated', { type: 8, models: model }],
    ['hosted elsewhere', { type: 33, models: model, key: 'AKIDEXAMPLE|secret|us-east-1' }],
    ['compatible', { type: 43, models: model }],
  ])('is refused for a channel that is %s, with the error that makes the SDK send all of it', async (_, channel) => {
    const { url, asked } = await upstream(200, reply)
    const { ask } = await stage('sqlite', url, { channel })
    const answer = await ask(request, path)
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text).error).toMatchObject({
      type: 'invalid_request_error',
      details: { error_code: 'thread_unsupported_request' },
    })
    expect(asked).toEqual([])
  })

  it('keeps the error details of the vendor when it is refused there, without secrets of the channel', async () => {
    const details = { error_code: 'thread_not_found', hint: 'upstream-key-0123456789', steps: ['a', 'b'], other: { deep: 1 } }
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'Not found', details } }
    const { url } = await upstream(400, error)
    const { ask } = await stage('sqlite', url, { channel: { type: 14, models: model } })
    const answer = await ask(opening, path)
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text).error.details).toEqual({
      error_code: 'thread_not_found',
      hint: '…',
      steps: ['a', 'b'],
      other: { deep: 1 },
    })
  })
})
