import { describe, expect, it } from 'vitest'
import { itWrites, reading } from '../../../../../test/helpers/codecs.ts'
import { media, tideTool, toolTurns, user } from '../../../../../test/helpers/dialogue.ts'
import type { Codec } from '../codec.ts'
import { dashScopeChatFormat } from './format.ts'

const dashScopeChat: Codec = dashScopeChatFormat.codec

const usage = { input_tokens: 9, output_tokens: 4, total_tokens: 13 }
const line = (name: string, data: object) => `id:1\nevent:${name}\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`
const event = (message: object, finish_reason = 'null') =>
  line('result', {
    output: { choices: [{ message: { role: 'assistant', ...message }, finish_reason }] },
    usage,
    request_id: 'r',
  })
const { stream, whole } = reading(dashScopeChat)

describe('a reply of DashScope', () => {
  it('[246] continues while its finish reason is the string null', () => {
    const pieces = [event({ content: '', reasoning_content: 'Hm.' }), event({ content: 'The harbor' })]
    expect(stream(...pieces, event({ content: ' is calm.' }, 'stop'))).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Hm.' },
        { block: 'text', text: 'The harbor is calm.' },
      ],
      usage: { input: 9, output: 4 },
      finish: 'stop',
      isComplete: true,
    })
    expect(stream(event({ content: 'The' })).isComplete).toBe(false)
  })

  it('joins the pieces of a call', () => {
    const piece = (id: string, called: object) =>
      event({ content: '', tool_calls: [{ index: 0, type: 'function', function: called, id }] })
    const pieces = [piece('', { arguments: '{"port":' }), piece('', { arguments: '"Rye"}' })]
    const last = event({ content: '' }, 'tool_calls')
    expect(stream(piece('call_d', { name: 'get_tide', arguments: '' }), ...pieces, last)).toMatchObject({
      blocks: [{ block: 'tool-call', callId: 'call_d', name: 'get_tide', text: '{"port":"Rye"}' }],
      finish: 'tool-calls',
    })
  })

  it.each([
    [{ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] }, 'stop'],
    [{ choices: [{ message: { content: [{ text: 'Hi' }] }, finish_reason: 'stop' }] }, 'stop'],
    [{ text: 'Hi', finish_reason: 'length' }, 'length'],
  ])('is read non-streamed, from a message with text or parts, or from only a text: %j', (output, finish) => {
    expect(whole({ output, usage })).toMatchObject({ blocks: [{ block: 'text', text: 'Hi' }], finish, usage: { input: 9 } })
  })

  it.each([
    ['Throttling.RateQuota', 429],
    ['InvalidApiKey', 401],
    ['Arrearage', 402],
    ['Strange', 0],
  ])('is an error of %s with status %i, non-streamed or in the middle of a stream', (code, status) => {
    expect(whole({ code, message: 'no', request_id: 'r' }).error).toMatchObject({ code, message: 'no', status })
    expect(stream(event({ content: 'The' }), line('error', { code, message: 'no' })).error).toMatchObject({ status })
  })
})

describe('a request to DashScope', () => {
  const heard = { turns: [user(media('audio', { kind: 'url', url: 'https://a.example/b.mp3' }), 'Who speaks?')] }
  const reasoning = { mode: { budgetTokens: 2000 }, show: undefined } as const

  itWrites(dashScopeChat, {
    'has sampling values in parameters, within their ranges and excluding the ends': [
      {
        asks: {
          sampling: { temperature: 2, topP: 1, topK: 5, seed: 1, frequencyPenalty: 1 },
          outputTokensMax: 50,
          stop: ['END'],
          stream: true,
        },
        model: 'farui-plus',
        body: {
          model: 'farui-plus',
          input: { messages: [{ role: 'user', content: 'Hello' }] },
          parameters: {
            result_format: 'message',
            incremental_output: true,
            max_tokens: 50,
            temperature: 1.99,
            top_p: 0.999,
            top_k: 5,
            seed: 1,
            stop: ['END'],
          },
        },
        lost: ['frequency_penalty'],
      },
      { asks: { sampling: { topP: 0 } }, has: { parameters: { top_p: 0.001 } } },
      { lacks: ['parameters.top_p'] },
    ],
    'has parts for multimodal models': {
      asks: heard,
      model: 'qwen2-audio-instruct',
      is: {
        input: {
          messages: [{ role: 'user', content: [{ audio: 'https://a.example/b.mp3' }, { text: 'Who speaks?' }] }],
        },
      },
    },
    'contains calls and results, and forces the one chosen tool': {
      asks: {
        tools: [tideTool],
        toolChoice: { kind: 'tool', name: 'get_tide' },
        turns: [user('Tide?'), ...toolTurns()],
      },
      has: {
        input: {
          messages: [
            { role: 'user' },
            {
              role: 'assistant',
              tool_calls: [{ index: 0, id: 'call_1', function: { name: 'get_tide', arguments: '{"port":"Rye"}' } }],
            },
            { role: 'tool', tool_call_id: 'call_1', content: 'high' },
          ],
        },
        parameters: { tool_choice: { type: 'function', function: { name: 'get_tide' } } },
      },
      lost: [],
    },
    'enables thinking only in streams': [
      { asks: { reasoning, stream: true }, has: { parameters: { enable_thinking: true, thinking_budget: 2000 } } },
      { asks: { reasoning }, has: { parameters: { enable_thinking: false } }, lost: ['reasoning_effort'] },
    ],
  })
})
