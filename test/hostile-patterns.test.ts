import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { entriesFor } from '../src/contract/by-model.ts'
import { matchesName } from '../src/server/gateway/channels/row/match-name.ts'
import { WordList } from '../src/server/gateway/moderation/word-list.ts'
import { readPublished } from '../src/server/money/pricing/published-data.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { lettersOfSlowMatch } from './helpers/backtracking.ts'
import { addToken, setOptions } from './helpers/seed.ts'
import { type FakeUpstream, startFakeUpstream } from './helpers/upstream.ts'

/**
 * The places where operators and users give patterns or words: names of models with `*` (channels, mappings, rules of overrides, prices of
 * tools and tiers), listed words, keywords that disable a channel, mapped statuses, overrides of headers and bodies, models of tokens,
 * search fields, and the price data of a site. Only the last takes regular expressions, which have to be plain. Everything else is
 * searched for literally: no text of theirs becomes an expression, and matchers of our own do bounded work.
 */

/** Each takes exponential or quadratic time in an engine that backtracks. */
const catastrophic = [
  ...['^(a+)+$', '(a|a)*b', '(.*a){20}', '^(\\w+\\s?)*$', '(x+x+)+y', 'a*a*a*a*b', '[a-z]+[a-z]+[a-z]+1', '(?:(a+)+c)?'],
]
/** Made by the test itself, as no server may. */
const shown = '^(b+)+$'
const stars = `${'a*'.repeat(30)}b`
const all = [...catastrophic, stars]
const long = 'a'.repeat(20_000)

let server: TestServer
let upstream: FakeUpstream
beforeAll(async () => {
  ;[server, upstream] = await Promise.all([startServer('sqlite'), startFakeUpstream()])
})
afterAll(async () => {
  await server.stop()
  await upstream.stop()
})

/** The expressions that are made from texts while the work runs. */
async function expressionsMadeBy(work: () => Promise<void>): Promise<RegExp[]> {
  const made: RegExp[] = []
  const make = (target: RegExpConstructor, [source, flags]: [string | RegExp, string?]) => {
    const expression = new target(source, flags)
    if (typeof source === 'string') made.push(expression)
    return expression
  }
  vi.stubGlobal('RegExp', new Proxy(RegExp, { construct: make, apply: (target, _this, given: [string]) => make(target, given) }))
  try {
    await work()
  } finally {
    vi.unstubAllGlobals()
  }
  return made
}

async function setPatterns(): Promise<void> {
  const options = {
    SensitiveWords: all.join('\n'),
    AutomaticDisableKeywords: all.join('\n'),
    AutomaticDisableChannelEnabled: 'true',
    ModelRatio: JSON.stringify(Object.fromEntries(['gpt', ...all].map((name) => [name, 1]))),
    ToolPrice: JSON.stringify(Object.fromEntries(all.map((name) => [`web_search/${name}`, 1]))),
    TierFactor: JSON.stringify(Object.fromEntries(all.map((name) => [`priority/${name}`, 2]))),
  }
  await setOptions(server, options)
  const channel = {
    ...{ name: stars, type: 1, key: 'k'.repeat(20), base_url: upstream.url, models: ['gpt', ...all].join(','), tag: '(a+)+$' },
    model_mapping: JSON.stringify(Object.fromEntries(all.map((name) => [name, 'gpt']))),
    status_code_mapping: '{"418":"500"}',
    header_override: JSON.stringify({ 'x-pattern': '^(a+)+$' }),
  }
  await server.call('POST /api/channel/', channel)
  const operations = all.map((model) => ({ path: 'user', mode: 'set', value: 'x', when: { model } }))
  await server.raw('POST /api/channel/', { ...channel, param_override: JSON.stringify({ operations }) })
}

async function callWith(key: string, model: string, status = 200): Promise<number> {
  upstream.program('gpt', status === 200 ? {} : { status, body: { error: { message: long } } })
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: long }] }),
  })
  await answer.text()
  return answer.status
}

it('[T264] no pattern or word of operators and users becomes a regular expression that takes more than linear time', async () => {
  const made = await expressionsMadeBy(async () => {
    // Shows that such an expression would be found.
    expect(new RegExp(shown).source).toBe(shown)
    await setPatterns()
    const limits = { model_limits_enabled: true, model_limits: ['gpt', ...catastrophic].join(',') }
    const { key } = await addToken(server, limits)
    expect(await callWith(key, 'gpt')).toBe(200)
    await callWith((await addToken(server)).key, long.slice(0, 250))
    await callWith(key, 'gpt', 418)
    for (const text of all) {
      const asked = encodeURIComponent(text)
      for (const path of [
        `/api/log/?model_name=${asked}&username=${asked}&token_name=${asked}`,
        `/api/log/search?keyword=${asked}`,
        `/api/channel/search?keyword=${asked}&model=${asked}`,
        `/api/user/search?keyword=${asked}`,
        `/api/token/search?keyword=${asked}&token=${asked}`,
        `/api/redemption/search?keyword=${asked}`,
        `/api/task/?task_id=${asked}`,
        `/api/audit/?actor=${asked}&action=${asked}`,
      ])
        expect([path, (await server.raw(`GET ${path}`)).status < 500]).toEqual([path, true])
    }
  })
  const slow = made.filter((expression) => lettersOfSlowMatch(expression) !== undefined)
  expect(slow.map(({ source }) => source)).toEqual([shown])
})

it('[T264] the regular expressions of price data are refused unless they are plain', () => {
  const read = (regex: string) => {
    const models = [{ id: 'm', match: { regex }, prices: { input_mtok: 1, output_mtok: 1 } }]
    const vendor = { id: 'v', name: 'V', api_pattern: 'x', models }
    return 'vendors' in readPublished(JSON.stringify([vendor]), { shipped: [], inUse: [] })
  }
  for (const regex of [...catastrophic, `^${'a?'.repeat(25)}`, '^(a{1,9}){1,9}$', '^a+.*b+$', '^(?=a*a*b)'])
    expect([regex, read(regex)]).toEqual([regex, false])
})

/** A text that counts how often its characters are read. */
function counted(text: string): { text: string; reads: () => number } {
  let reads = 0
  const proxy = new Proxy(Object(text) as object, {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads++
      return Reflect.get(target, name, target)
    },
  })
  // It behaves like the text wherever characters are read by their position.
  return { text: proxy as unknown as string, reads: () => reads }
}

it('[T264] names with many stars and long lists of words are matched with work in proportion to the lengths', () => {
  for (const pattern of [stars, `*${'a'.repeat(100)}b`, `${'*a'.repeat(60)}*b`, '*'.repeat(200)]) {
    const name = counted('a'.repeat(255))
    expect(matchesName(pattern, name.text)).toBe(!pattern.endsWith('b'))
    expect(name.reads()).toBeLessThanOrEqual((pattern.length + 1) * 256)
  }
  expect(entriesFor({ [`web_search/${stars}`]: 1 }, 'a'.repeat(255))).toEqual({})

  const words = new WordList([...catastrophic, ...Array.from({ length: 200 }, (_, length) => `${'a'.repeat(length + 1)}b`)])
  let state = 0
  for (const letter of long) state = words.step(state, letter.charCodeAt(0))
  expect(words.lookups).toBeGreaterThan(0)
  expect(words.lookups).toBeLessThanOrEqual(2 * long.length)
})
