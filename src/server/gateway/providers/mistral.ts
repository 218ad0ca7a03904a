import type { Quirks } from '../protocols/codec.ts'
import { arrayAt, isObject, type JsonObject } from '../protocols/wire-format.ts'
import { chatHost } from './adjust-chat.ts'
import { withDirectCalls, withoutMembers } from './direct-calls.ts'
import { models, newest } from './models.ts'
import { defineProvider, same } from './openai-compatible.ts'

/**
 * Returns 422 for every unknown member, at the top level and in messages. Usage is always sent. Prompts that share a
 * `prompt_cache_key` cost a tenth where they were read before. Source: types of `@mistralai/mistralai` 2.7, protocols notes 2.2, and
 * https://docs.mistral.ai/inference/conversations/advanced/prompt-caching, read 2026-11.
 */
const quirks: Quirks = {
  family: 'mistral',
  replayReasoning: 'never',
  outputLimit: 'max_tokens',
  temperatureMax: 1.5,
  requiredChoice: 'any',
  systemRole: 'system',
  strictTurns: true,
  prefill: 'prefix',
  takesCacheKey: true,
  thinkingSwitch: 'none',
  refuses: [
    'audio',
    'function_call',
    'functions',
    'logit_bias',
    'logprobs',
    'modalities',
    'moderation',
    'prompt_cache_options',
    'prompt_cache_retention',
    'safety_identifier',
    'service_tier',
    'store',
    'stream_options',
    'top_k',
    'top_logprobs',
    'user',
    'verbosity',
    'web_search_options',
  ],
}

export const mistral = defineProvider({
  id: 42,
  key: 'mistral',
  label: same('Mistral AI'),
  color: 'blue',
  docs: 'https://docs.mistral.ai/api',
  baseUrl: 'https://api.mistral.ai',
  models: models.mistral,
  newest: newest.mistral,
  priceVendor: 'mistral',
  traceName: 'mistral_ai',
  speaks: {
    'openai.chat': '/v1/chat/completions',
    'openai.embeddings': '/v1/embeddings',
    'openai.moderations': '/v1/moderations',
    'openai.transcriptions': '/v1/audio/transcriptions',
  },
  streamOptions: false,
  ...withDirectCalls(chatHost(quirks, adjust), { 'openai.embeddings': adjustEmbeddings }),
})

function adjust(body: JsonObject): Record<string, unknown> {
  const messages = arrayAt(body, 'messages')
  const known = messages.map(withKnownMembers)
  return {
    ...(known.some((message, at) => message !== messages[at]) ? { messages: known } : {}),
    ...(body.seed === undefined ? {} : { seed: undefined, random_seed: body.random_seed ?? body.seed }),
  }
}

/** Mistral's name for `dimensions`. */
function adjustEmbeddings(body: JsonObject): Record<string, unknown> {
  const { dimensions } = body
  return {
    ...withoutMembers(body, ['user', 'dimensions']),
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }
}

const memberNames: ReadonlyMap<string, readonly string[]> = new Map([
  ['system', ['role', 'content']],
  ['user', ['role', 'content']],
  ['assistant', ['role', 'content', 'tool_calls', 'prefix']],
  ['tool', ['role', 'content', 'tool_call_id', 'name']],
])

function withKnownMembers(message: unknown): unknown {
  const names = isObject(message) && typeof message.role === 'string' ? memberNames.get(message.role) : undefined
  if (!isObject(message) || !names || Object.keys(message).every((member) => names.includes(member))) return message
  return Object.fromEntries(Object.entries(message).filter(([member]) => names.includes(member)))
}
