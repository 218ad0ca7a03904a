import { addressPiece } from './address-piece.ts'
import { models } from './models.ts'
import { defineProvider, joinUrl, same } from './openai-compatible.ts'

/**
 * Google PaLM 2 in its own protocol. Google shut it down in October 2024 and now returns an error; a channel with its own address
 * may reach a server that still speaks it.
 */
export const palm = defineProvider({
  id: 11,
  key: 'palm',
  label: same('Google PaLM2'),
  color: 'orange',
  docs: 'https://ai.google.dev/palm_docs/palm',
  baseUrl: 'https://generativelanguage.googleapis.com',
  models: models.palm,
  keyFormat: {
    zh: 'API 密钥（Google 已于 2024 年停用官方接口，请填写仍提供该协议的地址）',
    en: 'API key (Google shut its own interface in 2024: name an address that still speaks the protocol)',
  },
  speaks: { 'palm.message': '/v1beta2/models' },
  url: ({ baseUrl }, _format, model) => joinUrl(baseUrl, `/v1beta2/models/${addressPiece(upstreamName(model))}:generateMessage`),
  headers: (channel): Record<string, string> => (channel.key === '' ? {} : { 'x-goog-api-key': channel.key }),
  keyRefusedBy: [401, 403],
  modelsPath: '/v1beta2/models',
})

/** The common name of the model is not the vendor's. */
function upstreamName(model: string): string {
  return /^palm-?2$/i.test(model) ? 'chat-bison-001' : model.replace(/^models\//, '')
}
