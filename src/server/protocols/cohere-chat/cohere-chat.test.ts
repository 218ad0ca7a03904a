import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readContext, readSse, summary, tideTool, toolTurns, userTurn, written } from '../../../../test/helpers/codecs.ts'
import type { Dialogue, MediaPart } from '../dialogue.ts'
import { cohereChatFormat } from './format.ts'

const cohereChat = cohereChatFormat.codec
const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}.sse`, import.meta.url), 'utf8')
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

describe('a reply of Cohere', () => {
  it('[253] has the plan before a call as reasoning, never as text', () => {
    expect(summary(readSse(cohereChat, fixture('tool_call')))).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'I will check the tide.' },
        { block: 'tool-call', name: 'get_tide', callId: 'get_tide_fx', text: '{"port":"Rye"}' },
      ],
      finish: 'tool-calls',
    })
    const whole = cohereChat.readReply(
      {
        message: { tool_plan: 'A plan.', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] },
        finish_reason: 'TOOL_CALL',
      },
      readContext(),
    )
    expect(summary(whole).blocks.map(({ block }) => block)).toEqual(['reasoning', 'tool-call'])
  })

  it.each([
    ['nothing', start('f', '') + close()],
    ['the word null', start('f', '') + input('null') + close()],
    ['the word null at once', start('f', 'null') + close()],
  ])('[69] has an empty object as the input of a call with %s', (_, events) => {
    expect(summary(readSse(cohereChat, events + end('TOOL_CALL'))).blocks).toMatchObject([{ text: '{}' }])
  })

  it('keeps a null within the input', () => {
    const events = start('f', '{"a":') + input('null') + input('}') + close() + end('TOOL_CALL')
    expect(summary(readSse(cohereChat, events)).blocks).toMatchObject([{ text: '{"a":null}' }])
  })

  it('reads thinking pieces as reasoning', () => {
    const content = (piece: object) => event({ type: 'content-delta', index: 0, delta: { message: { content: piece } } })
    const events = content({ thinking: 'Hm.' }) + content({ text: 'Yes.' }) + end('COMPLETE')
    expect(summary(readSse(cohereChat, events)).blocks).toEqual([
      { block: 'reasoning', text: 'Hm.' },
      { block: 'text', text: 'Yes.' },
    ])
  })

  it('counts tokens rather than billed units, and cached tokens separately', () => {
    const usage = { billed_units: { input_tokens: 1 }, tokens: { input_tokens: 90, output_tokens: 5 }, cached_tokens: 60 }
    const reply = { message: { content: [{ type: 'text', text: 'x' }] }, finish_reason: 'MAX_TOKENS', usage }
    expect(summary(cohereChat.readReply(reply, readContext()))).toMatchObject({
      usage: { input: 30, cacheRead: 60, output: 5 },
      finish: 'length',
    })
  })

  it.each([
    ['ERROR', 0],
    ['TIMEOUT', 504],
  ])('is an error when it ends with %s', (reason, status) => {
    const { error } = summary(readSse(cohereChat, end(reason, { error: 'worker died' })))
    expect(error).toMatchObject({ message: 'worker died', status })
  })

  it('finishes with other when its finish reason is unknown, and is an error when it is also empty', () => {
    const text = event({ type: 'content-delta', delta: { message: { content: { text: 'x' } } } })
    expect(summary(readSse(cohereChat, text + end('NEW'))).finish).toBe('other')
    expect(summary(readSse(cohereChat, end('NEW'))).error).toBeDefined()
  })
})

describe('a request to Cohere', () => {
  it('has the names and ranges of its parameters', () => {
    const { body, lost } = written(cohereChat, {
      sampling: { temperature: 0.5, topP: 1, topK: 900, seed: 1, presencePenalty: 1.5, frequencyPenalty: -1 },
      outputTokensMax: 9,
      stop: ['a', 'b', 'c', 'd', 'e', 'f'],
      stream: true,
    })
    expect(body).toEqual({
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
    })
    expect(lost).toEqual(['frequency_penalty', 'stop'])
  })

  it('contains every turn, including calls and their results', () => {
    const { body } = written(cohereChat, {
      system: [
        { kind: 'text', text: 'One' },
        { kind: 'text', text: 'Two' },
      ],
      tools: [tideTool],
      turns: [userTurn('Tide?'), ...toolTurns(), userTurn('And now?')],
    })
    expect(body.messages).toEqual([
      { role: 'system', content: 'One\n\nTwo' },
      { role: 'user', content: 'Tide?' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_tide', arguments: '{"port":"Rye"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'high' },
      { role: 'user', content: 'And now?' },
    ])
  })

  it('forces the one chosen tool, if the model supports it', () => {
    const given: Partial<Dialogue> = { tools: [tideTool, { ...tideTool, name: 'b' }], toolChoice: { kind: 'tool', name: 'b' } }
    const { body, lost } = written(cohereChat, given, { model: 'command-a-03-2025' })
    expect(body).toMatchObject({ tools: [{ function: { name: 'b' } }], tool_choice: 'REQUIRED' })
    expect(lost).toEqual([])
    expect(written(cohereChat, given, { model: 'command-r-08-2024' })).toMatchObject({ lost: ['tool_choice'] })
    expect(written(cohereChat, given, { model: 'command-r-08-2024' }).body).not.toHaveProperty('tool_choice')
  })

  it('requests JSON by an instruction when it has tools, because Cohere rejects a format together with tools', () => {
    const output = { kind: 'schema', name: 'x', description: undefined, schema: { type: 'object' }, strict: true } as const
    expect(written(cohereChat, { output }).body.response_format).toEqual({ type: 'json_object', json_schema: { type: 'object' } })
    const beside = written(cohereChat, { output, tools: [tideTool] })
    expect(beside.body).not.toHaveProperty('response_format')
    expect(beside.body.messages).toMatchObject([{ role: 'system', content: expect.stringContaining('JSON') }, {}])
    expect(beside.lost).toEqual(['response_format'])
  })

  it('contains images as URLs, and is refused for documents', () => {
    const image: MediaPart = {
      kind: 'media',
      media: 'image',
      source: { kind: 'url', url: 'https://a.example/b.png' },
      detail: 'low',
    }
    const { body } = written(cohereChat, { turns: [{ role: 'user', parts: [{ kind: 'text', text: 'See' }, image] }] })
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'https://a.example/b.png', detail: 'low' } },
        ],
      },
    ])
    const pdf: MediaPart = { ...image, media: 'document' }
    expect(() => written(cohereChat, { turns: [{ role: 'user', parts: [pdf] }] })).toThrow('takes no document')
  })

  it('has the requested reasoning for models that support it', () => {
    const reasoning = { mode: { effort: 'max' }, show: undefined } as const
    const model = 'command-a-reasoning-08-2025'
    expect(written(cohereChat, { reasoning }, { model }).body.thinking).toEqual({ type: 'enabled', token_budget: 31_000 })
    expect(written(cohereChat, { reasoning: { mode: 'off', show: undefined } }, { model }).body.thinking).toEqual({
      type: 'disabled',
    })
    expect(written(cohereChat, { reasoning }).lost).toEqual(['reasoning_effort'])
  })

  it('gives a tool a name that Cohere accepts, and maps it back', () => {
    const given = written(cohereChat, { tools: [{ ...tideTool, name: 'mcp/tide.get' }] })
    expect(given.body.tools).toMatchObject([{ function: { name: 'mcp_tide_get' } }])
    expect(given.toolNames?.get('mcp_tide_get')).toBe('mcp/tide.get')
  })
})
