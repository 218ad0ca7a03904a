import { describe, expect, it } from 'vitest'
import { defaults } from '../../../contract/options/defaults.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import { fallbackModelRatio, openCatalog } from './catalog.ts'
import { groupRatio, groupsToTry, usableGroups } from './groups.ts'
import { loadShippedPrices, readPrices } from './price-data.ts'

const { vendors: shipped } = await loadShippedPrices()
const data = readPrices(shipped)

/** A catalog over a snapshot of options, which a test replaces completely, as the store does. */
function catalogOf(over: Partial<OptionValues> = {}, served: Readonly<Record<string, readonly string[]>> = {}) {
  const source = { current: { ...defaults, ...over } }
  const channels = { current: { vendorsOf: (model: string) => (Object.hasOwn(served, model) ? (served[model] ?? []) : []) } }
  const clock = { ms: Date.parse('2026-11-23T12:00:00Z') }
  // The catalog uses only the snapshot of the store.
  const parts = { options: source, now: () => clock.ms } as Parameters<typeof openCatalog>[0]
  const catalog = openCatalog(parts, { data: () => data, vendors: () => channels.current })
  const priceOf = (model: string, group = 'default', acceptsUnpriced = false) =>
    catalog.priceOf({ model, group, acceptsUnpriced })
  return { source, channels, clock, catalog, priceOf }
}

describe('the price of a model', () => {
  it('has every factor of the options', () => {
    const { priceOf } = catalogOf({ GroupRatio: { default: 1, vip: 0.8 }, QuotaPerUnit: 1000 })
    expect(priceOf('gpt-4o', 'vip')).toEqual({
      model: 'gpt-4o',
      group: 'vip',
      fixedUsd: -1,
      modelRatio: 1.25,
      completionRatio: 4,
      cacheRatio: 0.5,
      createCacheRatio: 1.25,
      audioRatio: 1,
      audioCompletionRatio: 2,
      imageRatio: 1,
      imageCompletionRatio: 4,
      cacheWriteFactors: { '30m': 1, '1h': 1.6, '12h': 1.6 },
      ...{ audioCacheRatio: 0.5, imageCacheRatio: 0.5, videoCompletionRatio: 4 },
      searchUsd: 0.01,
      toolUsd: expect.objectContaining({ file_search: 0.0025, web_search_preview: 0.025 }),
      tierFactors: { priority: 1.7, flex: 0.5, background_2h: 0.7, background_8h: 0.6 },
      groupRatio: 0.8,
      quotaPerUnit: 1000,
      unpriced: false,
      source: 'default',
    })
    expect(priceOf('claude-3-5-sonnet-20241022')).toMatchObject({
      modelRatio: 1.5,
      completionRatio: 5,
      cacheRatio: 0.1,
      createCacheRatio: 1.25,
      audioRatio: 1,
      audioCompletionRatio: 2,
      imageRatio: 1,
      imageCompletionRatio: 5,
      searchUsd: 0.01,
    })
    expect(priceOf('llama-3-sonar-large-32k-chat').modelRatio).toBe(0.5)
  })

  it('is the fixed price if there is one, and the ratio otherwise', () => {
    const { priceOf } = catalogOf({ ModelPrice: { 'gpt-4o': 0.02 } })
    expect(priceOf('gpt-4o')).toMatchObject({ fixedUsd: 0.02, modelRatio: 1.25 })
    expect(catalogOf().priceOf('mj_imagine')).toMatchObject({ fixedUsd: 0.1, modelRatio: 0 })
  })

  it("has the administrator's completion ratio before that of the family", () => {
    const { priceOf } = catalogOf({ CompletionRatio: { 'gpt-4o': 2.5 } })
    expect(priceOf('gpt-4o').completionRatio).toBe(2.5)
    expect(priceOf('gpt-4o-mini').completionRatio).toBe(4)
  })

  it('has the completion ratio of its family', () => {
    const families: Record<string, number> = {
      'gpt-4o-2024-05-13': 3,
      'gpt-4o-2024-08-06': 4,
      'gpt-4.5-preview': 2,
      'gpt-4-turbo-2024-04-09': 3,
      'gpt-4-1106-preview': 3,
      'gpt-4-0613': 2,
      'gpt-4-all': 2,
      'gpt-4o-all': 1,
      'gpt-4-gizmo-abc': 2,
      'gpt-4o-gizmo-abc': 3,
      'o1-mini': 4,
      'o3-mini-high': 4,
      'chatgpt-4o-latest': 3,
      'claude-instant-1': 3,
      'claude-2.1': 3,
      'claude-3-opus-20240229': 5,
      'gpt-3.5-turbo': 3,
      'gpt-3.5-turbo-1106': 2,
      'gpt-3.5-turbo-16k': 1.3333333333333333,
      'gemini-1.5-pro-latest': 4,
      'command-r': 3,
      'command-r-plus': 5,
      'command-light': 4,
      'deepseek-chat': 4,
      'ERNIE-Speed-8K': 2,
      'llama3-70b-8192': 1.3389830508474578,
      'text-embedding-3-small': 1,
    }
    for (const [model, ratio] of Object.entries(families))
      expect(catalogOf().priceOf(model, 'default', true).completionRatio, model).toBe(ratio)
  })

  it('is one for all custom assistants of a kind', () => {
    const { priceOf } = catalogOf()
    expect(priceOf('gpt-4-gizmo-g-abc')).toMatchObject({ model: 'gpt-4-gizmo-*', fixedUsd: 0.1 })
    expect(priceOf('gpt-4o-gizmo-g-abc')).toMatchObject({ model: 'gpt-4o-gizmo-*', modelRatio: 2.5, completionRatio: 3 })
    expect(priceOf('gpt-4-gizmo-g-abc')).toBe(priceOf('gpt-4-gizmo-g-xyz'))
  })

  it('is refused when none is set, unless the site or the user accepts the fallback, which is flagged', () => {
    const { priceOf } = catalogOf()
    expect(() => priceOf('made-up')).toThrow('made-up has no price')
    expect(priceOf('made-up', 'default', true)).toMatchObject({ modelRatio: fallbackModelRatio, unpriced: true })
    expect(() => priceOf('made-up')).toThrow()
    expect(catalogOf({ SelfUseModeEnabled: true }).priceOf('made-up')).toMatchObject({ modelRatio: 37.5, unpriced: true })
    for (const name of ['constructor', '__proto__', 'toString', '']) expect(() => priceOf(name), name).toThrow('has no price')
  })

  it('is the same object until an option changes', () => {
    const { source, priceOf } = catalogOf()
    const before = priceOf('gpt-4o')
    expect(priceOf('gpt-4o')).toBe(before)
    expect(priceOf('gpt-4o', 'vip')).not.toBe(before)
    expect(Object.isFrozen(before)).toBe(true)
    source.current = { ...defaults, ModelRatio: { 'gpt-4o': 9 } }
    expect(priceOf('gpt-4o').modelRatio).toBe(9)
    expect(before.modelRatio).toBe(1.25)
  })

  it('is listed without the group', () => {
    const { catalog } = catalogOf()
    expect(catalog.modelPriceOf('gpt-4o')).toEqual({
      model: 'gpt-4o',
      fixedUsd: -1,
      modelRatio: 1.25,
      completionRatio: 4,
      cacheRatio: 0.5,
      createCacheRatio: 1.25,
      audioRatio: 1,
      audioCompletionRatio: 2,
      imageRatio: 1,
      imageCompletionRatio: 4,
      cacheWriteFactors: { '30m': 1, '1h': 1.6, '12h': 1.6 },
      ...{ audioCacheRatio: 0.5, imageCacheRatio: 0.5, videoCompletionRatio: 4 },
      searchUsd: 0.01,
      toolUsd: expect.objectContaining({ file_search: 0.0025, web_search_preview: 0.025 }),
      tierFactors: { priority: 1.7, flex: 0.5, background_2h: 0.7, background_8h: 0.6 },
      source: 'default',
    })
    expect(catalog.modelPriceOf('made-up')).toBeUndefined()
  })
})

describe('groups', () => {
  const options = {
    GroupRatio: { default: 1, vip: 0.8, svip: 0.5, inner: 0.1 },
    UserUsableGroups: { default: 'everybody', vip: 'paying', gone: 'no ratio any more' },
  }

  it('that a user may choose are the groups offered to all and the one of the user, if they have a ratio', () => {
    expect(usableGroups(options, 'svip')).toEqual({
      default: { ratio: 1, desc: 'everybody' },
      vip: { ratio: 0.8, desc: 'paying' },
      svip: { ratio: 0.5, desc: '用户分组' },
    })
    expect(Object.keys(usableGroups(options, 'default'))).toEqual(['default', 'vip'])
  })

  it('of a token take precedence over those of its owner', () => {
    expect(groupsToTry(options, { userGroup: 'svip', tokenGroup: '' })).toEqual(['svip'])
    expect(groupsToTry(options, { userGroup: 'svip', tokenGroup: 'vip' })).toEqual(['vip'])
    expect(groupsToTry(options, { userGroup: 'svip', tokenGroup: 'svip' })).toEqual(['svip'])
  })

  it('are tried from the cheapest under auto', () => {
    expect(groupsToTry(options, { userGroup: 'svip', tokenGroup: 'auto' })).toEqual(['svip', 'vip', 'default'])
    expect(groupsToTry({ GroupRatio: { default: 1 }, UserUsableGroups: {} }, { userGroup: 'old', tokenGroup: 'auto' })).toEqual([
      'old',
    ])
  })

  it('that the owner may not use are refused', () => {
    for (const tokenGroup of ['inner', 'gone', 'unknown', 'constructor']) {
      expect(() => groupsToTry(options, { userGroup: 'default', tokenGroup }), tokenGroup).toThrow(tokenGroup)
    }
  })

  it('that were taken out of the options pay the plain price', () => {
    expect(groupRatio(options, 'old')).toBe(1)
    expect(groupRatio(options, 'vip')).toBe(0.8)
  })
})

describe('the public price of a model', () => {
  const served = { 'gpt-5.4': ['openai'], 'gpt-4o': ['openai'], o3: ['openai'], 'gemini-embedding-2': ['google'] }

  it('is charged where the options have none, by the vendor of the channels that serve it', () => {
    const { priceOf } = catalogOf({ GroupRatio: { default: 1, vip: 0.8 } }, served)
    expect(priceOf('gpt-5.4', 'vip')).toMatchObject({
      ...{ modelRatio: 1.25, completionRatio: 6, cacheRatio: 0.1, group: 'vip', groupRatio: 0.8, unpriced: false },
      source: { vendor: 'OpenAI', date: data.date },
      steps: [{ above: 272_000, price: { modelRatio: 2.5, completionRatio: 4.5, group: 'vip', groupRatio: 0.8 } }],
    })
    expect(() => priceOf('gpt-5.5')).toThrow('has no price')
  })

  it("is overridden by an administrator's price, and by the table of a fresh site", () => {
    expect(catalogOf({}, served).priceOf('gpt-4o')).toMatchObject({ source: 'default', modelRatio: 1.25 })
    const own = catalogOf({ ModelRatio: { ...defaults.ModelRatio, 'gpt-4o': 2, 'gpt-5.4': 3 } }, served)
    expect(own.priceOf('gpt-4o')).toMatchObject({ source: 'own', modelRatio: 2 })
    expect(own.priceOf('gpt-5.4')).toMatchObject({ source: 'own', modelRatio: 3 })
    expect(own.priceOf('gpt-5.4')).not.toHaveProperty('steps')
  })

  it('is not used where the option is off', () => {
    const { priceOf, catalog } = catalogOf({ PublicPriceDataEnabled: false }, served)
    expect(() => priceOf('gpt-5.4')).toThrow('has no price')
    expect(priceOf('gpt-5.4', 'default', true)).toMatchObject({ modelRatio: fallbackModelRatio, unpriced: true })
    expect(catalog.modelPriceOf('gpt-5.4')).toBeUndefined()
  })

  it('is the same object until the options, the channels or the price of the time change', () => {
    const { priceOf, channels, source, clock } = catalogOf({}, served)
    const first = priceOf('gpt-5.4')
    expect(priceOf('gpt-5.4')).toBe(first)
    expect(Object.isFrozen(first)).toBe(true)
    channels.current = { vendorsOf: () => [] }
    expect(() => priceOf('gpt-5.4')).toThrow('has no price')
    channels.current = { vendorsOf: (model: string) => (model === 'o3' ? ['openai'] : []) }
    expect(priceOf('o3').modelRatio).toBe(1)
    clock.ms = Date.parse('2025-06-01')
    expect(priceOf('o3').modelRatio).toBe(5)
    source.current = { ...source.current, PublicPriceDataEnabled: false }
    expect(() => priceOf('o3')).toThrow('has no price')
  })

  it('is missing for models sold by another unit than tokens, with that reason', () => {
    const { priceOf, catalog } = catalogOf({}, served)
    expect(() => priceOf('gemini-embedding-2')).toThrow('has no price')
    expect(catalog.uncovered('gemini-embedding-2')).toBe('unit')
    expect(catalog.uncovered('gpt-5.4')).toBeUndefined()
  })
})
