import { describe, expect, it } from 'vitest'
import { membersOf, spliceMembers } from '../../base/lib/bytes/splice-json.ts'
import { chatHost, plainHost } from '../providers/adjust-chat.ts'
import type { Quirks, RequestContext } from './codec.ts'
import type { Format } from './format.ts'
import { declarations, formats } from './index.ts'
import { leastOutputLimit, readOutputLimit, writeOutputLimit } from './output-limit.ts'
import type { JsonObject } from './wire-format.ts'

const write = (format: Format, body: JsonObject, tokens: number, model = 'model', quirks: Quirks = {}) =>
  writeOutputLimit(formats[format], body, { tokens, model, quirks })
const read = (format: Format, body: JsonObject, model = 'm') => readOutputLimit(formats[format], body, { model, quirks: {} })

describe('an output limit in a native body', () => {
  it.each<[Format, string, JsonObject]>([
    ['openai.chat', 'gpt-4o', { max_tokens: 900 }],
    ['openai.chat', 'gpt-5-mini', { max_completion_tokens: 900 }],
    ['openai.chat', 'openai/o3-mini-high', { max_completion_tokens: 900 }],
    ['openai.chat', 'deepseek-chat', { max_tokens: 900 }],
    ['openai.completions', 'gpt-3.5-turbo-instruct', { max_tokens: 900 }],
    ['openai.responses', 'gpt-5', { max_output_tokens: 900 }],
    ['anthropic.messages', 'claude-sonnet-4-5', { max_tokens: 900 }],
    ['gemini.generate', 'gemini-3-pro', { generationConfig: { maxOutputTokens: 900 } }],
    ['bedrock.converse', 'amazon.nova-pro-v1:0', { inferenceConfig: { maxTokens: 900 } }],
    ['cohere.chat', 'command-a', { max_tokens: 900 }],
    ['dashscope.chat', 'qwen-vl-max', { parameters: { max_tokens: 900 } }],
    ['ernie.chat', 'ernie-4.0', { max_output_tokens: 900 }],
    ['ollama.chat', 'qwen3', { options: { num_predict: 900 } }],
    ['replicate.predict', 'openai/gpt-5', { input: { max_completion_tokens: 900 } }],
    ['spark.chat', 'lite', { parameter: { chat: { max_tokens: 900 } } }],
  ])('is written for %s and %s where there is none', (format, model, members) => {
    expect(write(format, {}, 900, model)).toEqual(members)
    expect(read(format, members, model)).toBe(900)
    expect(read(format, {}, model)).toBeUndefined()
  })

  it.each<Format>(['hunyuan.chat', 'palm.message', 'library.ask', 'dify.chat', 'coze.chat', 'openai.embeddings'])(
    'cannot be written for %s, which has no member for it',
    (format) => expect(write(format, {}, 900)).toBeUndefined(),
  )

  it("lowers the caller's limit and never raises it", () => {
    expect(write('openai.chat', { max_tokens: 5000 }, 900)).toEqual({ max_tokens: 900 })
    expect(write('openai.chat', { max_tokens: 100 }, 900)).toEqual({})
    expect(write('gemini.generate', { generationConfig: { maxOutputTokens: 100 } }, 900)).toEqual({})
    expect(write('anthropic.messages', { max_tokens: 0 }, 900)).toEqual({})
  })

  it('replaces values that hosts read as no limit', () => {
    expect(write('openai.chat', { max_tokens: 0 }, 900)).toEqual({ max_tokens: 900 })
    expect(write('openai.chat', { max_tokens: null }, 900)).toEqual({ max_tokens: 900 })
    expect(write('ollama.chat', { options: { num_predict: -1, seed: 7 } }, 900)).toEqual({
      options: { num_predict: 900, seed: 7 },
    })
  })

  it('lowers every member that a host might read', () => {
    const both = { max_tokens: 5000, max_completion_tokens: 6000 }
    expect(write('openai.chat', both, 900)).toEqual({ max_tokens: 900, max_completion_tokens: 900 })
    expect(write('openai.chat', { ...both, max_tokens: 50 }, 900)).toEqual({ max_completion_tokens: 900 })
    expect(read('openai.chat', both)).toBe(6000)
  })

  it('keeps the member that the body uses, and each host receives the one that it supports', () => {
    expect(write('openai.chat', { max_completion_tokens: 5000 }, 900)).toEqual({ max_completion_tokens: 900 })
    expect(write('openai.chat', {}, 900, 'gpt-5', plainHost)).toEqual({ max_tokens: 900 })

    const host = chatHost(plainHost)
    const limited = { max_completion_tokens: 5000, ...write('openai.chat', { max_completion_tokens: 5000 }, 900, 'm', plainHost) }
    expect(host.adjustBody(limited, 'openai.chat', 'm', {})).toEqual({ max_completion_tokens: undefined, max_tokens: 900 })
  })

  it("is at least the vendor's minimum: 16 in Responses, above the thinking budget", () => {
    expect(write('openai.responses', {}, 3)).toEqual({ max_output_tokens: 16 })
    expect(write('openai.responses', { max_output_tokens: 5 }, 3)).toEqual({})
    const claude = { max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 4000 } }
    expect(write('anthropic.messages', claude, 1000)).toEqual({ max_tokens: 4001 })
    expect(write('anthropic.messages', claude, 6000)).toEqual({ max_tokens: 6000 })
    expect(leastOutputLimit(formats['anthropic.messages'], claude, { model: 'claude-opus-4-1', quirks: {} })).toBe(4001)
    expect(write('openai.chat', { reasoning: { max_tokens: 2000 } }, 100)).toEqual({ max_tokens: 2001 })
    expect(write('replicate.predict', {}, 100, 'anthropic/claude-4-sonnet')).toEqual({ input: { max_tokens: 1024 } })
  })

  it('uses the spelling of a Gemini body, and keeps the order of its other members', () => {
    const snake = { generation_config: { temperature: 0.5, max_output_tokens: 5000, top_k: 3 } }
    expect(JSON.stringify(write('gemini.generate', snake, 900))).toBe(
      '{"generation_config":{"temperature":0.5,"max_output_tokens":900,"top_k":3}}',
    )
    expect(write('gemini.generate', { generation_config: { top_k: 3 } }, 900)).toEqual({
      generation_config: { top_k: 3, max_output_tokens: 900 },
    })
    expect(write('gemini.generate', { generation_config: { maxOutputTokens: 5000 } }, 900)).toEqual({
      generation_config: { maxOutputTokens: 900 },
    })
    const twice = { generationConfig: { maxOutputTokens: 5000 }, generation_config: { max_output_tokens: 6000 } }
    expect(read('gemini.generate', { ...twice, ...write('gemini.generate', twice, 900) })).toBe(900)
  })

  it('leaves all other bytes of the body unchanged', () => {
    const body = Buffer.from(
      '{ "model":"gpt-4o",\n "seed": 9007199254740993, "max_tokens":  5000 , "messages":[{"role":"user","content":"é"}]}',
    )
    const changes = write('openai.chat', JSON.parse(body.toString()), 900) ?? {}
    const texts = Object.fromEntries(Object.entries(changes).map(([member, value]) => [member, JSON.stringify(value)]))
    expect(membersOf(body)).toBeDefined()
    expect(spliceMembers(body, texts).toString()).toBe(body.toString().replace('5000', '900'))
  })
})

describe('an output limit in a translated body', () => {
  const context = (model: string): RequestContext => ({
    model,
    quirks: {},
    settings: { claudeDefaultMaxTokens: { default: 8192 }, claudeThinkingShare: 0.8, geminiSafety: {} },
    lose: () => undefined,
  })
  const limited: readonly [Format, string][] = [
    ['openai.chat', 'gpt-5'],
    ['openai.responses', 'gpt-5'],
    ['anthropic.messages', 'claude-sonnet-4-5'],
    ['gemini.generate', 'gemini-3-pro'],
    ['bedrock.converse', 'us.anthropic.claude-sonnet-4-5-v1:0'],
    ['bedrock.converse', 'amazon.nova-pro-v1:0'],
    ['cohere.chat', 'command-a'],
    ['dashscope.chat', 'qwen-max'],
    ['ernie.chat', 'ernie-4.0'],
    ['ollama.chat', 'qwen3'],
    ['replicate.predict', 'meta/llama-4'],
    ['spark.chat', 'lite'],
  ]

  it.each(limited)('is read from and lowered in what the writer of %s produces for %s', (format, model) => {
    const asked = { model, messages: [{ role: 'user', content: 'hi' }], max_completion_tokens: 2000 }
    const dialogue = formats['openai.chat'].inbound?.readRequest(asked, {})
    if (!dialogue) throw new Error('Chat has a reader')
    const body = formats[format].codec?.writeRequest(dialogue, context(model)).body ?? {}
    expect(readOutputLimit(formats[format], body, context(model))).toBe(2000)
    const lowered = { ...body, ...writeOutputLimit(formats[format], body, { tokens: 700, ...context(model) }) }
    expect(readOutputLimit(formats[format], lowered, context(model))).toBe(700)
    expect(Object.keys(lowered)).toEqual(Object.keys(body))
  })

  it('can be written for every conversation format of callers', () => {
    const answering = declarations.filter(({ inbound }) => inbound !== undefined)
    expect(answering.length).toBeGreaterThan(0)
    for (const { name } of answering) expect(write(name, {}, 900)).toBeDefined()
  })
})
