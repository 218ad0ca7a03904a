import { describe, expect, it } from 'vitest'
import { itWrites, reading } from '../../../../../test/helpers/codecs.ts'
import { assistant, call, result, text, tideTool, toolTurns, user } from '../../../../../test/helpers/dialogue.ts'
import type { Codec } from '../codec.ts'
import { ernieChatFormat } from './format.ts'

const ernieChat: Codec = ernieChatFormat.codec

const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
const { stream, whole } = reading(ernieChat)

describe('a reply of Baidu', () => {
  it('is read non-streamed, with a generated id for a call', () => {
    const function_call = { name: 'get_tide', arguments: '{"port":"Rye"}', thoughts: 'I need the tide.' }
    const reply = { id: 'as-2', result: '', is_truncated: false, function_call, finish_reason: 'function_call', usage }
    expect(whole(reply)).toMatchObject({
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
    expect(whole({ result: 'x', ...more }).finish).toBe(finish)
  })

  it.each([
    [110, 401, 'invalid_api_key'],
    [18, 429, 'rate_limit_exceeded'],
    [336103, 400, 'context_length_exceeded'],
    [336000, 0, '336000'],
  ])('is an error of its code %i under HTTP 200', (error_code, status, code) => {
    const reply = { error_code, error_msg: 'no' }
    expect(whole(reply).error).toMatchObject({ status, code, message: 'no' })
    expect(stream(`data: ${JSON.stringify(reply)}\n\n`).error).toMatchObject({ status })
  })
})

describe('a request to Baidu', () => {
  itWrites(
    ernieChat,
    {
      'has separate instructions and values within their ranges': [
        {
          asks: {
            system: [text('Be brief')],
            sampling: { temperature: 1.8, topP: 0.5, frequencyPenalty: 0.5 },
            outputTokensMax: 1,
            stop: ['END'],
            user: 'u-7',
          },
          body: {
            system: 'Be brief',
            messages: [{ role: 'user', content: 'Hello' }],
            stream: false,
            temperature: 1,
            top_p: 0.5,
            stop: ['END'],
            max_output_tokens: 2,
            user_id: 'u-7',
          },
          lost: ['frequency_penalty', 'temperature'],
        },
        { asks: { outputTokensMax: 9000 }, has: { max_output_tokens: 2048 }, lost: ['max_tokens'] },
      ],
      'writes several calls of one turn one after the other, each with its result, with alternating roles': {
        asks: {
          tools: [tideTool],
          turns: [
            user('Tide?'),
            assistant(...['a', 'b'].map((id) => call(id, { input: `{"port":"${id}"}` }))),
            user(...['a', 'b'].map((id) => result(id, `tide of ${id}`)), 'And now?'),
          ],
        },
        is: {
          messages: [
            { role: 'user', content: 'Tide?' },
            { role: 'assistant', content: '', function_call: { name: 'get_tide', arguments: '{"port":"a"}' } },
            { role: 'function', name: 'get_tide', content: 'tide of a' },
            { role: 'assistant', content: '', function_call: { name: 'get_tide', arguments: '{"port":"b"}' } },
            { role: 'function', name: 'get_tide', content: 'tide of b' },
            { role: 'assistant', content: '.' },
            { role: 'user', content: 'And now?' },
          ],
        },
      },
      'has calls as text and no functions for models that do not support functions': {
        asks: { tools: [tideTool], turns: [user('Tide?'), ...toolTurns()] },
        model: 'ERNIE-Tiny-8K',
        has: { messages: [{}, { role: 'assistant', content: expect.stringContaining('get_tide') }, { role: 'user' }] },
        lacks: ['functions'],
        lost: ['tools'],
      },
      'begins with the user': {
        asks: { turns: [assistant('Welcome.'), user('Hi')] },
        has: { messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'user' }] },
      },
    },
    { model: 'ERNIE-4.0-8K' },
  )
})
