import { expect, it } from 'vitest'
import { dollarsOf, filledIn } from './batch.ts'
import { examplePrice, priceOptions } from './example-price.ts'
import { type ModelPrices, noPrices } from './table.ts'

const perUsd = 500_000
const model: ModelPrices = { ...noPrices, ratio: '1', completion: '4', cacheRead: '0.5' }
const fill = (given: Partial<ModelPrices>, prices = model) => filledIn('usd', { ...noPrices, ...given }, prices, perUsd)

it('converts dollars to the ratios of each model', () => {
  expect(fill({ ratio: '2.5', completion: '10', cacheRead: '0.25' })).toEqual({
    ...noPrices,
    ...{ ratio: '1.25', completion: '4', cacheRead: '0.1' },
  })
  // Absent members keep their ratio.
  expect(fill({ ratio: '4' })).toEqual({ ...model, ratio: '2' })
  expect(fill({ completion: '6', cacheWrite: '2.5' })).toEqual({ ...model, completion: '3', cacheWrite: '1.25' })
  expect(fill({ ratio: '3' }, { ...noPrices, price: '0.04' })).toEqual({ ...noPrices, ratio: '1.5' })
})

it('refuses dollars of output or of a cache for a model without an input price', () => {
  expect([fill({ completion: '6' }, noPrices), fill({ cacheRead: '1', ratio: '0' })]).toEqual([undefined, undefined])
})

it('applies ratios unchanged, and replaces them by a fixed price', () => {
  const given = { ...noPrices, price: '0.1', ratio: '2', completion: '3', cacheRead: '0.2' }
  expect(filledIn('both', given, { ...model, price: '1' }, perUsd)).toEqual({ ...model, ratio: '2', completion: '3' })
  expect(filledIn('cache', given, model, perUsd)).toEqual({ ...model, cacheRead: '0.2' })
  expect(filledIn('price', given, model, perUsd)).toEqual({ ...noPrices, price: '0.1', cacheRead: '0.5' })
})

it('shows the charged dollars, with built-in defaults', () => {
  const options = priceOptions({})
  const dollars = (prices: ModelPrices) => dollarsOf(examplePrice('gpt-4o', prices, options), perUsd)
  expect(dollars({ ...model, completion: '' })).toEqual({ price: null, ratio: 2, completion: 8, cacheRead: 1, cacheWrite: 2.5 })
  expect(dollars({ ...model, price: '0.04' })).toMatchObject({ price: 0.04, ratio: null, completion: null })
  expect(dollars(noPrices)).toMatchObject({ price: null, ratio: null })
})
