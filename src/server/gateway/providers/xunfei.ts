import { createHmac } from 'node:crypto'
import { sparkVersionOf } from '../protocols/spark-chat/models.ts'
import { objectAt } from '../protocols/wire-format.ts'
import { models } from './models.ts'
import { defineProvider, same } from './openai-compatible.ts'
import type { Provider, Signature, SignedRequest, Upstream } from './provider.ts'

/**
 * iFlytek Spark over its WebSocket: the URL is signed and contains the version; the application id is in the message. Source:
 * iFlytek's interface reference and protocols notes 2.16, read 2026-11.
 */
export const xunfei = defineProvider({
  id: 18,
  key: 'xunfei',
  label: { zh: '讯飞星火认知', en: 'iFlytek Spark' },
  color: 'blue',
  docs: 'https://www.xfyun.cn/doc/spark/Web.html',
  baseUrl: 'https://spark-api.xf-yun.com',
  models: models.xunfei,
  keyFormat: same('APPID|APISecret|APIKey'),
  otherLabel: { zh: '模型版本', en: 'Model version' },
  otherDefault: 'v2.1',
  speaks: { 'spark.chat': '/v1.1/chat' },
  url: ({ baseUrl, other }, _format, model) => baseUrl.replace(/^http/, 'ws') + sparkVersionOf(model, other).path,
  headers: () => ({}),
  framing: () => 'websocket',
  alwaysStreams: true,
  sign,
  forChannel,
  modelsPath: null,
})

/** Adds what the codec does not know: the application id, and the model version if the channel has one. */
function forChannel({ key, other }: Upstream): Provider {
  const [appId = ''] = key.split('|')
  return {
    ...xunfei,
    adjustBody(body, _format, model) {
      const parameter = objectAt(body, 'parameter') ?? {}
      const chat = { ...objectAt(parameter, 'chat'), domain: sparkVersionOf(model, other).domain }
      return { header: { ...objectAt(body, 'header'), app_id: appId.trim() }, parameter: { ...parameter, chat } }
    },
  }
}

function sign({ key }: Upstream, { url }: SignedRequest, nowMs: number): Signature {
  const [, secret = '', apiKey = ''] = key.split('|').map((piece) => piece.trim())
  const date = new Date(nowMs).toUTCString()
  const text = `host: ${url.host}\ndate: ${date}\nGET ${url.pathname} HTTP/1.1`
  const signature = createHmac('sha256', secret).update(text).digest('base64')
  const authorization = `api_key="${apiKey}", algorithm="hmac-sha256", headers="host date request-line", signature="${signature}"`

  const signed = new URL(url)
  signed.searchParams.set('authorization', Buffer.from(authorization).toString('base64'))
  signed.searchParams.set('date', date)
  signed.searchParams.set('host', url.host)
  return { url: signed }
}
