import { addressPiece } from './address-piece.ts'
import { openAiBilling } from './balances.ts'
import { bearer, defineProvider } from './openai-compatible.ts'
import { passedHeaders } from './passed-headers.ts'
import type { Provider, Upstream } from './provider.ts'

/** The format that a URL serves, by the end of its path. */
const speaksAt: readonly (readonly [path: RegExp, speaks: Provider['speaks']])[] = [
  [/\/chat\/completions\/?$/, { 'openai.chat': '' }],
  [/\/completions\/?$/, { 'openai.completions': '' }],
  [/\/embeddings\/?$/, { 'openai.embeddings': '' }],
  [/\/responses\/?$/, { 'openai.responses': '' }],
]

function forChannel({ baseUrl }: Upstream): Provider {
  const path = baseUrl.split(/[?#]/, 1)[0] ?? ''
  const speaks = speaksAt.find(([ending]) => ending.test(path))?.[1]
  return speaks ? { ...custom, speaks } : custom
}

/** Any upstream with one path: the address is the complete URL of the call, with `{model}` where the model belongs. */
export const custom = defineProvider({
  id: 8,
  key: 'custom',
  label: { zh: '自定义渠道', en: 'Custom' },
  color: 'pink',
  needsBaseUrl: true,
  addressIsWhole: true,
  speaks: { 'openai.chat': '', 'openai.completions': '', 'openai.embeddings': '' },
  url: (channel, _format, model) => channel.baseUrl.replaceAll('{model}', () => addressPiece(model)),
  headers: (channel, _format, caller) => ({ ...bearer(channel.key), ...passedHeaders('openai', channel, caller) }),
  forChannel,
  modelsPath: null,
  balance: (channel, replies, nowMs) => openAiBilling({ ...channel, baseUrl: new URL(channel.baseUrl).origin }, replies, nowMs),
})
