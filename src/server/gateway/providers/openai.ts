import { answersDecisions } from '../protocols/direct/decisions.ts'
import type { Format } from '../protocols/format.ts'
import { adjustForModel } from '../protocols/openai-chat/models.ts'
import { aiproxyBalance, creditGrants, openAiBilling } from './balances.ts'
import { withoutMembers } from './direct-calls.ts'
import { models, newest } from './models.ts'
import {
  allPaths,
  bearer,
  defineProvider,
  joinUrl,
  mediaPaths,
  openaiPaths,
  pathOf,
  same,
  withModel,
} from './openai-compatible.ts'
import { passedHeaders } from './passed-headers.ts'
import type { Provider } from './provider.ts'
import { adjustResponses, prefersResponses } from './responses.ts'
import { openAiVideos } from './videos/openai-videos.ts'

/** In the URLs of this gateway, the path already selects vendor and version. */
const cloudflareGateway = 'https://gateway.ai.cloudflare.com'

/** `rerank` is not OpenAI's, but common among servers that are used with this type. */
const ownPaths = {
  ...allPaths,
  'openai.decisions': '/v1/decisions',
  'openai.files': '/v1/files',
  'openai.uploads': '/v1/uploads',
  'openai.batches': '/v1/batches',
  rerank: '/v1/rerank',
}

export const openai = defineProvider({
  id: 1,
  key: 'openai',
  label: same('OpenAI'),
  color: 'green',
  docs: 'https://platform.openai.com/docs/api-reference',
  baseUrl: 'https://api.openai.com',
  models: models.openai,
  newest: newest.openai,
  priceVendor: 'openai',
  speaks: ownPaths,
  speaksWith: (format, model) => format !== 'openai.decisions' || answersDecisions(model),
  url(channel, format, model) {
    const path = withModel(pathOf(ownPaths, format), format, model)
    if (channel.baseUrl.startsWith(cloudflareGateway)) return channel.baseUrl + path.replace('/v1', '')
    return joinUrl(channel.baseUrl, path, ['/v1'])
  },
  headers: (channel, _format, caller) => ({
    ...bearer(channel.key),
    ...passedHeaders('openai', channel, caller),
    ...(channel.organization === '' ? {} : { 'openai-organization': channel.organization }),
  }),
  accountHeader: 'openai-organization',
  prefers: prefersResponses,
  balance: openAiBilling,
  videos: openAiVideos,
  adjustBody: adjustForOpenai,
})

export function adjustForOpenai(body: Readonly<Record<string, unknown>>, format: Format, model: string): Record<string, unknown> {
  if (format === 'openai.responses') return adjustResponses(body, model)
  if (imageFormats.has(format)) return bytesOnly.test(model) ? withoutMembers(body, ['response_format']) : {}
  return format === 'openai.chat' ? adjustForModel(body, model) : {}
}

const imageFormats: ReadonlySet<Format> = new Set<Format>(['openai.images', 'openai.image-edits', 'openai.image-variations'])

/** These models always return image data, not a URL, and refuse `response_format`. Source: protocols notes 1.5, edge case 237. */
const bytesOnly = /^(chatgpt|gpt)-image/

const reseller = (id: number, key: string, name: string, more: Pick<Provider, 'baseUrl' | 'balance'>): Provider =>
  defineProvider({
    id,
    key,
    label: same(name),
    color: 'grey',
    addsToPrompts: 'perhaps',
    models: models.openai,
    speaks: { ...openaiPaths, ...mediaPaths },
    offered: false,
    headers: (channel, _format, caller) => ({ ...bearer(channel.key), ...passedHeaders('openai', channel, caller) }),
    ...more,
  })

/** Resellers of OpenAI's interface: kept for channels that were made long ago. */
export const resellers: readonly Provider[] = [
  reseller(6, 'openaimax', 'OpenAIMax', { baseUrl: 'https://api.openaimax.com' }),
  reseller(7, 'ohmygpt', 'OhMyGPT', { baseUrl: 'https://api.ohmygpt.com' }),
  reseller(9, 'ails', 'AILS', { baseUrl: 'https://api.caipacity.com' }),
  reseller(10, 'aiproxy', 'AIProxy', { baseUrl: 'https://api.aiproxy.io', balance: aiproxyBalance }),
  reseller(12, 'api2gpt', 'API2GPT', { baseUrl: 'https://api.api2gpt.com', balance: creditGrants }),
  reseller(13, 'aigc2d', 'AIGC2D', { baseUrl: 'https://api.aigc2d.com', balance: creditGrants }),
]
