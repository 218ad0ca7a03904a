import { models, newest } from './models.ts'
import { defineProvider, messagesHeaders, same } from './openai-compatible.ts'
import { passedHeaders } from './passed-headers.ts'

export const anthropic = defineProvider({
  id: 14,
  key: 'anthropic',
  label: same('Anthropic Claude'),
  color: 'indigo',
  docs: 'https://docs.anthropic.com/en/api/messages',
  baseUrl: 'https://api.anthropic.com',
  models: models.anthropic,
  newest: newest.anthropic,
  priceVendor: 'anthropic',
  speaks: {
    'anthropic.messages': '/v1/messages',
    'anthropic.count_tokens': '/v1/messages/count_tokens',
    'anthropic.files': '/v1/files',
    'anthropic.batches': '/v1/messages/batches',
  },
  keepsThreads: true,
  passedQuery: ['beta=true'],
  accountHeader: 'anthropic-organization-id',
  headers: (channel, _format, caller) => ({
    'x-api-key': channel.key,
    ...messagesHeaders(channel, caller),
    ...passedHeaders('anthropic', channel, caller),
  }),
})
