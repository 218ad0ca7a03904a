import type { Channel } from '../../src/contract/entities/channel.ts'
import { addChannel, addToken } from '../helpers/seed.ts'
import { ask } from './seed-site.ts'
import type { Stage } from './stage.ts'

/** Data for the scenes, in addition to a site in use, created through the product's own calls. */
export interface SceneIds {
  /** A channel of several keys, one of which was refused. */
  readonly manyKeys: number
  /** A channel that changes requests. */
  readonly rewriting: number
}

/** User-defined texts of the scenes, in any language. */
export const sceneWords: readonly string[] = [
  ...['多密钥 Keys', '改写 Overrides', '抢先的渠道', '维护通知', '从周一起：', '{api_key}'],
  ...['Simulated status 401', 'Simulated status 429', 'You said: Say hello in one sentence.'],
  ...['You said: 请用一句话打个招呼。', '请用一句话打个招呼。', 'Google Authenticator', 'gpt-4o changes to gpt-4.1'],
]
export const notice =
  '## 维护通知\n\n从周一起：\n\n- gpt-4o changes to gpt-4.1\n\n| UTC+8 | |\n|---|---|\n| 02:00–04:00 | `gpt-4o` |'

/** The token of a request with attempts on two channels. */
export const tokenOfTwoAttempts = 'tried-twice'
const model = 'gpt-4-turbo'
const refusedKey = 'upstream-key-refused-2222'
const busyKey = 'upstream-key-busy-4444'
const setting = {
  system_prompt: 'Answer in the language of the question.',
  param_override: [
    { set: 'temperature', to: 0.25, when: { model: 'gpt-4*' } },
    { rename: 'max_tokens', to: 'max_completion_tokens' },
    { remove: 'logit_bias' },
  ],
  header_override: { 'x-team': 'blue', 'x-trace': '{api_key}' },
}

export async function seedScenes({ server, upstream }: Stage): Promise<SceneIds> {
  const { url } = upstream
  for (const [key, value] of [
    ['AutomaticDisableChannelEnabled', 'true'],
    // Without https, browsers offer passkeys only to this name.
    ['ServerAddress', server.url.replace('127.0.0.1', 'localhost')],
  ])
    await server.call('PUT /api/option/', { key, value })

  const sent = (key: string) => (request: { headers: Record<string, unknown> }) =>
    request.headers.authorization === `Bearer ${key}`
  const [isRefused, isBusy] = [sent(refusedKey), sent(busyKey)]
  upstream.program(model, (request) => ({ status: isRefused(request) ? 401 : isBusy(request) ? 429 : 200 }))
  const key = ['upstream-key-good-1111', refusedKey, 'upstream-key-good-3333'].join('\n')
  const keyed = { name: '多密钥 Keys', multi_key: true, key_mode: 'round-robin', key, priority: 20 }
  const manyKeys = await addChannel(server, { url, models: model, ...keyed })
  const rewriting = await addChannel(server, {
    url,
    models: 'gpt-4-rewritten',
    name: '改写 Overrides',
    setting: JSON.stringify(setting),
  })

  const call = async (name: string) => ask(server, { ...(await addToken(server, { name })), model, stream: true })
  const keysInUse = async () => (await server.call<Channel>(`GET /api/channel/${manyKeys}`)).keys_enabled
  // Each token is bound to the key that it used first, so a new token takes the next key.
  for (let calls = 1; calls <= 9 && (await keysInUse()) === 3; calls++) await call(`by turns ${calls}`)
  const busy = await addChannel(server, { url, models: model, name: '抢先的渠道', key: busyKey, priority: 100 })
  await call(tokenOfTwoAttempts)
  await server.call('PUT /api/channel/', { id: busy, status: 2 })
  return { manyKeys, rewriting }
}
