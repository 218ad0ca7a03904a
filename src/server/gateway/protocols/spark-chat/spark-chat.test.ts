import { describe, expect, it } from 'vitest'
import { readContext, readFrames, summary, written } from '../../../../../test/helpers/codecs.ts'
import { text, tideTool, toolTurns, user } from '../../../../../test/helpers/dialogue.ts'
import type { Codec } from '../codec.ts'
import { sparkChatFormat } from './format.ts'
import { sparkVersionOf } from './models.ts'

const sparkChat: Codec = sparkChatFormat.codec

const frame = (status: number, text: object, usage?: object) =>
  JSON.stringify({
    header: { code: 0, message: 'Success', sid: 's', status },
    payload: {
      choices: { status, seq: 0, text: [{ role: 'assistant', index: 0, ...text }] },
      ...(usage ? { usage: { text: usage } } : {}),
    },
  })
const model = 'SparkDesk-v3.5'

describe('a reply of Spark', () => {
  it('finishes with tool-calls for a call, which gets a generated id', () => {
    const called = frame(2, {
      content: '',
      content_type: 'text',
      function_call: { name: 'get_tide', arguments: '{"port":"Rye"}' },
    })
    expect(summary(readFrames(sparkChat, [called]))).toMatchObject({
      blocks: [{ block: 'tool-call', name: 'get_tide', callId: 'call_made_1', text: '{"port":"Rye"}' }],
      finish: 'tool-calls',
    })
  })

  it.each([
    [10013, 400, 'content_filter'],
    [11200, 401, 'invalid_api_key'],
    [11202, 429, 'rate_limit_exceeded'],
    [10907, 400, 'context_length_exceeded'],
    [99999, 0, '99999'],
  ])('is an error of its code %i', (code, status, name) => {
    const refused = { header: { code, message: 'no', status: 2 } }
    expect(summary(readFrames(sparkChat, [JSON.stringify(refused)])).error).toMatchObject({ status, code: name, message: 'no' })
    expect(summary(sparkChat.readReply(refused, readContext())).error).toMatchObject({ status })
  })
})

describe('a version of Spark', () => {
  it.each([
    ['SparkDesk-v1.1', '', '/v1.1/chat', 'lite'],
    ['SparkDesk-v2.1', '', '/v2.1/chat', 'generalv2'],
    ['SparkDesk-v3.5', 'v2.1', '/v3.5/chat', 'generalv3.5'],
    ['SparkDesk-v4.0', '', '/v4.0/chat', '4.0Ultra'],
    ['SparkDesk', 'v3.1', '/v3.1/chat', 'generalv3'],
    ['SparkDesk', '', '/v1.1/chat', 'lite'],
    ['pro-128k', '', '/chat/pro-128k', 'pro-128k'],
    ['4.0Ultra', '', '/v4.0/chat', '4.0Ultra'],
    ['max-32k', '', '/chat/max-32k', 'max-32k'],
    ['x1', '', '/v1/x1', 'x1'],
  ])('of the model %s and the channel %s is at %s', (name, other, path, domain) => {
    expect(sparkVersionOf(name, other)).toMatchObject({ path, domain })
  })
})

describe('a request to Spark', () => {
  it('is one message with values within their ranges', () => {
    const { body, lost } = written(
      sparkChat,
      {
        system: [text('Be brief')],
        sampling: { temperature: 0, topK: 40, topP: 0.5 },
        outputTokensMax: 100_000,
        user: 'u-7',
      },
      { model },
    )
    expect(body).toEqual({
      header: { uid: 'u-7' },
      parameter: { chat: { domain: 'generalv3.5', temperature: 0.01, top_k: 6, max_tokens: 8192 } },
      payload: {
        message: {
          text: [
            { role: 'system', content: 'Be brief' },
            { role: 'user', content: 'Hello' },
          ],
        },
      },
    })
    expect(lost).toEqual(['max_tokens', 'top_k', 'top_p'])
  })

  it('has instructions as user text for versions without system messages', () => {
    const { body } = written(sparkChat, { system: [text('Be brief')] }, { model: 'SparkDesk-v2.1' })
    expect(body.payload).toEqual({ message: { text: [{ role: 'user', content: 'Be brief\nHello' }] } })
  })

  it('contains functions if the version supports them, and past calls as text', () => {
    const given = { tools: [tideTool], turns: [user('Tide?'), ...toolTurns()] }
    expect(written(sparkChat, given, { model }).body.payload).toMatchObject({
      message: {
        text: [{ role: 'user' }, { role: 'assistant', content: expect.stringContaining('get_tide') }, { role: 'user' }],
      },
      functions: { text: [{ name: 'get_tide', description: 'Tide of a port', parameters: tideTool.schema }] },
    })
    expect(written(sparkChat, given, { model: 'x1' })).toMatchObject({ lost: ['tools'] })
    expect(() => written(sparkChat, { ...given, toolChoice: { kind: 'required' } }, { model: 'x1' })).toThrow('no tools')
  })
})
