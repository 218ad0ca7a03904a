import { chatHost, plainHost } from './adjust-chat.ts'
import { models, newest } from './models.ts'
import { defineProvider, joinUrl, pathOf } from './openai-compatible.ts'
import { seedance } from './videos/seedance.ts'

const speaks = {
  'openai.chat': '/api/v3/chat/completions',
  'openai.embeddings': '/api/v3/embeddings',
  'openai.responses': '/api/v3/responses',
  'volcengine.images': '/api/v3/images/generations',
}

export const volcengine = defineProvider({
  id: 45,
  key: 'volcengine',
  label: { zh: '字节火山方舟、豆包、DeepSeek通用', en: 'VolcEngine Ark, Doubao, DeepSeek' },
  color: 'blue',
  docs: 'https://www.volcengine.com/docs/82379',
  baseUrl: 'https://ark.cn-beijing.volces.com',
  models: models.volcengine,
  newest: newest.volcengine,
  priceVendor: 'volcengine',
  speaks,
  ...chatHost({ ...plainHost, thinkingSwitch: 'thinking-type' }),
  /** A bot is addressed like a model, by a name that begins with `bot`, at a separate path. */
  url(channel, format, model) {
    const bot = format === 'openai.chat' && model.startsWith('bot')
    return joinUrl(channel.baseUrl, bot ? '/api/v3/bots/chat/completions' : pathOf(speaks, format))
  },
  modelsPath: '/api/v3/models',
  videos: seedance,
})
