import { describe, expect, it } from 'vitest'
import { httpUpstream, claude as model, stage } from './stage.ts'

const request = {
  model,
  max_tokens: 10,
  messages: [{ role: 'user', content: 'Go on.' }],
  thread: { type: 'continue', previous_message_id: 'msg_1' },
}
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

async function upstream(status: number, answer: object) {
  const asked: Record<string, unknown>[] = []
  const url = await httpUpstream(async (incoming, response) => {
    let text = ''
    for await (const chunk of incoming) text += chunk
    asked.push(JSON.parse(text))
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  return { url, asked }
}

describe('a conversation that is left with the vendor', () => {
  it('reaches the vendor itself as it is', async () => {
    const { url, asked } = await upstream(200, reply)
    const { ask } = await stage('sqlite', url, { channel: { type: 14, models: model } })
    expect((await ask(request, '/v1/messages')).status).toBe(200)
    expect(asked).toEqual([request])
  })

  it.each([
    ['translated', { type: 8, models: model }],
    ['hosted elsewhere', { type: 33, models: model, key: 'AKIDEXAMPLE|secret|us-east-1' }],
    ['compatible', { type: 43, models: model }],
  ])('is refused for a channel that is %s, in the words by which the SDK sends all of it', async (_, channel) => {
    const { url, asked } = await upstream(200, reply)
    const { ask } = await stage('sqlite', url, { channel })
    const answer = await ask(request, '/v1/messages')
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text).error).toMatchObject({
      type: 'invalid_request_error',
      details: { error_code: 'thread_unsupported_request' },
    })
    expect(asked).toEqual([])
  })

  it("has the vendor's own words for programs when it is refused there, without anything of the channel", async () => {
    const details = { error_code: 'thread_not_found', hint: 'upstream-key-0123456789', steps: ['a', 'b'], other: { deep: 1 } }
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'Not found', details } }
    const { url } = await upstream(400, error)
    const { ask } = await stage('sqlite', url, { channel: { type: 14, models: model } })
    const answer = await ask(request, '/v1/messages')
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text).error.details).toEqual({ error_code: 'thread_not_found', hint: '…', steps: ['a', 'b'] })
  })
})
