import type { JsonObject } from '../protocols/wire-format.ts'
import { chatHost, plainHost } from './adjust-chat.ts'
import { siliconflowBalance } from './balances.ts'
import { documentsAsTexts, requestFloats, withDirectCalls } from './direct-calls.ts'
import { models } from './models.ts'
import { defineProvider, mediaPaths, openaiPaths, same } from './openai-compatible.ts'

/** Vendors that speak OpenAI's dialect and differ in address, paths, models and known quirks only. */
const chatOnly = { 'openai.chat': '/v1/chat/completions' }

export const qihoo360 = defineProvider({
  id: 19,
  key: '360',
  label: { zh: '360 智脑', en: '360 Zhinao' },
  color: 'blue',
  docs: 'https://ai.360.com/platform/docs/overview',
  baseUrl: 'https://api.360.cn',
  models: models.qihoo360,
  streamOptions: false,
  ...chatHost(plainHost),
})

export const fastgpt = defineProvider({
  id: 22,
  key: 'fastgpt',
  label: { zh: '知识库：FastGPT', en: 'Knowledge base: FastGPT' },
  color: 'blue',
  docs: 'https://doc.fastgpt.io',
  baseUrl: 'https://fastgpt.run/api/openapi',
  addsToPrompts: 'always',
  keyFormat: same('APIKey-AppId'),
  speaks: chatOnly,
  streamOptions: false,
  ...chatHost(plainHost),
  modelsPath: null,
})

/** Requires alternating roles; reasoning is in the text between tags. Usage is always sent. */
export const perplexity = defineProvider({
  id: 27,
  key: 'perplexity',
  label: same('Perplexity'),
  color: 'grey',
  docs: 'https://docs.perplexity.ai/api-reference',
  baseUrl: 'https://api.perplexity.ai',
  models: models.perplexity,
  priceVendor: 'perplexity',
  offered: false,
  speaks: { 'openai.chat': '/chat/completions' },
  streamOptions: false,
  ...chatHost({
    ...plainHost,
    strictTurns: true,
    thinkTags: true,
    thinkingSwitch: 'none',
    refuses: ['logit_bias', 'logprobs', 'parallel_tool_calls', 'seed', 'stop', 'store', 'top_logprobs', 'user'],
  }),
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
  ...chatHost(plainHost),
})

export const jina = defineProvider({
  id: 38,
  key: 'jina',
  label: same('Jina'),
  color: 'blue',
  docs: 'https://jina.ai/embeddings',
  baseUrl: 'https://api.jina.ai',
  models: models.jina,
  speaks: { 'openai.embeddings': '/v1/embeddings', rerank: '/v1/rerank' },
  adjustBody: (body, format) => (format === 'openai.embeddings' ? jinaEncoding(body) : {}),
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
  balance: siliconflowBalance,
  speaks: {
    ...openaiPaths,
    rerank: '/v1/rerank',
    'siliconflow.images': '/v1/images/generations',
    'openai.speech': mediaPaths['openai.speech'],
    'openai.transcriptions': mediaPaths['openai.transcriptions'],
  },
  ...withDirectCalls(chatHost({ ...plainHost, thinkingSwitch: 'enable_thinking' }), { rerank: documentsAsTexts }),
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
  speaks: {
    'openai.chat': '/v2/chat/completions',
    'openai.embeddings': '/v2/embeddings',
    rerank: '/v2/rerank',
    'openai.images': '/v2/images/generations',
  },
  ...withDirectCalls(chatHost(plainHost), { 'openai.embeddings': requestFloats, rerank: documentsAsTexts }),
  modelsPath: '/v2/models',
})

/** A self-hosted model server, which has no common address. */
export const xinference = defineProvider({
  id: 47,
  key: 'xinference',
  label: same('Xinference'),
  color: 'purple',
  docs: 'https://inference.readthedocs.io/en/latest/user_guide/client_api.html',
  needsBaseUrl: true,
  speaks: { ...openaiPaths, ...mediaPaths, rerank: '/v1/rerank' },
  ...withDirectCalls(chatHost(plainHost), { 'openai.embeddings': requestFloats, rerank: documentsAsTexts }),
})

/** Jina's name for `encoding_format`. */
function jinaEncoding({ encoding_format, embedding_type }: JsonObject): Record<string, unknown> {
  if (encoding_format === undefined) return {}
  return { encoding_format: undefined, embedding_type: embedding_type ?? encoding_format }
}
