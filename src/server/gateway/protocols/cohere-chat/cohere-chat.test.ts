import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { itWrites, reading, written } from '../../../../../test/helpers/codecs.ts'
import { image, text, tideTool, toolTurns, user } from '../../../../../test/helpers/dialogue.ts'
import type { Codec } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { cohereChatFormat } from './format.ts'

const cohereChat: Codec = cohereChatFormat.codec

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const start = (name: string, input: string, index = 0) =>
  event({
    type: 'tool-call-start',
    index,
    delta: { message: { tool_calls: { id: `id_${index}`, type: 'function', function: { name, arguments: input } } } },
  })
const input = (text: string, index = 0) =>
  event({ type: 'tool-call-delta', index, delta: { message: { tool_calls: { function: { arguments: text } } } } })
const close = (index = 0) => event({ type: 'tool-call-end', index })
const end = (finish_reason: string, more = {}) => event({ type: 'message-end', delta: { finish_reason, ...more } })
const content = (piece: object) => event({ type: 'content-delta', index: 0, delta: { message: { content: piece } } })
const { stream, whole } = reading(cohereChat)

describe('a reply of Cohere', () => {
  it('[253] has the plan before a call as reasoning, never as text', () => {
    expect(stream(readFileSync(new URL('fixtures/tool_call.sse', import.meta.url), 'utf8'))).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'I will check the tide.' },
        { block: 'tool-call', name: 'get_tide', callId: 'get_tide_fx', text: '{"port":"Rye"}' },
      ],
      finish: 'tool-calls',
    })
    const message = { tool_plan: 'A plan.', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] }
    expect(whole({ message, finish_reason: 'TOOL_CALL' }).blocks.map(({ block }) => block)).toEqual(['reasoning', 'tool-call'])
  })

  it.each([
    ['nothing', start('f', '') + close(), '{}'],
    ['the word null', start('f', '') + input('null') + close(), '{}'],
    ['the word null at once', start('f', 'null') + close(), '{}'],
    ['a null within the input', start('f', '{"a":') + input('null') + input('}') + close(), '{"a":null}'],
  ])('[69] has, for a call with %s, an object as its input', (_, events, read) => {
    expect(stream(events, end('TOOL_CALL')).blocks).toMatchObject([{ text: read }])
  })

  it('reads thinking pieces as reasoning', () => {
    expect(stream(content({ thinking: 'Hm.' }), content({ text: 'Yes.' }), end('COMPLETE')).blocks).toEqual([
      { block: 'reasoning', text: 'Hm.' },
      { block: 'text', text: 'Yes.' },
    ])
  })

  it('counts tokens rather than billed units, and cached tokens separately', () => {
    const usage = { billed_units: { input_tokens: 1 }, tokens: { input_tokens: 90, output_tokens: 5 }, cached_tokens: 60 }
    const message = { content: [{ type: 'text', text: 'x' }] }
    expect(whole({ message, finish_reason: 'MAX_TOKENS', usage })).toMatchObject({
      usage: { input: 30, cacheRead: 60, output: 5 },
      finish: 'length',
    })
  })

  it.each([
    ['ERROR', 0],
    ['TIMEOUT', 504],
  ])('is an error when it ends with %s', (reason, status) => {
    expect(stream(end(reason, { error: 'worker died' })).error).toMatchObject({ message: 'worker died', status })
  })

  it('finishes with other when its finish reason is unknown, and is an error when it is also empty', () => {
    expect(stream(content({ text: 'x' }), end('NEW')).finish).toBe('other')
    expect(stream(end('NEW')).error).toBeDefined()
  })
})

describe('a request to Cohere', () => {
  const chosen: Partial<Dialogue> = { tools: [tideTool, { ...tideTool, name: 'b' }], toolChoice: { kind: 'tool', name: 'b' } }
  const output = { kind: 'schema', name: 'x', description: undefined, schema: { type: 'object' }, strict: true } as const
  const reasoning = { mode: { effort: 'max' }, show: undefined } as const
  const thinker = 'command-a-reasoning-08-2025'

  itWrites(cohereChat, {
    'has the names and ranges of its parameters': {
      asks: {
        sampling: { temperature: 0.5, topP: 1, topK: 900, seed: 1, presencePenalty: 1.5, frequencyPenalty: -1 },
        outputTokensMax: 9,
        stop: ['a', 'b', 'c', 'd', 'e', 'f'],
        stream: true,
      },
      body: {
        model: 'm',
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
        max_tokens: 9,
        stop_sequences: ['a', 'b', 'c', 'd', 'e'],
        temperature: 0.5,
        p: 0.99,
        k: 500,
        seed: 1,
        presence_penalty: 1,
      },
      lost: ['frequency_penalty', 'presence_penalty', 'stop', 'top_k'],
    },
    'contains every turn, including calls and their results': {
      asks: {
        system: [text('One'), text('Two')],
        tools: [tideTool],
        turns: [user('Tide?'), ...toolTurns(), user('And now?')],
      },
      is: {
        messages: [
          { role: 'system', content: 'One\n\nTwo' },
          { role: 'user', content: 'Tide?' },
          {
            role: 'assistant',
            tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_tide', arguments: '{"port":"Rye"}' } }],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'high' },
          { role: 'user', content: 'And now?' },
        ],
      },
    },
    'forces the one chosen tool, if the model supports it': [
      {
        asks: chosen,
        model: 'command-a-03-2025',
        has: { tools: [{ function: { name: 'b' } }], tool_choice: 'REQUIRED' },
        lost: [],
      },
      { asks: chosen, model: 'command-r-08-2024', lacks: ['tool_choice'], lost: ['tool_choice'] },
    ],
    'requests JSON by an instruction when it has tools, because Cohere rejects a format together with tools': [
      { asks: { output }, is: { response_format: { type: 'json_object', json_schema: { type: 'object' } } } },
      {
        asks: { output, tools: [tideTool] },
        has: { messages: [{ role: 'system', content: expect.stringContaining('JSON') }, {}] },
        lacks: ['response_format'],
        lost: ['response_format'],
      },
    ],
    'contains images as URLs': {
      asks: { turns: [user('See', image({ detail: 'low' }))] },
      is: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'See' },
              { type: 'image_url', image_url: { url: 'https://a.example/b.png', detail: 'low' } },
            ],
          },
        ],
      },
    },
    'has the requested reasoning for models that support it': [
      { asks: { reasoning }, model: thinker, is: { thinking: { type: 'enabled', token_budget: 31_000 } } },
      { asks: { reasoning: { mode: 'off', show: undefined } }, model: thinker, is: { thinking: { type: 'disabled' } } },
      { asks: { reasoning }, lost: ['reasoning_effort'] },
    ],
  })

  it('gives a tool a name that Cohere accepts, and maps it back', () => {
    const given = written(cohereChat, { tools: [{ ...tideTool, name: 'mcp/tide.get' }] })
    expect(given.body.tools).toMatchObject([{ function: { name: 'mcp_tide_get' } }])
    expect(given.toolNames?.get('mcp_tide_get')).toBe('mcp/tide.get')
  })
})
