import { describe, expect, it } from 'vitest'
import {
  assistantTurn,
  readContext,
  readSse,
  summary,
  tideTool,
  toolTurns,
  userTurn,
  written,
} from '../../../../test/helpers/codecs.ts'
import type { Turn } from '../dialogue.ts'
import { ernieChatFormat } from './format.ts'

const ernieChat = ernieChatFormat.codec
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
const call = { name: 'get_tide', arguments: '{"port":"Rye"}', thoughts: 'I need the tide.' }
const model = 'ERNIE-4.0-8K'

describe('a reply of Baidu', () => {
  it('is read non-streamed, with a generated id for a call', () => {
    const reply = { id: 'as-2', result: '', is_truncated: false, function_call: call, finish_reason: 'function_call', usage }
    expect(summary(ernieChat.readReply(reply, readContext()))).toMatchObject({
      blocks: [{ block: 'tool-call', name: 'get_tide', callId: 'call_made_1', text: '{"port":"Rye"}' }],
      finish: 'tool-calls',
    })
  })

  it.each([
    [{ is_truncated: true }, 'length'],
    [{ finish_reason: 'length' }, 'length'],
    [{ finish_reason: 'content_filter' }, 'content-filter'],
    [{ finish_reason: 'stop' }, 'stop'],
  ])('has the finish reason reported by %o', (more, finish) => {
    expect(summary(ernieChat.readReply({ result: 'x', ...more }, readContext())).finish).toBe(finish)
  })

  it.each([
    [110, 401, 'invalid_api_key'],
    [18, 429, 'rate_limit_exceeded'],
    [336103, 400, 'context_length_exceeded'],
    [336000, 0, '336000'],
  ])('is an error of its code %i under HTTP 200', (error_code, status, code) => {
    const reply = { error_code, error_msg: 'no' }
    expect(summary(ernieChat.readReply(reply, readContext())).error).toMatchObject({ status, code, message: 'no' })
    expect(summary(readSse(ernieChat, event(reply))).error).toMatchObject({ status })
  })
})

describe('a request to Baidu', () => {
  it('has separate instructions and values within their ranges', () => {
    const { body, lost } = written(
      ernieChat,
      {
        system: [{ kind: 'text', text: 'Be brief' }],
        sampling: { temperature: 1.8, topP: 0.5, frequencyPenalty: 0.5 },
        outputTokensMax: 1,
        stop: ['END'],
        user: 'u-7',
      },
      { model },
    )
    expect(body).toEqual({
      system: 'Be brief',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: false,
      temperature: 1,
      top_p: 0.5,
      stop: ['END'],
      max_output_tokens: 2,
      user_id: 'u-7',
    })
    expect(lost).toEqual(['frequency_penalty'])
    expect(written(ernieChat, { outputTokensMax: 9000 }, { model })).toMatchObject({
      body: { max_output_tokens: 2048 },
      lost: ['max_tokens'],
    })
  })

  it('writes several calls of one turn one after the other, each with its result, with alternating roles', () => {
    const both: Turn[] = [
      {
        role: 'assistant',
        parts: ['a', 'b'].map((callId) => ({
          kind: 'tool-call',
          callId,
          name: 'get_tide',
          input: `{"port":"${callId}"}`,
          isCustom: false,
        })),
      },
      {
        role: 'user',
        parts: [
          ...['a', 'b'].map((callId) => ({
            kind: 'tool-result' as const,
            callId,
            parts: [{ kind: 'text' as const, text: `tide of ${callId}` }],
            isError: false,
            isCustom: false,
          })),
          { kind: 'text', text: 'And now?' },
        ],
      },
    ]
    const { body } = written(ernieChat, { tools: [tideTool], turns: [userTurn('Tide?'), ...both] }, { model })
    expect(body.messages).toEqual([
      { role: 'user', content: 'Tide?' },
      { role: 'assistant', content: '', function_call: { name: 'get_tide', arguments: '{"port":"a"}' } },
      { role: 'function', name: 'get_tide', content: 'tide of a' },
      { role: 'assistant', content: '', function_call: { name: 'get_tide', arguments: '{"port":"b"}' } },
      { role: 'function', name: 'get_tide', content: 'tide of b' },
      { role: 'assistant', content: '.' },
      { role: 'user', content: 'And now?' },
    ])
  })

  it('has calls as text and no functions for models that do not support functions', () => {
    const { body, lost } = written(
      ernieChat,
      { tools: [tideTool], turns: [userTurn('Tide?'), ...toolTurns()] },
      { model: 'ERNIE-Tiny-8K' },
    )
    expect(body).not.toHaveProperty('functions')
    expect(body.messages).toMatchObject([
      {},
      { role: 'assistant', content: expect.stringContaining('get_tide') },
      { role: 'user' },
    ])
    expect(lost).toEqual(['tools'])
  })

  it('begins with the user', () => {
    const { body } = written(ernieChat, { turns: [assistantTurn('Welcome.'), userTurn('Hi')] }, { model })
    expect(body.messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }])
  })
})
