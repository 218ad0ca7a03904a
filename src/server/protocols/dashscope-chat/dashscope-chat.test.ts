import { describe, expect, it } from 'vitest'
import { readContext, readSse, summary, tideTool, toolTurns, userTurn, written } from '../../../../test/helpers/codecs.ts'
import type { MediaPart } from '../dialogue.ts'
import { dashScopeChatFormat } from './format.ts'

const dashScopeChat = dashScopeChatFormat.codec
const usage = { input_tokens: 9, output_tokens: 4, total_tokens: 13 }
const event = (message: object, finish_reason = 'null', number = 1) =>
  `id:${number}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify({
    output: { choices: [{ message: { role: 'assistant', ...message }, finish_reason }] },
    usage,
    request_id: 'r',
  })}\n\n`
const stream =
  event({ content: '', reasoning_content: 'Hm.' }) + event({ content: 'The harbor' }) + event({ content: ' is calm.' }, 'stop')
const read = (reply: object) => summary(dashScopeChat.readReply({ ...reply }, readContext()))

describe('a reply of DashScope', () => {
  it('[246] continues while its finish reason is the string null', () => {
    expect(summary(readSse(dashScopeChat, stream))).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Hm.' },
        { block: 'text', text: 'The harbor is calm.' },
      ],
      usage: { input: 9, output: 4 },
      finish: 'stop',
      isComplete: true,
    })
    expect(summary(readSse(dashScopeChat, event({ content: 'The' }))).isComplete).toBe(false)
  })

  it('joins the pieces of a call', () => {
    const call = (piece: object, more = {}) =>
      event({ content: '', tool_calls: [{ index: 0, type: 'function', function: piece, ...more }] })
    const called =
      call({ name: 'get_tide', arguments: '' }, { id: 'call_d' }) +
      call({ arguments: '{"port":' }, { id: '' }) +
      call({ arguments: '"Rye"}' }, { id: '' }) +
      event({ content: '' }, 'tool_calls')
    expect(summary(readSse(dashScopeChat, called))).toMatchObject({
      blocks: [{ block: 'tool-call', callId: 'call_d', name: 'get_tide', text: '{"port":"Rye"}' }],
      finish: 'tool-calls',
    })
  })

  it('is read non-streamed, from a message with text or parts, or from only a text', () => {
    const whole = (message: object) => ({ output: { choices: [{ message, finish_reason: 'stop' }] }, usage })
    expect(read(whole({ content: 'Hi' })).blocks).toEqual([{ block: 'text', text: 'Hi' }])
    expect(read(whole({ content: [{ text: 'Hi' }] })).blocks).toEqual([{ block: 'text', text: 'Hi' }])
    expect(read({ output: { text: 'Hi', finish_reason: 'length' }, usage })).toMatchObject({
      finish: 'length',
      usage: { input: 9 },
    })
  })

  it.each([
    ['Throttling.RateQuota', 429],
    ['InvalidApiKey', 401],
    ['Arrearage', 402],
    ['Strange', 0],
  ])('is an error of %s with status %i, non-streamed or in the middle of a stream', (code, status) => {
    expect(read({ code, message: 'no', request_id: 'r' }).error).toMatchObject({ code, message: 'no', status })
    const broken = `${event({ content: 'The' })}id:2\nevent:error\n:HTTP_STATUS/429\ndata:${JSON.stringify({ code, message: 'no' })}\n\n`
    expect(summary(readSse(dashScopeChat, broken)).error).toMatchObject({ status })
  })
})

describe('a request to DashScope', () => {
  it('has sampling values in parameters, within their ranges and excluding the ends', () => {
    const { body, lost } = written(
      dashScopeChat,
      {
        sampling: { temperature: 2, topP: 1, topK: 5, seed: 1, frequencyPenalty: 1 },
        outputTokensMax: 50,
        stop: ['END'],
        stream: true,
      },
      { model: 'farui-plus' },
    )
    expect(body).toEqual({
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
    })
    expect(lost).toEqual(['frequency_penalty'])
    expect(written(dashScopeChat, { sampling: { topP: 0 } }).body).toMatchObject({ parameters: { top_p: 0.001 } })
    expect(written(dashScopeChat, {}).body.parameters).not.toHaveProperty('top_p')
  })

  it('has parts for multimodal models, and is refused for media with other models', () => {
    const sound: MediaPart = { kind: 'media', media: 'audio', source: { kind: 'url', url: 'https://a.example/b.mp3' } }
    const turns = [{ role: 'user' as const, parts: [sound, { kind: 'text' as const, text: 'Who speaks?' }] }]
    expect(written(dashScopeChat, { turns }, { model: 'qwen2-audio-instruct' }).body.input).toEqual({
      messages: [{ role: 'user', content: [{ audio: 'https://a.example/b.mp3' }, { text: 'Who speaks?' }] }],
    })
    expect(() => written(dashScopeChat, { turns }, { model: 'farui-plus' })).toThrow('takes no audio')
  })

  it('contains calls and results, and forces the one chosen tool', () => {
    const { body, lost } = written(dashScopeChat, {
      tools: [tideTool],
      toolChoice: { kind: 'tool', name: 'get_tide' },
      turns: [userTurn('Tide?'), ...toolTurns()],
    })
    expect(body.input).toMatchObject({
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          tool_calls: [{ index: 0, id: 'call_1', function: { name: 'get_tide', arguments: '{"port":"Rye"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'high' },
      ],
    })
    expect(body.parameters).toMatchObject({ tool_choice: { type: 'function', function: { name: 'get_tide' } } })
    expect(lost).toEqual([])
  })

  it('enables thinking only in streams', () => {
    const reasoning = { mode: { budgetTokens: 2000 }, show: undefined } as const
    expect(written(dashScopeChat, { reasoning, stream: true }).body.parameters).toMatchObject({
      enable_thinking: true,
      thinking_budget: 2000,
    })
    expect(written(dashScopeChat, { reasoning })).toMatchObject({
      body: { parameters: { enable_thinking: false } },
      lost: ['reasoning_effort'],
    })
  })
})
