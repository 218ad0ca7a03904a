import { expect, it } from 'vitest'
import { completionTokens, noUsage, promptTokens, type Usage } from '../../../contract/usage.ts'
import { readMessagesUsage, writeUsage as writeMessagesUsage } from './anthropic-messages/usage.ts'
import { readGeminiUsage, writeGeminiUsage } from './gemini-generate/usage.ts'
import { readChatUsage } from './openai-chat/chat.ts'
import { writeChatUsage } from './openai-chat/usage.ts'
import { readResponseUsage, writeResponsesUsage } from './openai-responses/usage.ts'

/** A count for every kind of token. */
const every: Usage = {
  ...{ ...noUsage, input: 1, cacheRead: 2, cachedAudio: 4, cachedImage: 8 },
  ...{ cacheWrite: 16, cacheWrite30m: 32, cacheWrite1h: 64, cacheWrite12h: 128, audioInput: 256, imageInput: 512 },
  ...{ output: 1024, audioOutput: 2048, imageOutput: 4096, videoOutput: 8192 },
}
const dialects = {
  Chat: () => readChatUsage(writeChatUsage(every)),
  Responses: () => readResponseUsage({ usage: writeResponsesUsage(every) }),
  Messages: () => readMessagesUsage({ usage: writeMessagesUsage(every) }, undefined),
  Gemini: () => readGeminiUsage({ usageMetadata: writeGeminiUsage(every) }),
}

it.each(Object.entries(dialects))('usage written for callers of %s contains all input and output tokens', (_name, read) => {
  const usage = read() ?? noUsage
  expect([promptTokens(usage), completionTokens(usage)]).toEqual([1023, 15_360])
})

it('the lifetimes of cache writes are reported in formats that have members for them', () => {
  expect(dialects.Messages()).toMatchObject({ cacheWrite: 16, cacheWrite30m: 32, cacheWrite1h: 64, cacheWrite12h: 128 })
  expect(dialects.Responses()).toMatchObject({ cacheWrite: 80, cacheWrite30m: 32, cacheWrite12h: 128 })
  expect(dialects.Chat()).toMatchObject({ cacheRead: 14, cacheWrite: 240 })
  expect(writeResponsesUsage({ ...noUsage, cacheWrite: 5 })).not.toHaveProperty('input_tokens_details.cache_write_tokens_details')
})

it('audio, image and video tokens are reported separately in Gemini, whether cached or not', () => {
  const told = { cachedAudio: 4, cachedImage: 8, audioInput: 256, imageInput: 512 }
  expect(dialects.Gemini()).toMatchObject({ ...told, cacheRead: 2, audioOutput: 2048, imageOutput: 4096, videoOutput: 8192 })
})
