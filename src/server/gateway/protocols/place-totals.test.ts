import { describe, expect, it } from 'vitest'
import { noUsage, type Usage } from '../../../contract/usage.ts'
import { readMessagesUsage } from './anthropic-messages/usage.ts'
import type { ReadContext } from './codec.ts'
import { dashScopeChatFormat } from './dashscope-chat/format.ts'
import { readGeminiUsage } from './gemini-generate/usage.ts'
import { readChatUsage } from './openai-chat/chat.ts'
import { readEvents, readReply } from './openai-chat/reply-read.ts'
import { readResponseUsage } from './openai-responses/usage.ts'
import type { ReplyEvent } from './reply-events.ts'
import type { JsonObject } from './wire-format.ts'

const dashScopeChat = dashScopeChatFormat.codec
const chat = (cached: number, total: number) =>
  readChatUsage({
    prompt_tokens: 10,
    completion_tokens: 4,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: cached },
  })

it('more cached tokens than the prompt has are cut off and reported, in every dialect that counts them in the prompt', () => {
  const expected = { input: 0, cacheRead: 10, cacheExcess: 4990, output: 4 }
  expect(chat(5000, 14)).toMatchObject(expected)
  const response = {
    usage: { input_tokens: 10, output_tokens: 4, total_tokens: 14, input_tokens_details: { cached_tokens: 5000 } },
  }
  expect(readResponseUsage(response)).toMatchObject(expected)
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 4, totalTokenCount: 14, cachedContentTokenCount: 5000 }
  expect(readGeminiUsage({ usageMetadata })).toMatchObject(expected)
})

it('no excess is reported where all is cached, or the total shows that a host counts cached tokens separately', () => {
  expect(chat(10, 14)).not.toHaveProperty('cacheExcess')
  expect(chat(5000, 5014)).toMatchObject({ input: 10, cacheRead: 5000 })
  expect(chat(5000, 5014)).not.toHaveProperty('cacheExcess')
})

const counts = (prompt: number, completion: number, total: number, more: JsonObject = {}): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: total,
  ...more,
})
const inDetails = (details: JsonObject): JsonObject => ({ prompt_tokens_details: details })

/** Usage as hosts of OpenAI's formats report it, with where it is documented, and as it is read. */
const told: readonly (readonly [host: string, source: string, usage: JsonObject, read: Partial<Usage>])[] = [
  [
    'OpenAI',
    'SDK 7.57',
    counts(100, 20, 120, inDetails({ cached_tokens: 60, cache_write_tokens: 30 })),
    { input: 10, cacheRead: 60, cacheWrite: 30, cacheLifetimeUnknown: true, output: 20 },
  ],
  [
    'DeepSeek',
    'api-docs.deepseek.com',
    counts(100, 20, 120, { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 }),
    { input: 40, cacheRead: 60, output: 20 },
  ],
  ['Moonshot', 'protocols notes 2.2', counts(100, 20, 120, { cached_tokens: 60 }), { input: 40, cacheRead: 60, output: 20 }],
  ['Mistral', 'protocols notes 2.2', counts(100, 20, 120, { num_cached_tokens: 60 }), { input: 40, cacheRead: 60, output: 20 }],
  [
    'Alibaba, first call with an explicit cache',
    'alibabacloud.com context-cache',
    counts(
      1500,
      20,
      1520,
      inDetails({
        cached_tokens: 0,
        cache_creation_input_tokens: 1400,
        cache_creation: { ephemeral_5m_input_tokens: 1400 },
        cache_type: 'ephemeral',
      }),
    ),
    { input: 100, cacheWrite: 1400, output: 20 },
  ],
  [
    'Alibaba, without the split by lifetime',
    'alibabacloud.com context-cache',
    counts(1500, 20, 1520, inDetails({ cached_tokens: 1000, cache_creation_input_tokens: 400, cache_type: 'ephemeral' })),
    { input: 100, cacheRead: 1000, cacheWrite: 400, output: 20 },
  ],
  [
    'LiteLLM',
    'docs.litellm.ai prompt_caching',
    counts(1000, 20, 1020, {
      cache_read_input_tokens: 600,
      cache_creation_input_tokens: 300,
      ...inDetails({
        cached_tokens: 600,
        cache_creation_tokens: 300,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      }),
    }),
    { input: 100, cacheRead: 600, cacheWrite: 100, cacheWrite1h: 200, output: 20 },
  ],
  [
    'Databricks, caches beside the prompt',
    'docs.databricks.com prompt caching',
    counts(100, 20, 1020, { cache_read_input_tokens: 600, cache_creation_input_tokens: 300 }),
    { input: 100, cacheRead: 600, cacheWrite: 300, cacheLifetimeUnknown: true, output: 20 },
  ],
  [
    'new-api before a Claude model, caches beside the prompt',
    'docs.newapi.pro',
    counts(100, 20, 1020, {
      claude_cache_creation_5_m_tokens: 100,
      claude_cache_creation_1_h_tokens: 200,
      ...inDetails({ cached_tokens: 600, cached_creation_tokens: 300 }),
    }),
    { input: 100, cacheRead: 600, cacheWrite: 100, cacheWrite1h: 200, output: 20 },
  ],
  [
    'only cache writes beside the prompt',
    'none',
    counts(100, 20, 420, { cache_creation_input_tokens: 300 }),
    { input: 100, cacheWrite: 300, cacheLifetimeUnknown: true, output: 20 },
  ],
  [
    'xAI, reasoning beside the completion',
    'docs.x.ai',
    counts(32, 9, 241, { completion_tokens_details: { reasoning_tokens: 200 } }),
    { input: 32, output: 209, reasoning: 200 },
  ],
  [
    'caches and reasoning beside the totals',
    'none',
    counts(100, 20, 770, { completion_tokens_details: { reasoning_tokens: 50 }, cache_read_input_tokens: 600 }),
    { input: 100, cacheRead: 600, output: 70, reasoning: 50 },
  ],
  [
    'Gemini through its OpenAI format, thinking only in the total',
    'protocols notes 2.2',
    counts(10, 5, 315),
    { input: 10, output: 305, unexplained: 300 },
  ],
  [
    'a total of unknown content beside a cache',
    'none',
    counts(100, 20, 150, inDetails({ cached_tokens: 60 })),
    { input: 40, cacheRead: 60, output: 50, unexplained: 30 },
  ],
  ['a total below its parts', 'none', counts(100, 20, 110), { input: 100, output: 20, unexplained: -10 }],
  [
    'caches beside the prompt and a little more',
    'none',
    counts(10, 5, 120, inDetails({ cached_tokens: 100 })),
    { input: 10, cacheRead: 100, output: 10, unexplained: 5 },
  ],
  ['no total', 'protocols notes 3.12', { prompt_tokens: 10, completion_tokens: 5 }, { input: 10, output: 5 }],
]

const context: ReadContext = { newCallId: () => 'c', quirks: {} }
const reply = (usage: JsonObject) => ({
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage,
})
const usageIn = (events: readonly ReplyEvent[]) => events.findLast((event) => event.type === 'usage')?.usage
const chunk = (data: JsonObject) => ({ name: '', data: JSON.stringify(data) })

/** The same usage in the names of Responses. */
function asResponses({
  prompt_tokens,
  completion_tokens,
  prompt_tokens_details,
  completion_tokens_details,
  ...rest
}: JsonObject) {
  return {
    ...rest,
    input_tokens: prompt_tokens,
    output_tokens: completion_tokens,
    input_tokens_details: prompt_tokens_details,
    output_tokens_details: completion_tokens_details,
  }
}

describe.each(told)('the usage of %s (%s)', (_host, _source, usage, read) => {
  const expected = { ...noUsage, ...read }

  it('is read alike in Chat and Responses, whole and streamed, native and translated', () => {
    expect(readChatUsage(usage)).toEqual(expected)
    expect(readResponseUsage({ usage: asResponses(usage) })).toEqual(expected)
    expect(usageIn(readReply(reply(usage), context))).toEqual(expected)
    const reader = readEvents(context)
    const pushed = [
      ...reader.push(chunk({ choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] })),
      ...reader.push(chunk({ choices: [], usage })),
    ]
    expect(usageIn(pushed)).toEqual(expected)
  })

  it('is the same in the native format of DashScope', () => {
    const { prompt_tokens: input_tokens, completion_tokens: output_tokens, completion_tokens_details, ...rest } = usage
    const told = { ...rest, input_tokens, output_tokens, output_tokens_details: completion_tokens_details }
    const output = { choices: [{ message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] }
    expect(usageIn(dashScopeChat.readReply({ output, usage: told }, context))).toEqual(expected)
  })
})

it('Gemini counts what only the total contains as output, and caches beside the prompt as the total shows', () => {
  const read = (usageMetadata: JsonObject) => readGeminiUsage({ usageMetadata })
  const thinking = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 315 }
  expect(read(thinking)).toEqual({ ...noUsage, input: 10, output: 305, unexplained: 300 })
  const toolPrompt = { ...thinking, thoughtsTokenCount: 290, toolUsePromptTokenCount: 10 }
  expect(read(toolPrompt)).toEqual({ ...noUsage, input: 20, output: 295, reasoning: 290 })
})

it('new-api reports the lifetimes of cache writes of Messages in members of its own', () => {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 300,
    claude_cache_creation_5_m_tokens: 100,
    claude_cache_creation_1_h_tokens: 200,
    output_tokens: 5,
  }
  const read = readMessagesUsage({ usage }, undefined)
  expect(read).toMatchObject({ input: 10, cacheWrite: 100, cacheWrite1h: 200, output: 5 })
  expect(read).not.toHaveProperty('cacheLifetimeUnknown')
})
