import { models } from './models.ts'
import { defineProvider, same } from './openai-compatible.ts'

/**
 * Types that only old channels have: nothing answers them any more, and no relayed call is sent to them. Google shut PaLM in October
 * 2024; the knowledge bases of AI Proxy never had an adapter here. Their numbers stay taken, so that such channels can still be read.
 */
const isShut = { zh: '该服务已停止，无法再调用', en: 'This service was shut: it can be called no more' }

export const palm = defineProvider({
  id: 11,
  key: 'palm',
  label: same('Google PaLM2'),
  color: 'orange',
  models: models.palm,
  offered: false,
  keyFormat: isShut,
  speaks: {},
  modelsPath: null,
})

export const aiproxyLibrary = defineProvider({
  id: 21,
  key: 'aiproxy-library',
  label: { zh: '知识库：AI Proxy', en: 'Knowledge base: AI Proxy' },
  color: 'purple',
  baseUrl: 'https://api.aiproxy.io',
  offered: false,
  keyFormat: isShut,
  otherLabel: { zh: '知识库 ID', en: 'Knowledge base ID' },
  speaks: {},
  modelsPath: null,
})
