import { arrayAt, isObject, type JsonObject, textAt } from '../protocols/wire-format.ts'
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
    ...(format === 'anthropic.messages' ? messagesHeaders(caller) : {}),
  }),
  balance: openrouterBalance,
  ...chatHost({ thinkingSwitch: 'reasoning-object', replayReasoning: 'always', takesCacheControl: true }, adjust),
})

/**
 * Sends reasoning in `reasoning` that the caller sent in the member of another host, and a placeholder to models that require
 * reasoning with tools.
 */
function adjust(body: JsonObject, model: string): Record<string, unknown> {
  const before = arrayAt(body, 'messages')
  const needsSome = demandsReasoning.test(model) && arrayAt(body, 'tools').length > 0
  const messages = before.map((message) =>
    isObject(message) && message.role === 'assistant' ? withReasoning(message, needsSome) : message,
  )
  return messages.some((message, at) => message !== before[at]) ? { messages } : {}
}

const demandsReasoning = /deepseek-v[4-9]|kimi-k(2\.[5-9]|[3-9])/

function withReasoning(message: JsonObject, needsSome: boolean): JsonObject {
  const { reasoning_content: _, ...rest } = message
  const exists = textAt(message, 'reasoning') !== '' || arrayAt(message, 'reasoning_details').length > 0
  const told = textAt(message, 'reasoning_content') || (needsSome ? ' ' : '')
  return exists || told === '' ? message : { ...rest, reasoning: told }
}
