import { expect, it } from 'vitest'
import { encodeOption } from '../src/contract/options/codec.ts'
import { defaults } from '../src/contract/options/defaults.ts'
import type { Option } from '../src/contract/options/define.ts'
import { allOptions, type OptionKey } from '../src/contract/options/index.ts'
import { serverOfTest, type TestServer } from './helpers/app.ts'
import { startRedis } from './helpers/redis-server.ts'
import { scaledByLoad } from './helpers/scaled-by-load.ts'
import { setOptions } from './helpers/seed.ts'
import { isTorture } from './helpers/torture.ts'

/** Saves every option by separate calls: the default, another value, and values that are refused and change nothing. */

// The declarations are walked by their keys.
const keys = Object.keys(allOptions) as OptionKey[]
const optionOf = (key: OptionKey): Option => allOptions[key]

/** Another value if the widget does not describe it sufficiently. A new JSON option needs a line here. */
const others: Readonly<Record<string, string>> = {
  GroupRouting: '{"default":"cheapest"}',
  UserUsableGroups: '{"default":"all"}',
  Chats: '[{"Chat":"https://chat.example/?key={key}"}]',
  GroupRatio: '{"default":1,"vip":0.5}',
  CacheWriteFactor: '{"1h":2}',
  ModelRequestRateLimitGroup: '{"vip":[0,1000]}',
  UserRequestLimits: '{"*":[{"seconds":60,"requests":60,"tokens":0,"concurrency":5}]}',
  GroupRequestLimits: '{"vip":[{"seconds":60,"requests":600,"tokens":0,"concurrency":0}]}',
  'claude.model_headers_settings': '{"claude-3":{"anthropic-beta":["x"]}}',
  'claude.default_max_tokens': '{"default":4096}',
  'gemini.safety_settings': '{"default":"BLOCK_NONE"}',
  'gemini.version_settings': '{"default":"v1"}',
  'claude.thinking_adapter_budget_tokens_percentage': '0.5',
  EmailDomainWhitelist: 'corp.example',
  TopUpPresets: '10,20,50',
  SiteTimeZone: 'Europe/Berlin',
  ModelReplacements: '{"gpt-5":"gpt-6.1-sol"}',
  TopUpDiscounts: '{"100":0.9}',
  VideoPrice:
    '{"veo-3.1":{"per":"second","seconds":{"usual":8,"longest":8},"rates":[{"resolution":"720p","sound":"with","usd":0.4}]}}',
}

function otherValue(key: OptionKey): string {
  const option = optionOf(key)
  const known = others[key]
  if (known !== undefined) return known
  switch (option.widget) {
    case 'switch':
      return String(encodeOption(option, defaults[key]) !== 'true')
    case 'number':
      return String(Number(defaults[key]) + 1)
    case 'url':
      return 'https://option.example'
    case 'select':
      return option.choices?.find(({ value }) => value !== defaults[key])?.value ?? ''
    case 'ratio-map':
      return '{"some-name":1.5}'
    case 'lines':
      return 'one\ntwo'
    default:
      return 'another-1'
  }
}

function badValues(key: OptionKey): readonly string[] {
  switch (optionOf(key).widget) {
    case 'switch':
      return ['yes', '', '1']
    case 'number':
      // For this option -1 means 0.
      return ['', 'many', 'NaN', '1e999', key === 'ModelRequestRateLimitCount' ? '-2' : '-1']
    case 'url':
      return ['javascript:alert(1)', 'ftp://option.example', 'x'.repeat(200_001)]
    case 'select':
      return ['', 'no-such-choice']
    case 'ratio-map':
    case 'text-map':
    case 'header-lists':
    case 'group-limits':
    case 'group-counts':
      return ['', '{', 'null', '7', '{"__proto__":{"x":1}}']
    default:
      return ['x'.repeat(200_001)]
  }
}

// The refusals that do not concern the shape of the value but other values, or earlier ones.
const refusals = ['option_invalid', 'json_text_invalid', 'field_invalid', 'body_too_large']
/** Must be saved last, because it changes a state that the others need. */
const last = ['DemoSiteEnabled']
const ordered = [
  ...keys.filter((key) => optionOf(key).widget !== 'switch'),
  ...keys.filter((key) => optionOf(key).widget === 'switch'),
]
const walk = [...ordered.filter((key) => !last.includes(key)), ...keys.filter((key) => last.includes(key))]

it.each(isTorture ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const))(
  '[T081] every option has its default, applies another value at once, and refuses invalid ones, keeping the old value, over %s',
  async (kind) => {
    const server = await serverOfTest(kind, { env: { TRUSTED_PROXIES: '127.0.0.1' } })
    const { options } = server.app
    // Each option from a separate address: one address may make 600 calls in three minutes.
    const put = async (key: OptionKey, value: string) => {
      const headers = { 'x-forwarded-for': `198.18.${keys.indexOf(key)}.1` }
      return (await (await server.raw('PUT /api/option/', { key, value }, headers)).json()) as { success: boolean; code?: string }
    }

    // Values that are invalid for every option are refused by the call itself.
    for (const [value, status] of [
      [{}, 200],
      [['true'], 200],
      ['x'.repeat(10_000_000), 413],
    ] as const) {
      for (const key of ['Notice', 'ModelRatio', 'RetryTimes'] as const) {
        const answer = await server.raw('PUT /api/option/', { key, value })
        const { code } = (await answer.json()) as { code?: string }
        expect([key, answer.status, refusals.includes(code ?? '')]).toEqual([key, status, true])
      }
    }
    for (const key of walk) {
      const option = optionOf(key)
      expect(options.current[key], key).toEqual(defaults[key])
      // Inputs are validated before any query, so that one value of each is enough for the second database.
      for (const bad of kind === 'sqlite' ? badValues(key) : badValues(key).slice(0, 1)) {
        const answer = await put(key, bad)
        expect([answer.success, refusals.includes(answer.code ?? '')], `${key}: ${bad.slice(0, 40)} ${answer.code}`).toEqual([
          false,
          true,
        ])
        expect(options.current[key], key).toEqual(defaults[key])
      }
      const value = otherValue(key)
      expect(await put(key, value), `${key}: ${value}`).toMatchObject({ success: true })
      expect(encodeOption(option, options.current[key]), key).not.toBe(encodeOption(option, defaults[key]))
    }
    await expectShown(server)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  },
)

/** The list of options and the public status contain the saved value; of secrets only that they are set. */
async function expectShown(server: TestServer): Promise<void> {
  expect(
    await (await server.raw('PUT /api/option/', { key: 'RetryTimes', value: '7' })).status,
    'a demo site takes no change',
  ).toBe(405)
  await setOptions(server, { DemoSiteEnabled: false })

  const list = await server.call<{ key: string; value: string }[]>('GET /api/option/')
  const secrets = await server.call<Record<string, boolean>>('GET /api/option/secrets')
  for (const key of walk) {
    const shown = list.find((one) => one.key === key)?.value
    if (optionOf(key).secret) expect([shown, secrets[key]], key).toEqual([undefined, true])
    else expect(shown, key).toBe(encodeOption(optionOf(key), server.app.options.current[key]))
  }
  const { SystemName: system_name, QuotaPerUnit: quota_per_unit, Chats: chats, Price: price } = server.app.options.current
  expect(await server.call('GET /api/status')).toMatchObject({
    system_name,
    quota_per_unit,
    chats,
    price,
    demo_site_enabled: false,
  })
  expect(await server.call('GET /api/notice')).toBe('another-1')
}

/** One option of each kind. */
const kinds: readonly OptionKey[] = [
  ...([
    'DrawingEnabled',
    'RetryTimes',
    'SystemName',
    'ServerAddress',
    'SMTPToken',
    'Chats',
    'GroupRatio',
    'SensitiveWords',
  ] as const),
  ...(['Notice', 'DataExportDefaultTime', 'EmailDomainWhitelist', 'ModelRatio'] as const),
]

it('[T191] an option of each kind applies on the other node within 1 s, and within 2 s while Redis is down', async () => {
  const redis = await startRedis()
  const env = { REDIS_URL: redis?.url ?? '' }
  const a = await serverOfTest('postgres', { env })
  const b = await serverOfTest('postgres', { env, database: a.database })

  const follow = async (key: OptionKey, value: string, timeout: number) => {
    await a.call('PUT /api/option/', { key, value })
    await expect
      .poll(() => b.app.options.current[key], { timeout: scaledByLoad(timeout), interval: 10, message: key })
      .toEqual(a.app.options.current[key])
  }
  for (const key of kinds) await follow(key, otherValue(key), 1000)
  await redis?.stop()
  await follow('RetryTimes', '9', 2000)
  await follow('Notice', 'without Redis', 2000)

  // Two writers at once: one of them is the last, everywhere.
  await Promise.all([setOptions(a, { Notice: 'from a' }), setOptions(b, { Notice: 'from b' })])
  await expect
    .poll(() => a.app.options.current.Notice === b.app.options.current.Notice, { timeout: scaledByLoad(2000) })
    .toBe(true)
  const { items } = await a.call<{ items: { after: string }[] }>('GET /api/audit/?target=option:Notice&page_size=2')
  expect(items.map(({ after }) => after).toSorted()).toEqual(['from a', 'from b'])
  expect(items[0]?.after).toBe(a.app.options.current.Notice)
})
