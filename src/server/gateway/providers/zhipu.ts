import { createHmac } from 'node:crypto'
import type { Quirks } from '../protocols/codec.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import { chatHost, plainHost } from './adjust-chat.ts'
import { documentsAsTexts, requestFloats, withDirectCalls } from './direct-calls.ts'
import { models, newest } from './models.ts'
import { defineProvider, same } from './openai-compatible.ts'
import type { Signature, SignedRequest, Upstream } from './provider.ts'

const quirks: Quirks = { ...plainHost, temperatureMax: 1, jsonSchema: 'object', thinkingSwitch: 'thinking-type' }

const shared = {
  baseUrl: 'https://open.bigmodel.cn',
  docs: 'https://docs.bigmodel.cn/api-reference',
  ...withDirectCalls(chatHost(quirks, adjust), { 'openai.embeddings': requestFloats, rerank: documentsAsTexts }),
  modelsPath: '/api/paas/v4/models',
}

/** The console's key of the form `id.secret` is accepted unchanged as a bearer key. */
export const zhipu = defineProvider({
  ...shared,
  id: 26,
  key: 'zhipu',
  label: { zh: '智谱 GLM-4V', en: 'Zhipu GLM-4V' },
  color: 'purple',
  models: models.zhipu,
  newest: newest.zhipu,
  priceVendor: 'zai',
  speaks: {
    'openai.chat': '/api/paas/v4/chat/completions',
    'openai.embeddings': '/api/paas/v4/embeddings',
    rerank: '/api/paas/v4/rerank',
    'zhipu.images': '/api/paas/v4/images/generations',
    'openai.speech': '/api/paas/v4/audio/speech',
    'openai.transcriptions': '/api/paas/v4/audio/transcriptions',
    'anthropic.messages': '/api/anthropic/v1/messages',
  },
})

/**
 * API version 3 was shut down: old channels use version 4, which is Chat. They keep their authorization, a token created from the
 * key. Source: protocols notes 2.18.
 */
export const zhipuClassic = defineProvider({
  ...shared,
  id: 16,
  key: 'zhipu-classic',
  label: { zh: '智谱 ChatGLM', en: 'Zhipu ChatGLM' },
  color: 'violet',
  models: models.zhipuClassic,
  keyFormat: same('id.secret'),
  speaks: { 'openai.chat': '/api/paas/v4/chat/completions' },
  sign: signWithToken,
})

/** Only the model may choose among tools; `top_p` and `temperature` must be between 0 and 1, exclusive. */
function adjust({ top_p, tool_choice, temperature }: JsonObject): Record<string, unknown> {
  const isForced = tool_choice !== undefined && tool_choice !== 'auto' && tool_choice !== 'none'
  return {
    ...(typeof top_p === 'number' && (top_p <= 0 || top_p >= 1) ? { top_p: top_p <= 0 ? 0.01 : 0.99 } : {}),
    ...(temperature === 0 ? { temperature: undefined, do_sample: false } : {}),
    ...(isForced ? { tool_choice: 'auto' } : {}),
    ...(tool_choice === 'none' ? { tools: undefined, tool_choice: undefined } : {}),
  }
}

/** A key that is not a pair is sent unchanged. */
function signWithToken({ key }: Upstream, _request: SignedRequest, nowMs: number): Signature {
  const [id, secret] = key.split('.')
  if (!id || !secret) return {}
  const head = encoded({ alg: 'HS256', sign_type: 'SIGN' })
  const claims = encoded({ api_key: id, exp: nowMs + tokenLifetimeMs, timestamp: nowMs })
  const signature = createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url')
  return { headers: { authorization: `Bearer ${head}.${claims}.${signature}` } }
}

const tokenLifetimeMs = 3_600_000

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
