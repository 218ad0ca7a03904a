import { expect, it } from 'vitest'
import { defaults } from '../../../contract/options/defaults.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import type { TokenPrices } from '../../../contract/routes/pricing.ts'
import type { PriceData, PublicPrice } from './price-data.ts'
import { publicPrices } from './public-prices.ts'

const tokens = (input: number, output: number, more: Partial<TokenPrices> = {}): TokenPrices => ({
  ...{ input, output, cache_read: null, cache_write: null, audio_input: null, audio_output: null },
  ...{ image_input: null, image_output: null, cache_audio_read: null, cache_image_read: null, video_output: null },
  ...more,
})
const sold = (vendor: string, prices: TokenPrices, more: Partial<PublicPrice> = {}): PublicPrice => ({
  ...{ vendor, prices, steps: [], tiers: {}, uncovered: undefined, from: '', hours: '', changes: [] },
  ...more,
})

/** Price data that knows one model, `m`. */
function pricesOf(offers: Readonly<Record<string, PublicPrice>>, over: Partial<OptionValues> = {}) {
  let asked = 0
  const data: PriceData = {
    date: '2026-09-22',
    of(vendor, model) {
      asked++
      return model === 'm' ? offers[vendor] : undefined
    },
    ofOwnVendor: () => undefined,
    entryOf: () => undefined,
    releasedAt: () => undefined,
  }
  const vendors = { vendorsOf: () => Object.keys(offers) }
  const find = publicPrices({ ...defaults, ...over }, { data, vendors })
  return { find: (model: string) => find(model, 0), asked: () => asked }
}

it('turns the prices of the vendor into ratios, and names it and the day of the data', () => {
  const { find } = pricesOf({ one: sold('One', tokens(2.5, 15, { cache_read: 0.25, image_output: 60 })) })
  expect(find('m')).toEqual({
    price: expect.objectContaining({
      ...{ model: 'm', fixedUsd: -1, modelRatio: 1.25, completionRatio: 6, cacheRatio: 0.1, createCacheRatio: 1.25 },
      imageCompletionRatio: 24,
      source: { vendor: 'One', date: '2026-09-22' },
    }),
    soon: 0,
  })
  expect(find('other')).toBeUndefined()
})

it('uses the most expensive of the vendors, and names the cheaper ones', () => {
  const offers = { a: sold('A', tokens(1, 8)), b: sold('B', tokens(2, 9)), c: sold('C', tokens(2, 9)) }
  expect(pricesOf(offers).find('m')).toMatchObject({ price: { modelRatio: 1, source: { vendor: 'B', cheaper: ['A'] } } })
})

it('has the prices of longer prompts', () => {
  const steps = [{ above: 200_000, prices: tokens(4, 18) }]
  expect(pricesOf({ a: sold('A', tokens(2, 12), { steps }) }).find('m')).toMatchObject({
    price: { modelRatio: 1, completionRatio: 6, steps: [{ above: 200_000, price: { modelRatio: 2, completionRatio: 4.5 } }] },
  })
})

it("prices cached audio and video by the vendor's price, or else by the ratios of their kind", () => {
  const prices = tokens(0.5, 3, { cache_read: 0.05, audio_input: 1, image_input: 0.6 })
  expect(pricesOf({ a: sold('A', prices) }).find('m')).toMatchObject({
    price: { audioCacheRatio: 0.2, imageCacheRatio: 0.12, videoCompletionRatio: 6 },
  })
  const more = { cache_audio_read: 0.3, cache_image_read: 0.4, video_output: 17.5 }
  expect(pricesOf({ a: sold('A', { ...prices, ...more }) }).find('m')).toMatchObject({
    price: { audioCacheRatio: 0.6, imageCacheRatio: 0.8, videoCompletionRatio: 35 },
  })
})

it("keeps an administrator's settings of the model", () => {
  const over = { CacheRatio: { m: 0.3 }, ImageRatio: { m: 7 } }
  expect(pricesOf({ a: sold('A', tokens(2, 12, { cache_read: 0.2 })) }, over).find('m')).toMatchObject({
    price: { cacheRatio: 0.3, imageRatio: 7, completionRatio: 6 },
  })
})

it('has the service tiers of the data, instead of the defaults of the site and not of what an administrator has set', () => {
  const offers = { a: sold('A', tokens(2, 12), { tiers: { priority: 3, flex: 0.4 } }) }
  expect(pricesOf(offers).find('m')).toMatchObject({ price: { tierFactors: { priority: 3, flex: 0.4 } } })
  const TierFactor = { 'priority/m*': 1.5 }
  expect(pricesOf(offers, { TierFactor }).find('m')).toMatchObject({ price: { tierFactors: { priority: 1.5, flex: 0.4 } } })
})

it('charges audio output at least at the price of text, if it has no price', () => {
  expect(pricesOf({ a: sold('A', tokens(0.6, 12)) }).find('m')).toMatchObject({
    price: { audioRatio: 1, audioCompletionRatio: 20 },
  })
})

it('prices no model that the data does not cover, and reports why', () => {
  expect(pricesOf({ a: sold('A', tokens(0, 0), { uncovered: 'free' }) }).find('m')).toEqual({ uncovered: 'free' })
  const both = { a: sold('A', tokens(9, 9), { uncovered: 'unit' }), b: sold('B', tokens(2, 9)) }
  expect(pricesOf(both).find('m')).toMatchObject({ price: { modelRatio: 1 } })
})

it('looks each name up once', () => {
  const { find, asked } = pricesOf({ a: sold('A', tokens(2, 9)) })
  expect([find('m'), find('none')].map((found) => found === undefined)).toEqual([false, true])
  expect(find('m')).toBe(find('m'))
  find('none')
  expect(asked()).toBe(2)
})
