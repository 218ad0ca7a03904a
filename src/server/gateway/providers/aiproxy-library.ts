import { fail } from '../../base/lib/failure.ts'
import { defineProvider } from './openai-compatible.ts'
import type { Provider, Upstream } from './provider.ts'

/** Knowledge bases of AI Proxy: each channel uses one, whose number is in `other`. */
export const aiproxyLibrary = defineProvider({
  id: 21,
  key: 'aiproxy-library',
  label: { zh: '知识库：AI Proxy', en: 'Knowledge base: AI Proxy' },
  color: 'purple',
  baseUrl: 'https://api.aiproxy.io',
  addsToPrompts: 'always',
  keyFormat: {
    zh: 'API 密钥（官方服务已停止，请填写仍提供该协议的地址）',
    en: 'API key (the service itself was shut: name an address that still speaks the protocol)',
  },
  otherLabel: { zh: '知识库 ID', en: 'Knowledge base ID' },
  checkOther(other) {
    if (!/^[\w-]{0,100}$/.test(other)) fail('field_invalid', { field: 'other', reason: otherReason })
  },
  speaks: { 'library.ask': '/api/library/ask' },
  forChannel,
  modelsPath: null,
})

const otherReason = { zh: '须为知识库 ID', en: 'must be the ID of a knowledge base' }

function forChannel({ other }: Upstream): Provider {
  return { ...aiproxyLibrary, adjustBody: () => ({ libraryId: other.trim() }) }
}
