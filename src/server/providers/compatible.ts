import { models } from './models.ts'
import { defineProvider, openaiPaths, same } from './openai-compatible.ts'
import { adjustResponses } from './responses.ts'

/** Vendors that speak OpenAI's dialect (some of them Anthropic's too) and differ in address, paths and models only. */
const chatOnly = { 'openai.chat': '/v1/chat/completions' }

export const ollama = defineProvider({
  id: 4,
  key: 'ollama',
  label: same('Ollama'),
  color: 'grey',
  docs: 'https://github.com/ollama/ollama/blob/main/docs/openai.md',
  baseUrl: 'http://localhost:11434',
  models: models.ollama,
})

export const qihoo360 = defineProvider({
  id: 19,
  key: '360',
  label: { zh: '360 智脑', en: '360 Zhinao' },
  color: 'blue',
  docs: 'https://ai.360.com/platform/docs/overview',
  baseUrl: 'https://api.360.cn',
  models: models.qihoo360,
  streamOptions: false,
})

export const openrouter = defineProvider({
  id: 20,
  key: 'openrouter',
  label: same('OpenRouter'),
  color: 'grey',
  docs: 'https://openrouter.ai/docs/api-reference',
  baseUrl: 'https://openrouter.ai/api',
  offered: false,
  speaks: {
    ...chatOnly,
    'openai.completions': '/v1/completions',
    'openai.responses': '/v1/responses',
    'anthropic.messages': '/v1/messages',
  },
  adjustBody: (body, format, model) => (format === 'openai.responses' ? adjustResponses(body, model) : {}),
})

export const fastgpt = defineProvider({
  id: 22,
  key: 'fastgpt',
  label: { zh: '知识库：FastGPT', en: 'Knowledge base: FastGPT' },
  color: 'blue',
  docs: 'https://doc.fastgpt.io',
  baseUrl: 'https://fastgpt.run/api/openapi',
  keyFormat: same('APIKey-AppId'),
  speaks: chatOnly,
  streamOptions: false,
  modelsPath: null,
})

export const moonshot = defineProvider({
  id: 25,
  key: 'moonshot',
  label: same('Moonshot'),
  color: 'green',
  docs: 'https://platform.moonshot.cn/docs/api/chat',
  baseUrl: 'https://api.moonshot.cn',
  models: models.moonshot,
  speaks: { ...openaiPaths, 'anthropic.messages': '/anthropic/v1/messages' },
})

/** The console's key of the form `id.secret` is accepted as a bearer key as it is. */
export const zhipu = defineProvider({
  id: 26,
  key: 'zhipu',
  label: { zh: '智谱 GLM-4V', en: 'Zhipu GLM-4V' },
  color: 'purple',
  docs: 'https://docs.bigmodel.cn/api-reference',
  baseUrl: 'https://open.bigmodel.cn',
  models: models.zhipu,
  speaks: {
    'openai.chat': '/api/paas/v4/chat/completions',
    'openai.embeddings': '/api/paas/v4/embeddings',
    'anthropic.messages': '/api/anthropic/v1/messages',
  },
  modelsPath: '/api/paas/v4/models',
})

export const perplexity = defineProvider({
  id: 27,
  key: 'perplexity',
  label: same('Perplexity'),
  color: 'grey',
  docs: 'https://docs.perplexity.ai/api-reference',
  baseUrl: 'https://api.perplexity.ai',
  models: models.perplexity,
  offered: false,
  speaks: { 'openai.chat': '/chat/completions' },
  streamOptions: false,
  modelsPath: null,
})

export const lingyiwanwu = defineProvider({
  id: 31,
  key: 'lingyiwanwu',
  label: { zh: '零一万物', en: '01.AI' },
  color: 'green',
  docs: 'https://platform.lingyiwanwu.com/docs',
  baseUrl: 'https://api.lingyiwanwu.com',
  models: models.lingyiwanwu,
  streamOptions: false,
})

/** Cohere's own dialect differs; this is its compatibility interface. */
export const cohere = defineProvider({
  id: 34,
  key: 'cohere',
  label: same('Cohere'),
  color: 'purple',
  docs: 'https://docs.cohere.com/docs/compatibility-api',
  baseUrl: 'https://api.cohere.ai',
  models: models.cohere,
  speaks: { 'openai.chat': '/compatibility/v1/chat/completions', 'openai.embeddings': '/compatibility/v1/embeddings' },
  streamOptions: false,
  modelsPath: null,
})

export const minimax = defineProvider({
  id: 35,
  key: 'minimax',
  label: same('MiniMax'),
  color: 'green',
  docs: 'https://platform.minimaxi.com/document',
  baseUrl: 'https://api.minimax.chat',
  models: models.minimax,
  speaks: { 'openai.chat': '/v1/text/chatcompletion_v2' },
  streamOptions: false,
  modelsPath: null,
})

export const jina = defineProvider({
  id: 38,
  key: 'jina',
  label: same('Jina'),
  color: 'blue',
  docs: 'https://jina.ai/embeddings',
  baseUrl: 'https://api.jina.ai',
  models: models.jina,
  speaks: { 'openai.embeddings': '/v1/embeddings' },
  modelsPath: null,
})

export const siliconflow = defineProvider({
  id: 40,
  key: 'siliconflow',
  label: same('SiliconCloud'),
  color: 'purple',
  docs: 'https://docs.siliconflow.cn',
  baseUrl: 'https://api.siliconflow.cn',
  models: models.siliconflow,
})

/** Refuses fields that it does not know with 422, `stream_options` among them; usage comes without asking. */
export const mistral = defineProvider({
  id: 42,
  key: 'mistral',
  label: same('Mistral AI'),
  color: 'blue',
  docs: 'https://docs.mistral.ai/api',
  baseUrl: 'https://api.mistral.ai',
  models: models.mistral,
  speaks: { ...chatOnly, 'openai.embeddings': '/v1/embeddings' },
  streamOptions: false,
})

export const deepseek = defineProvider({
  id: 43,
  key: 'deepseek',
  label: same('DeepSeek'),
  color: 'blue',
  docs: 'https://api-docs.deepseek.com',
  baseUrl: 'https://api.deepseek.com',
  models: models.deepseek,
  speaks: { ...chatOnly, 'openai.completions': '/beta/completions', 'anthropic.messages': '/anthropic/v1/messages' },
})

export const moka = defineProvider({
  id: 44,
  key: 'moka',
  label: { zh: '嵌入模型：MokaAI M3E', en: 'Embeddings: MokaAI M3E' },
  color: 'purple',
  baseUrl: 'https://api.moka.ai',
  models: models.moka,
  speaks: { 'openai.embeddings': '/embeddings' },
  modelsPath: null,
})

export const baiduV2 = defineProvider({
  id: 46,
  key: 'baidu-v2',
  label: { zh: '百度文心千帆V2', en: 'Baidu Qianfan V2' },
  color: 'blue',
  docs: 'https://cloud.baidu.com/doc/qianfan-api/s/3m7of64lb',
  baseUrl: 'https://qianfan.baidubce.com',
  models: models.baiduV2,
  speaks: { 'openai.chat': '/v2/chat/completions' },
  modelsPath: '/v2/models',
})
