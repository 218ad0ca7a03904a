import { models } from './models.ts'
import { defineProvider, same } from './openai-compatible.ts'
import type { Provider } from './provider.ts'

/**
 * Vendors with a protocol, a signature or an asynchronous interface of their own. They can be configured; as long as `speaks` is
 * empty no relayed call is sent to them.
 */
const own = (declared: Omit<Parameters<typeof defineProvider>[0], 'speaks' | 'modelsPath'>): Provider =>
  defineProvider({ ...declared, speaks: {}, modelsPath: null })

export const drawing = own({
  id: 2,
  key: 'drawing',
  label: same('Midjourney Proxy'),
  color: 'light-blue',
  baseUrl: 'https://oa.api2d.net',
  models: models.drawing,
})

export const drawingPlus = own({
  id: 5,
  key: 'drawing-plus',
  label: same('Midjourney Proxy Plus'),
  color: 'blue',
  baseUrl: 'https://api.openai-sb.com',
  models: models.drawingPlus,
})

export const palm = own({ id: 11, key: 'palm', label: same('Google PaLM2'), color: 'orange', models: models.palm })

export const baidu = own({
  id: 15,
  key: 'baidu',
  label: { zh: '百度文心千帆', en: 'Baidu Wenxin' },
  color: 'blue',
  docs: 'https://cloud.baidu.com/doc/WENXINWORKSHOP/index.html',
  baseUrl: 'https://aip.baidubce.com',
  models: models.baidu,
  keyFormat: same('APIKey|SecretKey'),
})

export const zhipuClassic = own({
  id: 16,
  key: 'zhipu-classic',
  label: { zh: '智谱 ChatGLM', en: 'Zhipu ChatGLM' },
  color: 'violet',
  baseUrl: 'https://open.bigmodel.cn',
  models: models.zhipuClassic,
})

export const xunfei = own({
  id: 18,
  key: 'xunfei',
  label: { zh: '讯飞星火认知', en: 'iFlytek Spark' },
  color: 'blue',
  docs: 'https://www.xfyun.cn/doc/spark/Web.html',
  models: models.xunfei,
  keyFormat: same('APPID|APISecret|APIKey'),
  otherLabel: { zh: '模型版本', en: 'Model version' },
  otherDefault: 'v2.1',
})

export const aiproxyLibrary = own({
  id: 21,
  key: 'aiproxy-library',
  label: { zh: '知识库：AI Proxy', en: 'Knowledge base: AI Proxy' },
  color: 'purple',
  baseUrl: 'https://api.aiproxy.io',
  otherLabel: { zh: '知识库 ID', en: 'Knowledge base ID' },
})

export const tencent = own({
  id: 23,
  key: 'tencent',
  label: { zh: '腾讯混元', en: 'Tencent Hunyuan' },
  color: 'teal',
  docs: 'https://cloud.tencent.com/document/product/1729',
  baseUrl: 'https://hunyuan.tencentcloudapi.com',
  models: models.tencent,
  keyFormat: same('AppId|SecretId|SecretKey'),
})

export const music = own({
  id: 36,
  key: 'music',
  label: same('Suno API'),
  color: 'purple',
  needsBaseUrl: true,
  models: models.music,
})

export const dify = own({
  id: 37,
  key: 'dify',
  label: same('Dify'),
  color: 'teal',
  docs: 'https://docs.dify.ai',
  baseUrl: 'https://api.dify.ai',
})
