import { addressPieces } from './address-piece.ts'
import { chatHost, plainHost } from './adjust-chat.ts'
import { models, newest } from './models.ts'
import { defineProvider, joinUrl, pathOf, same } from './openai-compatible.ts'

const speaks = { 'openai.chat': '/chat/completions', 'openai.embeddings': '/embeddings', 'cloudflare.run': '/run' }

export const cloudflare = defineProvider({
  id: 39,
  key: 'cloudflare',
  label: same('Cloudflare'),
  color: 'grey',
  docs: 'https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/',
  baseUrl: 'https://api.cloudflare.com',
  models: models.cloudflare,
  newest: newest.cloudflare,
  priceVendor: 'cloudflare',
  otherLabel: { zh: '账户 ID', en: 'Account ID' },
  speaks,
  ...chatHost(plainHost),
  speaksWith: (format, model) => format !== 'cloudflare.run' || /whisper|rerank|flux|lucid/.test(model),
  url(channel, format, model) {
    const path = format === 'cloudflare.run' ? `run/${modelPath(model)}` : `v1${pathOf(speaks, format)}`
    return joinUrl(channel.baseUrl, `/client/v4/accounts/${encodeURIComponent(channel.other)}/ai/${path}`)
  },
  modelsPath: null,
})

/** Names like `@cf/openai/whisper` are a path of their own. */
function modelPath(model: string): string {
  return addressPieces(model).replaceAll('%40', '@')
}
