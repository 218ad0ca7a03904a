import { chatHost, plainHost } from './adjust-chat.ts'
import { models } from './models.ts'
import { defineProvider, joinUrl, pathOf, same } from './openai-compatible.ts'

const speaks = { 'openai.chat': '/chat/completions', 'openai.embeddings': '/embeddings' }

export const cloudflare = defineProvider({
  id: 39,
  key: 'cloudflare',
  label: same('Cloudflare'),
  color: 'grey',
  docs: 'https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/',
  baseUrl: 'https://api.cloudflare.com',
  models: models.cloudflare,
  otherLabel: { zh: '账户 ID', en: 'Account ID' },
  speaks,
  ...chatHost(plainHost),
  url(channel, format) {
    const account = encodeURIComponent(channel.other)
    return joinUrl(channel.baseUrl, `/client/v4/accounts/${account}/ai/v1${pathOf(speaks, format)}`)
  },
  modelsPath: null,
})
