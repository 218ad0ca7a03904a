import { shortHash } from '../protocols/call-ids.ts'
import { isObject } from '../protocols/wire-format.ts'
import { addressPiece } from './address-piece.ts'
import { models } from './models.ts'
import { defineProvider, joinUrl, same } from './openai-compatible.ts'
import type { TokenExchange, Upstream } from './provider.ts'

const chatPath = '/rpc/2.0/ai_custom/v1/wenxinworkshop/chat'

/**
 * Baidu's first API. Each model has its own path, and the URL carries an access token obtained for the pair of keys. Source:
 * Baidu's interface reference and protocols notes 2.13, read 2026-11.
 */
export const baidu = defineProvider({
  id: 15,
  key: 'baidu',
  label: { zh: '百度文心千帆', en: 'Baidu Wenxin' },
  color: 'blue',
  docs: 'https://cloud.baidu.com/doc/WENXINWORKSHOP/index.html',
  baseUrl: 'https://aip.baidubce.com',
  models: models.baidu,
  keyFormat: same('APIKey|SecretKey'),
  speaks: { 'ernie.chat': chatPath },
  url: (channel, _format, model) => joinUrl(channel.baseUrl, `${chatPath}/${addressPiece(pathNameOf(model))}`),
  headers: () => ({}),
  accessToken: tokenExchange,
  sign({ key }, { url }) {
    const signed = new URL(url)
    signed.searchParams.set('access_token', key)
    return { url: signed }
  },
  modelsPath: null,
})

function tokenExchange({ baseUrl, key }: Upstream): TokenExchange {
  const [id = '', secret = ''] = key.split('|')
  const query = new URLSearchParams({ grant_type: 'client_credentials', client_id: id.trim(), client_secret: secret.trim() })
  return {
    cacheKey: `baidu ${baseUrl} ${shortHash(key, 40)}`,
    url: `${baseUrl}/oauth/2.0/token?${query}`,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: '{}',
    read: (reply) =>
      isObject(reply) && typeof reply.access_token === 'string'
        ? { token: reply.access_token, expiresInSeconds: typeof reply.expires_in === 'number' ? reply.expires_in : 0 }
        : undefined,
  }
}

/** The last segment of a model's path; for other models it is their name in lower case. */
function pathNameOf(model: string): string {
  return pathNames.get(model) ?? model.toLowerCase()
}

const pathNames: ReadonlyMap<string, string> = new Map([
  ['ERNIE-4.0', 'completions_pro'],
  ['ERNIE-4.0-8K', 'completions_pro'],
  ['ERNIE-Bot-4', 'completions_pro'],
  ['ERNIE-Bot', 'completions'],
  ['ERNIE-3.5-8K', 'completions'],
  ['ERNIE-Bot-8K', 'ernie_bot_8k'],
  ['ERNIE-Bot-turbo', 'eb-instant'],
  ['ERNIE-Lite-8K-0922', 'eb-instant'],
  ['ERNIE-Lite-8K-0308', 'ernie-lite-8k'],
  ['ERNIE-Speed', 'ernie_speed'],
  ['ERNIE-Speed-8K', 'ernie_speed'],
  ['BLOOMZ-7B', 'bloomz_7b1'],
])
