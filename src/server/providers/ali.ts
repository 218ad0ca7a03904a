import { models } from './models.ts'
import { bearer, defineProvider } from './openai-compatible.ts'

export const ali = defineProvider({
  id: 17,
  key: 'ali',
  label: { zh: '阿里通义千问', en: 'Alibaba Qwen' },
  color: 'orange',
  docs: 'https://help.aliyun.com/zh/model-studio/compatibility-of-openai-with-dashscope',
  baseUrl: 'https://dashscope.aliyuncs.com',
  models: models.ali,
  otherLabel: { zh: '插件（JSON）', en: 'Plugins (JSON)' },
  speaks: {
    'openai.chat': '/compatible-mode/v1/chat/completions',
    'openai.completions': '/compatible-mode/v1/completions',
    'openai.embeddings': '/compatible-mode/v1/embeddings',
  },
  headers: (channel) => ({
    ...bearer(channel.key),
    ...(channel.other === '' ? {} : { 'x-dashscope-plugin': asciiJson(channel.other) }),
  }),
  modelsPath: '/compatible-mode/v1/models',
})

/** JSON text as a header can carry it. */
function asciiJson(json: string): string {
  return json.replace(/\s+/g, ' ').replace(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
