import { models } from './models.ts'
import { defineProvider, same } from './openai-compatible.ts'
import { signTc3 } from './tc3-signature.ts'

const action = 'ChatCompletions'

/** Tencent Hunyuan in its own form: action and version are in headers, and each request is signed. */
export const tencent = defineProvider({
  id: 23,
  key: 'tencent',
  label: { zh: '腾讯混元', en: 'Tencent Hunyuan' },
  color: 'teal',
  docs: 'https://cloud.tencent.com/document/product/1729',
  baseUrl: 'https://hunyuan.tencentcloudapi.com',
  models: models.tencent,
  keyFormat: same('AppId|SecretId|SecretKey'),
  speaks: { 'hunyuan.chat': '/' },
  headers: () => ({ 'x-tc-action': action, 'x-tc-version': '2023-09-01' }),
  sign({ key }, { url, headers, body }, nowMs) {
    // Keys of newer accounts have no application id.
    const [secretKey = '', secretId = ''] = key
      .split('|')
      .map((piece) => piece.trim())
      .reverse()
    const contentType = headers['content-type'] ?? ''
    const request = { secretId, secretKey, service: 'hunyuan', action, host: url.host, path: url.pathname, contentType, body }
    return { headers: signTc3(request, nowMs) }
  },
  modelsPath: null,
})
