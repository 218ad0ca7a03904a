import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { itWrites, readFrames, reading, summary } from '../../../../../test/helpers/codecs.ts'
import { assistant, base64, media, text, tideTool, toolTurns, user } from '../../../../../test/helpers/dialogue.ts'
import type { Codec } from '../codec.ts'
import { ollamaChatFormat } from './format.ts'

const ollamaChat: Codec = ollamaChatFormat.codec

const lines = (name: string) =>
  readFileSync(new URL(`fixtures/${name}.ndjson`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
const { whole } = reading(ollamaChat)

describe('a reply of Ollama', () => {
  it('has reasoning before the call, a generated call id, and the finish reason tool-calls', () => {
    expect(summary(readFrames(ollamaChat, lines('tools_thinking')))).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Need tide.' },
        { block: 'tool-call', name: 'get_tide', callId: 'call_made_1', text: '{"port":"Rye"}' },
      ],
      finish: 'tool-calls',
    })
  })

  it('[249] ends with an error at the line that reports one', () => {
    const { blocks, error } = summary(readFrames(ollamaChat, [...lines('error_midstream'), ...lines('text')]))
    expect(error).toMatchObject({ message: expect.stringContaining('running the model') })
    expect(blocks).toEqual([{ block: 'text', text: 'The' }])
  })

  it('has reasoning, text and calls when it is not streamed', () => {
    const message = { content: 'Hi', thinking: 'Hm', tool_calls: [{ function: { name: 'f', arguments: {} } }] }
    expect(whole({ message, done: true, done_reason: 'length', prompt_eval_count: 3, eval_count: 2 })).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Hm' },
        { block: 'text', text: 'Hi' },
        { block: 'tool-call', text: '{}' },
      ],
      finish: 'length',
    })
  })

  it('has no usage when Ollama omits the prompt count, so that the gateway counts it', () => {
    const [first = ''] = lines('text')
    expect(summary(readFrames(ollamaChat, [first, '{"done":true,"eval_count":7}'])).usage).toBeUndefined()
  })

  it.each([{ done: true, done_reason: 'load' }, { done: true, done_reason: 'unload' }, { message: { content: 'Hi' } }])(
    'is an error when it is %j, without an answer or without its end',
    (reply) => expect(whole(reply).error).toBeDefined(),
  )
})

describe('a request to Ollama', () => {
  const reasoning = { mode: { effort: 'high' }, show: undefined } as const
  const given = { parallelTools: false, tools: [tideTool], user: 'u', cacheKey: 'k' }

  itWrites(ollamaChat, {
    'has its limits and sampling in options': {
      asks: {
        system: [text('Be brief')],
        sampling: { temperature: 0.2, topP: 0.9, topK: 40, seed: 7 },
        outputTokensMax: 50,
        stop: ['END'],
        output: { kind: 'json' },
        stream: true,
      },
      body: {
        model: 'm',
        messages: [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: 'Hello' },
        ],
        stream: true,
        format: 'json',
        options: { num_predict: 50, temperature: 0.2, top_p: 0.9, top_k: 40, seed: 7, stop: ['END'] },
      },
      lost: [],
    },
    'disables streaming explicitly, because Ollama streams by default': { has: { stream: false } },
    '[250] contains images as bytes next to the text, after their URLs were fetched': {
      asks: { turns: [user('What is it?', media('image', base64('image/png', 'iVBORw0K')))] },
      is: { messages: [{ role: 'user', content: 'What is it?', images: ['iVBORw0K'] }] },
    },
    'has calls with their input as an object, and results with the name of the tool': {
      asks: { tools: [tideTool], turns: [user('Tide?'), ...toolTurns(), assistant('High.'), user('Sure?')] },
      is: {
        messages: [
          { role: 'user', content: 'Tide?' },
          { role: 'assistant', content: '', tool_calls: [{ function: { name: 'get_tide', arguments: { port: 'Rye' } } }] },
          { role: 'tool', content: 'high', tool_name: 'get_tide' },
          { role: 'assistant', content: 'High.' },
          { role: 'user', content: 'Sure?' },
        ],
        tools: [{ type: 'function', function: { name: 'get_tide', description: 'Tide of a port', parameters: tideTool.schema } }],
      },
    },
    'contains no tools for the choice none, and only the chosen tool for the choice of one': [
      { asks: { tools: [tideTool], toolChoice: { kind: 'none' } }, lacks: ['tools'] },
      {
        asks: { tools: [tideTool, { ...tideTool, name: 'other' }], toolChoice: { kind: 'tool', name: 'other' } },
        has: { tools: [{ function: { name: 'other' } }] },
        lost: ['tool_choice'],
      },
    ],
    'never requests thinking from a model without it, because Ollama would return 400': [
      { asks: { reasoning }, model: 'llama3', lacks: ['think'], lost: ['reasoning_effort'] },
      { asks: { reasoning }, model: 'library/qwen3:8b', has: { think: true } },
      { asks: { reasoning }, model: 'gpt-oss:20b', has: { think: 'high' } },
      { asks: { reasoning: { mode: 'off', show: undefined } }, model: 'llama3', has: { think: false } },
    ],
    "reports lost members by the caller's names": [
      {
        asks: { ...given, extra: { logit_bias: { 1: 2 }, store: false, metadata: null } },
        lost: ['logit_bias', 'parallel_tool_calls', 'prompt_cache_key', 'user'],
      },
      {
        asks: { ...given, from: 'anthropic.messages' },
        lost: ['metadata.user_id', 'prompt_cache_key', 'tool_choice.disable_parallel_tool_use'],
      },
    ],
  })

  it('has images that are fetched first', () => expect(ollamaChat.inlines).toContain('image'))
})
