import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readContext, readSse, summary, written } from '../../../../test/helpers/codecs.ts'
import { assistant, text, tideTool, toolTurns, user as userTurn } from '../../../../test/helpers/dialogue.ts'
import type { Codec } from '../protocols/codec.ts'
import { formats } from '../protocols/index.ts'
import { openAiChatFormat } from '../protocols/openai-chat/format.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import { adjustRequest, quirksFor } from './adjust-request.ts'
import { providerById, providers } from './index.ts'

const openAiChatCodec: Codec = openAiChatFormat.codec

type Type = 17 | 20 | 25 | 26 | 27 | 35 | 40 | 42 | 43 | 45 | 48
const deepseek = 43
const mistral = 42
const moonshot = 25

const provider = (type: number) => providerById(type) ?? expect.unreachable(`no provider ${type}`)
const channelOf = (type: number) => ({ type, provider: provider(type), baseUrl: provider(type).baseUrl, setting: {} })
/** The body that is sent upstream when the request passes through. */
function passed(type: Type, body: JsonObject, model = 'm'): JsonObject {
  const changes = adjustRequest(channelOf(type), { body, format: 'openai.chat', model })
  return Object.fromEntries(Object.entries({ ...body, ...changes }).filter(([, value]) => value !== undefined))
}
const user = { role: 'user', content: 'Hi' }
const called = (more: object = {}) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_abcdefghijk', type: 'function', function: { name: 'f', arguments: '{}' } }],
  ...more,
})
const result = { role: 'tool', tool_call_id: 'call_abcdefghijk', content: 'ok' }
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } }]
/** Member of the message at `index`. */
const message = (body: JsonObject, index: number): JsonObject => (body.messages as JsonObject[])[index] ?? {}

describe('a Chat request that passes through', () => {
  it.each(providers.filter(({ speaks }) => speaks['openai.chat'] !== undefined).map(({ key, id }) => [key, id] as const))(
    'to %s is unchanged if the host accepts it',
    (_, id) => {
      const plain = {
        model: 'm',
        messages: [{ role: 'system', content: 'JSON' }, user],
        max_tokens: 5,
        temperature: 0.5,
        stream: true,
      }
      expect(adjustRequest(channelOf(id), { body: plain, format: 'openai.chat', model: 'm' })).toEqual({})
    },
  )

  it('is unchanged if it was written by the translation', () => {
    for (const type of [17, 20, 25, 26, 27, 35, 40, 42, 43, 45, 48] as const) {
      const quirks = quirksFor(channelOf(type), 'm')
      const turns = [userTurn('Tide?'), ...toolTurns(), userTurn('Sure?'), assistant('Yes.'), userTurn('Thanks')]
      const { body } = written(
        openAiChatCodec,
        {
          turns,
          tools: [tideTool],
          system: [text('Answer in JSON')],
          outputTokensMax: 9,
          sampling: { temperature: 0.5 },
        },
        { quirks },
      )
      expect([type, adjustRequest(channelOf(type), { body, format: 'openai.chat', model: 'm' })]).toEqual([type, {}])
    }
  })
})

describe('reasoning in the history', () => {
  it('[267] is removed for Mistral, with every member for which it would return 422', () => {
    const history = [
      { role: 'developer', content: 'Be brief' },
      { ...user, name: 'ann' },
      { role: 'assistant', content: 'Yes', reasoning_content: 'Hm', refusal: null, annotations: [] },
      user,
    ]
    expect(passed(mistral, { messages: history }).messages).toEqual([
      { role: 'system', content: 'Be brief' },
      user,
      { role: 'assistant', content: 'Yes' },
      user,
    ])
  })

  it('[158] is present in every assistant turn for DeepSeek if there are tools, empty if it is lost', () => {
    const messages = [
      user,
      called(),
      result,
      { role: 'assistant', content: 'Done', reasoning_content: 'Hm' },
      user,
      { role: 'assistant', content: 'Ok' },
      user,
    ]
    const body = passed(deepseek, { messages, tools })
    expect([1, 3, 5].map((at) => message(body, at).reasoning_content)).toEqual(['', 'Hm', ''])
    expect(passed(deepseek, { messages: [user, { role: 'assistant', content: 'Ok' }, user] })).toEqual({
      messages: [user, { role: 'assistant', content: 'Ok' }, user],
    })
  })

  it('[158] is a space if it is lost in turns with calls for Kimi, which refuses an empty text', () => {
    const body = passed(moonshot, {
      messages: [user, called({ reasoning_content: '' }), result, called({ reasoning_content: 'Hm' }), result],
    })
    expect([1, 3].map((at) => message(body, at).reasoning_content)).toEqual([' ', 'Hm'])
  })

  it('is found under the member name of another host', () => {
    expect(message(passed(deepseek, { messages: [user, called({ reasoning: 'Hm' }), result] }), 1).reasoning_content).toBe('Hm')
  })

  it.each([17, 40, 45] as const)("[159] is removed for DeepSeek's first reasoning model, on type %i", (type) => {
    const messages = [user, { role: 'assistant', content: 'Ok', reasoning_content: 'Hm' }, user]
    for (const model of ['deepseek-r1', 'deepseek-ai/DeepSeek-R1', 'deepseek-r1-distill-qwen-32b']) {
      expect(message(passed(type, { messages }, model), 1)).toEqual({ role: 'assistant', content: 'Ok' })
    }
    expect(passed(type, { messages }, 'deepseek-v3')).toEqual({ messages })
  })

  it('[269] is sent to OpenRouter in its own member, with a placeholder for models that require it with tools', () => {
    const details = [{ type: 'reasoning.text', text: 'Hm', signature: 's' }]
    const messages = [
      user,
      called({ reasoning_details: details }),
      result,
      called({ reasoning_content: 'Hm' }),
      result,
      called(),
      result,
    ]
    const body = passed(20, { messages, tools }, 'deepseek/deepseek-v4')
    expect([1, 3, 5].map((at) => message(body, at))).toEqual([
      called({ reasoning_details: details }),
      called({ reasoning: 'Hm' }),
      called({ reasoning: ' ' }),
    ])
    expect(message(passed(20, { messages: [user, called(), result], tools }, 'openai/gpt-4o'), 1)).toEqual(called())
  })
})

describe('values that a host does not support', () => {
  it('[268] include max_completion_tokens, which becomes max_tokens', () => {
    for (const type of [17, 25, 26, 27, 35, 40, 42, 43, 45] as const) {
      expect(passed(type, { messages: [user], max_completion_tokens: 9 })).toEqual({ messages: [user], max_tokens: 9 })
    }
  })

  it('leave Mistral and Moonshot the key of their prompt caches', () => {
    for (const type of [mistral, 25] as const) {
      const body = { messages: [user], prompt_cache_key: 'thread-1' }
      expect(passed(type, body)).toEqual(body)
      expect(provider(type).quirks.takesCacheKey).toBe(true)
    }
  })

  it('are left out for Mistral, or rewritten if it has an equivalent', () => {
    const body = { messages: [user], seed: 7, logprobs: true, user: 'u', tools: [], tool_choice: 'auto', temperature: 2 }
    expect(passed(mistral, body)).toEqual({ messages: [user], random_seed: 7, temperature: 1.5 })
    expect(passed(mistral, { messages: [user], tools, tool_choice: 'required' })).toMatchObject({ tools, tool_choice: 'any' })
    expect(provider(mistral).streamOptions).toBe(false)
  })

  it('[92] include long call ids, which become nine letters and digits for Mistral, the same in call and result', () => {
    const body = passed(mistral, { messages: [user, called(), result] })
    const [call] = message(body, 1).tool_calls as JsonObject[]
    expect(call?.id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(message(body, 2).tool_call_id).toBe(call?.id)
  })

  it('include a user message right after a tool result, for hosts that refuse this order', () => {
    for (const type of [27, 42] as const) {
      expect(
        (passed(type, { messages: [user, called(), result, user] }).messages as JsonObject[]).map(({ role }) => role),
      ).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
    }
  })

  it('[114] include `strict` of tools, which is removed', () => {
    const declared = { name: 'f', parameters: { type: 'object' } }
    expect(passed(moonshot, { messages: [user], tools }).tools).toEqual([{ type: 'function', function: declared }])
  })

  it('[138] include the role developer, which becomes system', () => {
    expect(message(passed(deepseek, { messages: [{ role: 'developer', content: 'x' }, user] }), 0).role).toBe('system')
  })
})

describe('JSON answers', () => {
  it('[187] of DeepSeek have the word "JSON" in the conversation', () => {
    const format = { response_format: { type: 'json_object' } }
    const told = passed(deepseek, { messages: [{ role: 'system', content: 'Be brief' }, user], ...format })
    expect((told.messages as JsonObject[]).map(({ role }) => role)).toEqual(['system', 'system', 'user'])
    expect(message(told, 1).content).toContain('JSON')
    const there = { messages: [{ role: 'user', content: 'As json please' }], ...format }
    expect(passed(deepseek, there)).toEqual(there)
  })

  it('of hosts without schemas get the schema as an instruction', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const body = { messages: [user], response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }
    for (const type of [26, 43] as const) {
      const told = passed(type, body)
      expect(told.response_format).toEqual({ type: 'json_object' })
      expect(message(told, 0).content).toContain(JSON.stringify(schema))
    }
  })
})

describe('sampling', () => {
  it('respects the limits of the host', () => {
    expect(passed(26, { messages: [user], temperature: 1.5, top_p: 1 })).toMatchObject({ temperature: 1, top_p: 0.99 })
    expect(passed(26, { messages: [user], temperature: 0 })).toEqual({ messages: [user], do_sample: false })
    expect(passed(17, { messages: [user], top_p: 1 })).toMatchObject({ top_p: 0.999 })
    expect(passed(17, { messages: [user], top_p: 0 })).toEqual({ messages: [user] })
    expect(passed(35, { messages: [user], temperature: 0 })).toMatchObject({ temperature: 0.01 })
    expect(passed(moonshot, { messages: [user], temperature: 1.7 }, 'moonshot-v1-8k')).toMatchObject({ temperature: 1 })
    expect(passed(moonshot, { messages: [user], temperature: 0.3, top_p: 0.5 }, 'kimi-k2.6')).toEqual({ messages: [user] })
  })

  it('of Zhipu leaves the tool choice to the model, and offers no tools when none may be called', () => {
    expect(passed(26, { messages: [user], tools, tool_choice: 'required' })).toMatchObject({ tool_choice: 'auto' })
    expect(passed(26, { messages: [user], tools, tool_choice: 'none' })).toEqual({ messages: [user] })
  })

  it('of open Qwen models turns thinking off where it is refused: outside of a stream', () => {
    expect(passed(17, { messages: [user] }, 'qwen3-32b')).toMatchObject({ enable_thinking: false })
    expect(passed(17, { messages: [user], stream: true }, 'qwen3-32b')).toEqual({ messages: [user], stream: true })
    expect(passed(17, { messages: [user], enable_thinking: true }, 'qwen3-32b')).toMatchObject({ enable_thinking: true })
  })

  it("of Grok has the effort that the model's name contains", () => {
    expect(passed(48, { model: 'grok-3-mini-high', messages: [user], stop: ['x'] }, 'grok-3-mini-high')).toEqual({
      model: 'grok-3-mini',
      messages: [user],
      reasoning_effort: 'high',
    })
  })
})

describe('a reply of a host', () => {
  const chunk = (more: object) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...more })}\n\n`
  const stop = { index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }
  const usageOf = (more: object) =>
    summary(readSse(openAiChatCodec, `${chunk({ choices: [stop], ...more })}data: [DONE]\n\n`)).usage

  it('[167] counts the reasoning tokens that xAI leaves out of the completion', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 450,
      completion_tokens_details: { reasoning_tokens: 300 },
    }
    expect(usageOf({ usage })).toMatchObject({ input: 100, output: 350, reasoning: 300 })
  })

  it('[214] counts the cache hits and misses that DeepSeek reports', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 105,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
    }
    expect(usageOf({ usage })).toMatchObject({ input: 36, cacheRead: 64, output: 5 })
  })

  it('[215] has the usage that Moonshot reports in the last choice', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cached_tokens: 4 }
    expect(usageOf({ choices: [{ ...stop, usage }] })).toMatchObject({ input: 6, cacheRead: 4, output: 5 })
  })

  it('[247] is an error when MiniMax reports one in base_resp with status 200', () => {
    const reply = { id: 'x', choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }
    expect(summary(openAiChatCodec.readReply(reply, readContext())).error).toMatchObject({
      status: 402,
      message: 'insufficient balance',
    })
  })

  it('[254] is an error when Cloudflare reports one with status 200', () => {
    const reply = { success: false, result: {}, errors: [{ code: 7009, message: 'no such model' }], messages: [] }
    expect(summary(openAiChatCodec.readReply(reply, readContext())).error).toMatchObject({ message: 'no such model' })
  })

  it('contains the thinking that Mistral sends as parts of the content', () => {
    const fixture = (name: string) =>
      readFileSync(new URL(`../protocols/openai-chat/fixtures/mistral/${name}.sse`, import.meta.url), 'utf8')
    const { quirks } = provider(mistral)
    expect(summary(readSse(openAiChatCodec, fixture('thinking'), quirks))).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Two ports.' },
        { block: 'text', text: 'Rye.' },
      ],
      usage: { input: 10, output: 5 },
      finish: 'stop',
    })
    expect(summary(readSse(openAiChatCodec, fixture('text'), quirks)).blocks).toEqual([
      { block: 'text', text: 'The harbor is calm.' },
    ])
  })

  it('contains the thinking that MiniMax and Perplexity send between tags', () => {
    const events = chunk({ choices: [{ index: 0, delta: { content: '<think>Hm</think>' } }] }) + chunk({ choices: [stop] })
    for (const type of [27, 35] as const) {
      expect(summary(readSse(openAiChatCodec, events, provider(type).quirks)).blocks).toMatchObject([
        { block: 'reasoning', text: 'Hm' },
        { block: 'text', text: 'Hi' },
      ])
    }
  })
})

describe('Ollama', () => {
  const ollama = provider(4)
  const image = (url: string) => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] })
  const channel = (other: string) => ({ id: 1, type: 4, key: '', baseUrl: ollama.baseUrl, organization: '', other, setting: {} })

  it('receives Chat requests unchanged, and all others in its own format', () => {
    expect(ollama.prefers?.('openai.chat', 'm', { messages: [user] })).toBeUndefined()
    expect(ollama.prefers?.('anthropic.messages', 'm', { messages: [user] })).toBe('ollama.chat')
    expect(ollama.prefers?.('openai.embeddings', 'm', { input: 'x' })).toBeUndefined()
  })

  it('[250] receives images by URL in its own format, so that they are fetched and sent as bytes', () => {
    expect(ollama.prefers?.('openai.chat', 'm', image('https://a.example/b.png'))).toBe('ollama.chat')
    expect(ollama.prefers?.('openai.chat', 'm', image('data:image/png;base64,iVBO'))).toBeUndefined()
    expect(formats['ollama.chat'].codec?.inlines).toContain('image')
  })

  it('receives the context length of the channel, for which only its own format has a member', () => {
    const own = ollama.forChannel?.(channel('8192'))
    expect(own?.prefers?.('openai.chat', 'm', { messages: [user] })).toBe('ollama.chat')
    expect(own?.adjustBody?.({ options: { seed: 1 } }, 'ollama.chat', 'm')).toEqual({ options: { seed: 1, num_ctx: 8192 } })
    expect(ollama.forChannel?.(channel(''))).toBe(ollama)
    expect(() => ollama.checkOther?.('big')).toThrow('whole number')
  })

  it('streams JSON lines', () => {
    expect(ollama.framing?.('ollama.chat', true)).toBe('ndjson')
    expect(ollama.framing?.('openai.chat', true)).toBe('sse')
  })
})

describe('Alibaba', () => {
  const ali = provider(17)

  it('is called at its compatible API, except for models that it does not serve there', () => {
    expect(ali.prefers?.('openai.chat', 'qwen-max', {})).toBeUndefined()
    expect(ali.prefers?.('openai.chat', 'qwen2-audio-instruct', {})).toBe('dashscope.chat')
    expect(ali.speaksWith?.('openai.chat', 'qwen-max')).toBe(true)
    expect(ali.speaksWith?.('dashscope.chat', 'qwen-max')).toBe(false)
    expect(ali.speaksWith?.('openai.chat', 'farui-plus')).toBe(false)
    expect(ali.speaksWith?.('openai.embeddings', 'text-embedding-v1')).toBe(true)
  })
})

describe('services that were shut down', () => {
  it.each([11, 21])(
    'type %i still works with an address that speaks its protocol, and states that the vendor’s own address does not',
    (type) => {
      expect(provider(type)).toMatchObject({ offered: true, testable: true })
      expect(provider(type).keyFormat.en).toContain('shut')
    },
  )

  it('the channel names the knowledge base', () => {
    const library = provider(21)
    const inChannel = library.forChannel?.({
      id: 1,
      type: 21,
      key: 'k',
      baseUrl: library.baseUrl,
      organization: '',
      other: 'lib-7',
      setting: {},
    })
    expect(inChannel?.adjustBody?.({}, 'library.ask', 'm')).toEqual({ libraryId: 'lib-7' })
    expect(() => library.checkOther?.('a b')).toThrow('knowledge base')
  })
})
