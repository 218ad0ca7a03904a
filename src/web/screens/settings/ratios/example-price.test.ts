import { expect, it } from 'vitest'
import { figuresOf } from '../../../../contract/model-price.ts'
import { pricesOf } from '../../../lib/prices.ts'
import { builtInFigures, examplePrice, priceOptions } from './example-price.ts'
import { noPrices } from './table.ts'

const options = priceOptions({
  ModelRatio: '{"gpt-4o":1.25,"claude-3-opus":7.5}',
  CompletionRatio: '{"claude-3-opus":4}',
  WebSearchPrice: '0.01',
})
const perUsd = 500_000
const usd = (...[model, prices]: [string, Partial<Parameters<typeof examplePrice>[1]>]) => {
  const price = examplePrice(model, { ...noPrices, ...prices }, options)
  return price && pricesOf(figuresOf(price), 1, perUsd)
}

it("is the price of the editor's figures, with the defaults of the family and other options", () => {
  expect(usd('gpt-4o', { ratio: '1.25', cacheRead: '0.5' })).toMatchObject({
    ...{ input: 2.5, output: 10, cacheRead: 1.25, imageInput: undefined },
  })
  expect(usd('gpt-4o', { ratio: '2.5', completion: '2' })).toMatchObject({ input: 5, output: 10, cacheRead: undefined })
  // A ratio that was removed is that of the family again.
  expect(usd('claude-3-opus', { ratio: '7.5' })).toMatchObject({ input: 15, output: 75 })
  expect(usd('gpt-4o', { ratio: '1.25', price: '0.04' })).toMatchObject({ isPerCall: true, call: 0.04, cacheRead: undefined })
})

it('contains the prices of tools and the factors of tiers, if any are saved', () => {
  const saved = priceOptions({ ToolPrice: '{"file_search":0.0025}', TierFactor: '{"priority":2}' })
  const prices = { ...noPrices, ratio: '1' }
  expect(examplePrice('gpt-4o', prices, saved)).toMatchObject({ toolUsd: { file_search: 0.0025 }, tierFactors: { priority: 2 } })
  expect(examplePrice('gpt-4o', prices, priceOptions({}))).toMatchObject({ toolUsd: {}, tierFactors: {} })
})

it('is empty for incomplete figures', () => {
  expect([usd('gpt-4o', { ratio: '1.2x' }), usd('gpt-4o', {}), usd('new', { completion: '2' })]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

it('has the built-in multiples of a model with an input price, regardless of changed values', () => {
  expect(builtInFigures('gpt-4o', { ...noPrices, ratio: '1.25', completion: '9' }, options)).toEqual({
    ...noPrices,
    completion: '4',
    cacheRead: '1',
    cacheWrite: '1.25',
  })
  expect(builtInFigures('gpt-4o', noPrices, options)).toBeUndefined()
})
