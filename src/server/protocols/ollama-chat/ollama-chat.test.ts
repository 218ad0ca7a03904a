import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  assistantTurn,
  readContext,
  readFrames,
  summary,
  tideTool,
  toolTurns,
  userTurn,
  written,
} from '../../../../test/helpers/codecs.ts'
import type { MediaPart } from '../dialogue.ts'
import { ollamaChatFormat } from './format.ts'

const ollamaChat = ollamaChatFormat.codec
const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}.ndjson`, import.meta.url), 'utf8')
const lines = (name: string) => fixture(name).trim().split('\n')

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
    const events = readFrames(ollamaChat, [...lines('error_midstream'), ...lines('text')])
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { message: expect.stringContaining('running the model') } })
    expect(summary(events).blocks).toEqual([{ block: 'text', text: 'The' }])
  })

  it('has reasoning, text and calls when it is not streamed', () => {
    const reply = {
      message: { role: 'assistant', content: 'Hi', thinking: 'Hm', tool_calls: [{ function: { name: 'f', arguments: {} } }] },
      done: true,
      done_reason: 'length',
      prompt_eval_count: 3,
      eval_count: 2,
    }
    expect(summary(ollamaChat.readReply(reply, readContext()))).toMatchObject({
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

  it.each(['load', 'unload'])('is an error when its done_reason is %s', (done_reason) => {
    expect(ollamaChat.readReply({ done: true, done_reason }, readContext()).at(-1)?.type).toBe('error')
  })

  it('is not complete without its last line', () => {
    expect(summary(readFrames(ollamaChat, lines('text').slice(0, 2))).isComplete).toBe(false)
    expect(ollamaChat.readReply({ message: { content: 'Hi' } }, readContext()).at(-1)?.type).toBe('error')
  })
})

describe('a request to Ollama', () => {
  it('has its limits and sampling in options', () => {
    const { body, lost } = written(ollamaChat, {
      system: [{ kind: 'text', text: 'Be brief' }],
      sampling: { temperature: 0.2, topP: 0.9, topK: 40, seed: 7 },
      outputTokensMax: 50,
      stop: ['END'],
      output: { kind: 'json' },
      stream: true,
    })
    expect(body).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hello' },
      ],
      stream: true,
      format: 'json',
      options: { num_predict: 50, temperature: 0.2, top_p: 0.9, top_k: 40, seed: 7, stop: ['END'] },
    })
    expect(lost).toEqual([])
  })

  it('disables streaming explicitly, because Ollama streams by default', () => {
    expect(written(ollamaChat, {}).body.stream).toBe(false)
  })

  it('[250] contains images as bytes next to the text, after their URLs were fetched', () => {
    expect(ollamaChat.inlines).toContain('image')
    const image: MediaPart = {
      kind: 'media',
      media: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0K' },
    }
    const { body } = written(ollamaChat, { turns: [{ role: 'user', parts: [{ kind: 'text', text: 'What is it?' }, image] }] })
    expect(body.messages).toEqual([{ role: 'user', content: 'What is it?', images: ['iVBORw0K'] }])
  })

  it('has calls with their input as an object, and results with the name of the tool', () => {
    const { body } = written(ollamaChat, {
      tools: [tideTool],
      turns: [userTurn('Tide?'), ...toolTurns(), assistantTurn('High.')],
    })
    expect(body.messages).toEqual([
      { role: 'user', content: 'Tide?' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ function: { name: 'get_tide', arguments: { port: 'Rye' } } }],
      },
      { role: 'tool', content: 'high', tool_name: 'get_tide' },
      { role: 'assistant', content: 'High.' },
    ])
    expect(body.tools).toEqual([
      { type: 'function', function: { name: 'get_tide', description: 'Tide of a port', parameters: tideTool.schema } },
    ])
  })

  it('contains no tools for the choice none, and only the chosen tool for the choice of one', () => {
    expect(written(ollamaChat, { tools: [tideTool], toolChoice: { kind: 'none' } }).body).not.toHaveProperty('tools')
    const chosen = written(ollamaChat, {
      tools: [tideTool, { ...tideTool, name: 'other' }],
      toolChoice: { kind: 'tool', name: 'other' },
    })
    expect(chosen.body.tools).toMatchObject([{ function: { name: 'other' } }])
    expect(chosen.lost).toEqual(['tool_choice'])
  })

  it('never requests thinking from a model without it, because Ollama would return 400', () => {
    const reasoning = { mode: { effort: 'high' }, show: undefined } as const
    expect(written(ollamaChat, { reasoning }, { model: 'llama3' })).toMatchObject({ lost: ['reasoning_effort'] })
    expect(written(ollamaChat, { reasoning }, { model: 'llama3' }).body).not.toHaveProperty('think')
    expect(written(ollamaChat, { reasoning }, { model: 'library/qwen3:8b' }).body.think).toBe(true)
    expect(written(ollamaChat, { reasoning }, { model: 'gpt-oss:20b' }).body.think).toBe('high')
    expect(written(ollamaChat, { reasoning: { mode: 'off', show: undefined } }, { model: 'llama3' }).body.think).toBe(false)
  })

  it("reports lost members by the caller's names", () => {
    const given = {
      parallelTools: false,
      tools: [tideTool],
      user: 'u',
      cacheKey: 'k',
      extra: { logit_bias: { 1: 2 }, store: false, metadata: null },
    }
    expect(written(ollamaChat, given).lost).toEqual(['logit_bias', 'parallel_tool_calls', 'prompt_cache_key', 'user'])
    expect(written(ollamaChat, { ...given, from: 'anthropic.messages', extra: {} }).lost).toContain('metadata.user_id')
  })
})
