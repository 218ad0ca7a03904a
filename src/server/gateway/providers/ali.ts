import { isMultimodal, isNativeOnly } from '../protocols/dashscope-chat/models.ts'
import type { Format } from '../protocols/format.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import { addressPiece } from './address-piece.ts'
import { chatHost, plainHost } from './adjust-chat.ts'
import { isConversation } from './conversations.ts'
import { requestFloats, withDirectCalls } from './direct-calls.ts'
import { models, newest } from './models.ts'
import { bearer, defineProvider, joinUrl, pathOf } from './openai-compatible.ts'
import { wan } from './videos/wan.ts'

const speaks = {
  'openai.chat': '/compatible-mode/v1/chat/completions',
  'openai.completions': '/compatible-mode/v1/completions',
  'openai.embeddings': '/compatible-mode/v1/embeddings',
  'dashscope.chat': '/api/v1/services/aigc/text-generation/generation',
  'dashscope.images': '/api/v1/services/aigc/text2image/image-synthesis',
  'dashscope.image-messages': '/api/v1/services/aigc/multimodal-generation/generation',
  'dashscope.rerank': '/api/v1/services/rerank/text-rerank/text-rerank',
}

/**
 * The compatible interface serves nearly every model, so that Chat requests pass through; only models that it does not have are
 * requested in Alibaba's own format. Outside of China the address is `https://dashscope-intl.aliyuncs.com`. Source: Model Studio's
 * interface reference and protocols notes 2.2 and 2.14, read 2026-11.
 */
export const ali = defineProvider({
  id: 17,
  key: 'ali',
  label: { zh: '阿里通义千问', en: 'Alibaba Qwen' },
  color: 'orange',
  docs: 'https://help.aliyun.com/zh/model-studio/compatibility-of-openai-with-dashscope',
  baseUrl: 'https://dashscope.aliyuncs.com',
  models: models.ali,
  newest: newest.ali,
  priceVendor: 'dashscope',
  otherLabel: { zh: '插件（JSON）', en: 'Plugins (JSON)' },
  speaks,
  speaksWith: (format, model) => directFormats[format]?.(model) ?? (format === 'dashscope.chat') === isNativeOnly(model),
  url(channel, format, model) {
    const sees = format === 'dashscope.chat' && isMultimodal(model)
    const path = sees ? '/api/v1/services/aigc/multimodal-generation/generation' : pathOf(speaks, format)
    return joinUrl(channel.baseUrl, path, pasted)
  },
  taskUrl: (channel, taskId) => joinUrl(channel.baseUrl, `/api/v1/tasks/${addressPiece(taskId)}`, pasted),
  headers: (channel, format) => ({
    ...bearer(channel.key),
    ...(format === 'dashscope.images' ? { 'x-dashscope-async': 'enable' } : {}),
    ...(channel.other === '' ? {} : { 'x-dashscope-plugin': asciiJson(channel.other) }),
  }),
  prefers: (format, model) => (isConversation(format) && isNativeOnly(model) ? 'dashscope.chat' : undefined),
  sign: (_channel, { url, headers }) =>
    url.pathname.includes('/services/aigc/') && headers.accept === 'text/event-stream'
      ? { headers: { 'x-dashscope-sse': 'enable' } }
      : {},
  ...withDirectCalls(chatHost({ ...plainHost, thinkingSwitch: 'enable_thinking', takesCacheControl: true }, adjust), {
    'openai.embeddings': requestFloats,
  }),
  modelsPath: '/compatible-mode/v1/models',
  videos: wan,
})

const pasted = ['/compatible-mode/v1', '/api/v1']

/** Calls other than conversations, and the models for them. The older image models return a task instead of an image. */
const directFormats: Readonly<Partial<Record<Format, (model: string) => boolean>>> = {
  'openai.embeddings': () => true,
  'dashscope.rerank': () => true,
  'dashscope.images': (model) => !answersImagesAtOnce.test(model),
  'dashscope.image-messages': (model) => answersImagesAtOnce.test(model),
}

const answersImagesAtOnce = /^(qwen-image|z-image|wan2\.[6-9]|wan[3-9])/

/** `top_p` must be between 0 and 1, exclusive. */
function adjust({ top_p }: JsonObject): Record<string, unknown> {
  return {
    ...(typeof top_p === 'number' && top_p >= 1 ? { top_p: 0.999 } : {}),
    ...(typeof top_p === 'number' && top_p <= 0 ? { top_p: undefined } : {}),
  }
}

/** JSON text in a form that is valid in a header. */
function asciiJson(json: string): string {
  return json.replace(/\s+/g, ' ').replace(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
