import { chatHost } from './adjust-chat.ts'
import { openrouterBalance } from './balances.ts'
import { bearer, defineProvider, messagesHeaders, same } from './openai-compatible.ts'

/**
 * Many vendors behind one API: reasoning is sent back to each unchanged, in a list whose entries have a type and a signature.
 * Source: OpenRouter's interface reference and protocols notes 2.2, read 2026-11.
 */
export const openrouter = defineProvider({
  id: 20,
  key: 'openrouter',
  priceVendor: 'openrouter',
  label: same('OpenRouter'),
  color: 'grey',
  docs: 'https://openrouter.ai/docs/api-reference',
  baseUrl: 'https://openrouter.ai/api',
  addsToPrompts: 'perhaps',
  speaks: {
    'openai.chat': '/v1/chat/completions',
    'openai.completions': '/v1/completions',
    'openai.responses': '/v1/responses',
    'openai.embeddings': '/v1/embeddings',
    'anthropic.messages': '/v1/messages',
  },
  headers: (channel, format, caller) => ({
    ...bearer(channel.key),
    'x-title': 'Sluice',
    ...(format === 'anthropic.messages' ? messagesHeaders(channel, caller) : {}),
  }),
  balance: openrouterBalance,
  ...chatHost({ thinkingSwitch: 'reasoning-object', replayReasoning: 'always', takesCacheControl: true }),
})
