import { describe, expect, it } from 'vitest'
import { checkOptions } from './check.ts'
import { decodeOption, encodeOption, optionTextLengthMax } from './codec.ts'
import { defaults } from './defaults.ts'
import { option, type Place, section } from './define.ts'
import { allOptions, findOption, type OptionKey, sections } from './index.ts'

const place: Place = { name: 'demo', tab: 'other', label: { zh: '演示', en: 'Demo' }, writer: 'admin' }
const label = { zh: '甲', en: 'A' }
const good = option({ default: true, schema: (z) => z.boolean(), widget: 'switch', label })

describe('the check at start', () => {
  it('accepts the options of the product', () => {
    expect(() => checkOptions()).not.toThrow()
  })

  it('names the option whose default its own schema refuses', () => {
    const bad = option({ default: 0, schema: (z) => z.int().min(1), widget: 'number', label })
    expect(() => checkOptions([section(place, { Bad: bad })], { Bad: 0 })).toThrow(
      'option Bad has a default that must be at least 1',
    )
  })

  it('names the option whose text lacks a language', () => {
    const bad = option({ ...good, label: { zh: '甲', en: '' } })
    expect(() => checkOptions([section(place, { Bad: bad })], { Bad: true })).toThrow('option Bad')
    const choice = option({
      default: 'a',
      schema: (z) => z.string(),
      widget: 'select',
      label,
      choices: [{ value: 'a', label: { zh: '', en: 'A' } }],
    })
    expect(() => checkOptions([section(place, { Picky: choice })], { Picky: 'a' })).toThrow('option Picky, choice a')
  })

  it('reports options that are declared twice or have no default', () => {
    const twice = [section(place, { Twice: good }), section({ ...place, name: 'other' }, { Twice: good })]
    expect(() => checkOptions(twice, { Twice: true })).toThrow('option Twice is declared twice')
    expect(() => checkOptions([section(place, {}), section(place, {})], {})).toThrow('section demo is declared twice')
    expect(() => checkOptions([section(place, { Empty: good })], {})).toThrow('option Empty has no default')
  })
})

describe('the string form of options', () => {
  const decode = (key: OptionKey, text: string) => decodeOption(allOptions[key], text)
  const refused = (key: OptionKey, text: string) => 'reason' in decode(key, text)

  it('restores every default', () => {
    for (const [key, one] of Object.entries(allOptions)) {
      // Every key of the declarations has a default, as the check at start has shown.
      const value = defaults[key as OptionKey]
      expect(decodeOption(one, encodeOption(one, value)), key).toEqual({ value })
    }
  })

  it('refuses wrong types, bad JSON, ratios below zero, prototype keys and long values, for every option', () => {
    for (const [key, one] of Object.entries(allOptions)) {
      const long = 'x'.repeat(optionTextLengthMax + 1)
      expect('reason' in decodeOption(one, long), key).toBe(true)
      if (one.widget === 'switch' || one.widget === 'number') {
        for (const text of ['', 'yes', 'NaN', 'Infinity', '1e999', '0x10', '{}', '-2'])
          expect('reason' in decodeOption(one, text), `${key} ${text}`).toBe(true)
      }
      if (
        ['ratio-map', 'text-map', 'header-lists', 'chats', 'group-limits', 'group-counts', 'video-prices'].includes(one.widget)
      ) {
        const deep = '['.repeat(200_000)
        for (const text of [
          '',
          '{',
          'null',
          '7',
          '"x"',
          '{"__proto__":{"a":1}}',
          '{"constructor":1}',
          deep,
          `${deep}${']'.repeat(200_000)}`,
        ]) {
          expect('reason' in decodeOption(one, text), `${key} ${text.slice(0, 30)}`).toBe(true)
        }
      }
      if (one.widget === 'ratio-map') {
        for (const text of [
          '{"default":-1}',
          '{"default":"1"}',
          '{"default":null}',
          '{"default":1e12}',
          '{"default":1e-30}',
          '[1]',
        ]) {
          expect('reason' in decodeOption(one, text), `${key} ${text}`).toBe(true)
        }
      }
    }
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  })

  it('strips the trailing slashes of the four addresses', () => {
    for (const key of ['ServerAddress', 'WorkerUrl', 'PayAddress', 'WeChatServerAddress'] as const) {
      expect(decode(key, 'https://example.com/path//')).toEqual({ value: 'https://example.com/path' })
      for (const bad of ['example.com', 'ftp://x', 'https://user:pass@x', 'https://x?y', 'javascript:alert(1)', 'https://x y'])
        expect(refused(key, bad), bad).toBe(true)
    }
  })

  it('refuses numbers below the minimum of an option', () => {
    expect(refused('DataExportInterval', '0')).toBe(true)
    expect(refused('MinTopUp', '0')).toBe(true)
    expect(refused('QuotaPerUnit', '0')).toBe(true)
    expect(refused('ChannelDisableThreshold', '-0.5')).toBe(true)
    expect(refused('QuotaForNewUser', '-1')).toBe(true)
    expect(refused('ModelRequestRateLimitSuccessCount', '0')).toBe(true)
    expect(refused('ModelRequestRateLimitCount', '0')).toBe(false)
    expect(refused('ModelRequestRateLimitCount', '-2')).toBe(true)
    expect(refused('ModelRequestRateLimitDurationMinutes', '0')).toBe(false)
    expect(refused('claude.thinking_adapter_budget_tokens_percentage', '0.05')).toBe(true)
    expect(refused('claude.thinking_adapter_budget_tokens_percentage', '1')).toBe(false)
  })

  it('reads -1 as 0, no limit, for the requests of a period', () => {
    expect(decode('ModelRequestRateLimitCount', '-1')).toEqual({ value: 0 })
  })

  it('reads limits of groups, one or several, with absent ones as no limit', () => {
    const whole = { seconds: 60, requests: 0, tokens: 0, concurrency: 0 }
    expect(
      decode('UserRequestLimits', '{"*": {"requests": 5}, "vip": [{"seconds": 1, "tokens": 9}, {"concurrency": 2}]}'),
    ).toEqual({
      value: {
        '*': [{ ...whole, requests: 5 }],
        vip: [
          { ...whole, seconds: 1, tokens: 9 },
          { ...whole, concurrency: 2 },
        ],
      },
    })
    for (const text of [
      '{"a": {"request": 5}}',
      '{"a": {"requests": -1}}',
      '{"a": {"seconds": 0}}',
      '{"a": 5}',
      '{"a": []}',
      '[]',
    ])
      expect(refused('GroupRequestLimits', text), text).toBe(text !== '{"a": []}')
    expect(decode('ModelRequestRateLimitGroup', '{"vip": [0, 1000]}')).toEqual({ value: { vip: [0, 1000] } })
    for (const text of ['{"vip": [0, 0]}', '{"vip": [1]}', '{"vip": [-1, 5]}', '{"vip": 5}'])
      expect(refused('ModelRequestRateLimitGroup', text), text).toBe(true)
  })

  it('requires the default group, and adds a missing default entry', () => {
    expect(refused('GroupRatio', '{"vip":1}')).toBe(true)
    expect(decode('claude.default_max_tokens', '{"claude-x":4096}')).toEqual({ value: { default: 8192, 'claude-x': 4096 } })
    expect(decode('gemini.version_settings', '{}')).toEqual({ value: { default: 'v1beta' } })
  })

  it('[T048] refuses links that could run a script or lead to another site by a path', () => {
    for (const text of [
      '[{"a":"javascript://%0aalert(1)"}]',
      '[{"a":"data:text/html,x"}]',
      '[{"a":"https://x","b":"https://y"}]',
      '[{}]',
      '["x"]',
      '{}',
    ]) {
      expect(refused('Chats', text), text).toBe(true)
    }
    expect(refused('TopUpLink', 'javascript:alert(1)')).toBe(true)
    for (const link of ['//evil.example', '/\\evil.example', ' javascript:alert(1)', 'data:text/html,x', 'https:evil.example']) {
      expect(refused('TopUpLink', link), link).toBe(true)
      expect(refused('ChatLink', link), link).toBe(true)
    }
    expect(refused('Chats', '[]')).toBe(false)
  })

  it('freezes values, and their objects have no inherited names', () => {
    const { ModelRatio } = defaults
    expect(Object.isFrozen(ModelRatio)).toBe(true)
    expect(Object.isFrozen(defaults.Chats[0])).toBe(true)
    expect(ModelRatio.constructor).toBeUndefined()
  })

  it('trims lists, and removes empty and repeated entries', () => {
    expect(decode('SensitiveWords', ' a \r\n\n b\n')).toEqual({ value: 'a\nb' })
    expect(decode('EmailDomainWhitelist', 'A.com, b.org,,a.com')).toEqual({ value: 'a.com,b.org' })
    expect(refused('EmailDomainWhitelist', 'a@b.com')).toBe(true)
  })
})

describe('permissions to write', () => {
  it('reserve accounts and money for the super admin', () => {
    for (const key of [
      'PasswordLoginEnabled',
      'SMTPToken',
      'GitHubClientId',
      'TurnstileSiteKey',
      'ServerAddress',
      'WorkerUrl',
      'EpayKey',
      'Price',
      'QuotaPerUnit',
    ]) {
      expect(findOption(key)?.writer, key).toBe('root')
    }
    for (const key of ['RetryTimes', 'ModelRatio', 'Notice', 'gemini.safety_settings', 'DrawingEnabled'])
      expect(findOption(key)?.writer, key).toBe('admin')
    expect(findOption('constructor')).toBeUndefined()
  })

  it('lists every section with its own tab', async () => {
    for (const tab of ['operation', 'prices', 'ratelimit', 'models', 'system', 'other']) {
      const { sections: listed } = await import(`./tabs/${tab}.ts`)
      for (const { place: one } of listed) expect(one.tab, one.name).toBe(tab)
    }
  })

  it('reserve every section of the system tab for the super admin', () => {
    for (const { place: one } of sections) if (one.tab === 'system') expect(one.writer, one.name).toBe('root')
  })

  it('give no model a free price by default, except glm-4-flash', () => {
    const free = Object.entries(defaults.ModelRatio).filter(([, ratio]) => ratio === 0)
    expect(free.map(([model]) => model)).toEqual(['glm-4-flash'])
  })
})
