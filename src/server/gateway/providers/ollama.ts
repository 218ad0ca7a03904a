import { fail } from '../../base/lib/failure.ts'
import type { CallerFormat } from '../protocols/format.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import { isConversation } from './conversations.ts'
import { models } from './models.ts'
import { defineProvider, openaiPaths, same } from './openai-compatible.ts'
import type { Provider, Upstream } from './provider.ts'

/**
 * Callers of Chat pass through to Ollama's compatible interface. All others are translated to its own, which has thinking and `top_k`;
 * so are images by URL, which Ollama does not fetch, and channels that set a context length, for which the compatible interface has no
 * member. Embeddings always use its own. Source: Ollama's interface reference, read 2026-11.
 */
export const ollama = defineProvider({
  id: 4,
  key: 'ollama',
  label: same('Ollama'),
  color: 'grey',
  docs: 'https://docs.ollama.com/api',
  baseUrl: 'http://localhost:11434',
  addsToPrompts: 'perhaps',
  models: models.ollama,
  otherLabel: { zh: '上下文长度 num_ctx（留空为模型默认）', en: 'Context length num_ctx (empty for the model’s own)' },
  checkOther(other) {
    if (other !== '' && !contextLength.test(other)) fail('field_invalid', { field: 'other', reason: contextReason })
  },
  speaks: {
    'openai.chat': openaiPaths['openai.chat'],
    'openai.completions': openaiPaths['openai.completions'],
    'ollama.chat': '/api/chat',
    'ollama.embed': '/api/embed',
  },
  framing: (format, stream) => (format === 'ollama.chat' && stream ? 'ndjson' : 'sse'),
  prefers: (format, _model, body) => (format === 'openai.chat' && !namesImages(body) ? undefined : native(format)),
  forChannel,
})

const contextLength = /^[1-9]\d{2,7}$/
const contextReason = { zh: '须为不小于 100 的整数', en: 'must be a whole number of at least 100' }

function forChannel({ other }: Upstream): Provider {
  if (!contextLength.test(other)) return ollama
  return {
    ...ollama,
    prefers: native,
    adjustBody: (body, format) =>
      format === 'ollama.chat' || format === 'ollama.embed'
        ? { options: { ...objectAt(body, 'options'), num_ctx: Number(other) } }
        : {},
  }
}

function native(format: CallerFormat): 'ollama.chat' | undefined {
  return isConversation(format) ? 'ollama.chat' : undefined
}

function namesImages(body: JsonObject): boolean {
  const parts = arrayAt(body, 'messages').flatMap((message) => (isObject(message) ? arrayAt(message, 'content') : []))
  return parts.some((part) => isObject(part) && /^\s*https?:/i.test(textAt(objectAt(part, 'image_url') ?? {}, 'url')))
}
