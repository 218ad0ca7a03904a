import { nearestRatio } from '../protocols/direct/image-forms.ts'
import { grokRatios } from '../protocols/direct/images-xai.ts'
import { adjustForModel } from '../protocols/openai-chat/models.ts'
import { type JsonObject, textAt } from '../protocols/wire-format.ts'
import { chatHost } from './adjust-chat.ts'
import { withDirectCalls, withoutMembers } from './direct-calls.ts'
import { models, newest } from './models.ts'
import { defineProvider, mediaPaths, responsesPaths, same } from './openai-compatible.ts'
import { grok } from './videos/grok.ts'

/**
 * Parameters that only some Grok models refuse are in the table of models; the reported completion tokens do not include reasoning.
 */
export const xai = defineProvider({
  id: 48,
  key: 'xai',
  label: same('xAI'),
  color: 'blue',
  docs: 'https://docs.x.ai/docs/api-reference',
  baseUrl: 'https://api.x.ai',
  models: models.xai,
  newest: newest.xai,
  priceVendor: 'x-ai',
  traceName: 'x_ai',
  speaks: {
    'openai.chat': responsesPaths['openai.chat'],
    'openai.completions': responsesPaths['openai.completions'],
    'openai.responses': responsesPaths['openai.responses'],
    'anthropic.messages': '/v1/messages',
    'openai.images': mediaPaths['openai.images'],
    'xai.image-edits': mediaPaths['openai.image-edits'],
    'openai.realtime': '/v1/realtime',
  },
  videos: grok,
  ...withDirectCalls(chatHost({}, adjustForModel), { 'openai.images': adjustImages }),
})

/**
 * Grok has aspect ratios instead of sizes, and returns 400 for these members of OpenAI. Source: xAI's API reference, read 2026-11.
 */
function adjustImages(body: JsonObject): Record<string, unknown> {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(textAt(body, 'size')) ?? []
  const size = width && height ? { width: Number(width), height: Number(height) } : undefined
  return {
    ...withoutMembers(body, ['size', 'quality', 'style', 'background', 'moderation', 'output_format', 'output_compression']),
    ...(size && body.aspect_ratio === undefined ? { aspect_ratio: nearestRatio(size, grokRatios).ratio } : {}),
  }
}
