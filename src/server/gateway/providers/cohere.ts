import { models, newest } from './models.ts'
import { defineProvider, same } from './openai-compatible.ts'

/**
 * Conversations use Cohere's own format, which has plans, thinking and JSON schemas; its compatible interface has none of them. The
 * address of old channels, `api.cohere.ai`, still works. Source: Cohere's interface reference, read 2026-11.
 */
export const cohere = defineProvider({
  id: 34,
  key: 'cohere',
  label: same('Cohere'),
  color: 'purple',
  docs: 'https://docs.cohere.com/reference/chat',
  baseUrl: 'https://api.cohere.com',
  models: models.cohere,
  newest: newest.cohere,
  priceVendor: 'cohere',
  speaks: { 'cohere.chat': '/v2/chat', 'cohere.embed': '/v2/embed', 'cohere.rerank': '/v2/rerank' },
  quirks: { replayReasoning: 'tool-turns' },
  streamOptions: false,
  modelsPath: null,
})
