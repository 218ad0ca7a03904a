import { addressPiece } from './address-piece.ts'
import { openAiBilling } from './balances.ts'
import { bearer, defineProvider } from './openai-compatible.ts'
import { passedHeaders } from './passed-headers.ts'

/** Any upstream with one path: the address is the complete URL of the call, with `{model}` where the model belongs. */
export const custom = defineProvider({
  id: 8,
  key: 'custom',
  label: { zh: '自定义渠道', en: 'Custom' },
  color: 'pink',
  needsBaseUrl: true,
  speaks: { 'openai.chat': '', 'openai.completions': '', 'openai.embeddings': '' },
  url: (channel, _format, model) => channel.baseUrl.replaceAll('{model}', () => addressPiece(model)),
  headers: (channel, _format, caller) => ({ ...bearer(channel.key), ...passedHeaders('openai', channel, caller) }),
  modelsPath: null,
  balance: (channel, replies, nowMs) => openAiBilling({ ...channel, baseUrl: new URL(channel.baseUrl).origin }, replies, nowMs),
})
