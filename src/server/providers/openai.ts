import type { Format } from '../protocols/format.ts'
import { models } from './models.ts'
import { bearer, defineProvider, joinUrl, pathOf, responsesPaths, same } from './openai-compatible.ts'
import type { Provider } from './provider.ts'
import { adjustResponses, prefersResponses } from './responses.ts'

/** Behind this gateway the address already says which vendor and version is meant. */
const cloudflareGateway = 'https://gateway.ai.cloudflare.com'

export const openai = defineProvider({
  id: 1,
  key: 'openai',
  label: same('OpenAI'),
  color: 'green',
  docs: 'https://platform.openai.com/docs/api-reference',
  baseUrl: 'https://api.openai.com',
  models: models.openai,
  speaks: responsesPaths,
  url(channel, format) {
    const path = pathOf(responsesPaths, format)
    if (channel.baseUrl.startsWith(cloudflareGateway)) return channel.baseUrl + path.replace('/v1', '')
    return joinUrl(channel.baseUrl, path, ['/v1'])
  },
  headers: (channel) => ({
    ...bearer(channel.key),
    ...(channel.organization === '' ? {} : { 'openai-organization': channel.organization }),
  }),
  prefers: prefersResponses,
  adjustBody: adjustForOpenai,
})

export function adjustForOpenai(body: Readonly<Record<string, unknown>>, format: Format, model: string): Record<string, unknown> {
  if (format === 'openai.responses') return adjustResponses(body, model)
  return format === 'openai.chat' ? adjustForReasoning(body, model) : {}
}

/**
 * What OpenAI's reasoning models want otherwise than the rest: `max_completion_tokens` for `max_tokens`, no sampling, and the effort
 * that a name ending in `-high`, `-medium` or `-low` asks for (`o3-mini-high` is the model `o3-mini`).
 * Source: OpenAI API reference and the parameter table of `@ai-sdk/openai` 4.0.118.
 */
function adjustForReasoning(body: Readonly<Record<string, unknown>>, model: string): Record<string, unknown> {
  if (!/^(o[1-9]|gpt-[5-9])/.test(model) || /^gpt-5(\.\d+)?-chat/.test(model)) return {}
  const [, name, effort] = /^(o[1-9].*)-(high|medium|low)$/.exec(model) ?? []
  const changes: Record<string, unknown> = name ? { model: name, reasoning_effort: effort } : {}

  if (body.max_tokens !== undefined) {
    changes.max_tokens = undefined
    if (body.max_completion_tokens === undefined) changes.max_completion_tokens = body.max_tokens
  }
  for (const member of refused) if (body[member] !== undefined) changes[member] = undefined
  return changes
}

const refused = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs', 'top_logprobs']

const reseller = (id: number, key: string, name: string, baseUrl: string): Provider =>
  defineProvider({ id, key, label: same(name), color: 'grey', baseUrl, models: models.openai, offered: false })

/** Resellers of OpenAI's interface: kept for channels that were made long ago. */
export const resellers: readonly Provider[] = [
  reseller(6, 'openaimax', 'OpenAIMax', 'https://api.openaimax.com'),
  reseller(7, 'ohmygpt', 'OhMyGPT', 'https://api.ohmygpt.com'),
  reseller(9, 'ails', 'AILS', 'https://api.caipacity.com'),
  reseller(10, 'aiproxy', 'AIProxy', 'https://api.aiproxy.io'),
  reseller(12, 'api2gpt', 'API2GPT', 'https://api.api2gpt.com'),
  reseller(13, 'aigc2d', 'AIGC2D', 'https://api.aigc2d.com'),
]
