import { chatHost, plainHost } from './adjust-chat.ts'
import { deepseekBalance } from './balances.ts'
import { models, newest } from './models.ts'
import { defineProvider, same } from './openai-compatible.ts'

/**
 * Thinks by default. JSON answers have no schema, and require the word "JSON" in the conversation. Source: DeepSeek's interface
 * reference and protocols notes 2.2.
 */
export const deepseek = defineProvider({
  id: 43,
  key: 'deepseek',
  label: same('DeepSeek'),
  color: 'blue',
  docs: 'https://api-docs.deepseek.com',
  baseUrl: 'https://api.deepseek.com',
  models: models.deepseek,
  newest: newest.deepseek,
  priceVendor: 'deepseek',
  balance: deepseekBalance,
  speaks: {
    'openai.chat': '/v1/chat/completions',
    'openai.completions': '/beta/completions',
    'anthropic.messages': '/anthropic/v1/messages',
  },
  ...chatHost({
    ...plainHost,
    family: 'deepseek',
    jsonSchema: 'object',
    thinkingSwitch: 'thinking-type',
  }),
})
