import { expect, it } from 'vitest'
import { readGeminiUsage } from './gemini-generate/usage.ts'
import { readChatUsage } from './openai-chat/chat.ts'
import { readResponseUsage } from './openai-responses/usage.ts'

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
  expect(chat(5000, 5014)).toMatchObject({ input: 0, cacheRead: 5000 })
  expect(chat(5000, 5014)).not.toHaveProperty('cacheExcess')
})
