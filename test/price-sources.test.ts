import { expect, it } from 'vitest'
import { modelOf } from '../scripts/lib/litellm-prices.mjs'

const chat = { litellm_provider: 'gemini', input_cost_per_token: 1.5e-6, output_cost_per_token: 7.5e-6 }
const pricesOf = (more: object, key = 'gemini/m') => modelOf(key, { ...chat, ...more })?.model.prices

it('a model of the second price source gets the vendor of the first, and prices for a million tokens', () => {
  expect(modelOf('gemini/gemini-4-hydrogen', { ...chat, cache_read_input_token_cost: 7.5e-8, max_tokens: 5 })).toEqual({
    vendor: { id: 'google', name: 'Google' },
    model: {
      ...{ id: 'gemini-4-hydrogen', match: { equals: 'gemini-4-hydrogen' }, origin: 'litellm' },
      prices: { input_mtok: 1.5, output_mtok: 7.5, cache_read_mtok: 0.075 },
    },
  })
})

it.each([
  [
    'named by their threshold',
    { input_cost_per_token_above_200k_tokens: 3e-6, output_cost_per_token_above_200k_tokens: 15e-6 },
    {
      input_mtok: { base: 1.5, tiers: [{ start: 200_000, price: 3 }] },
      output_mtok: { base: 7.5, tiers: [{ start: 200_000, price: 15 }] },
    },
  ],
  [
    'given as ranges',
    {
      ...{ input_cost_per_token: undefined, output_cost_per_token: undefined },
      tiered_pricing: [
        { range: [0, 32_000], input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
        { range: [32_000, 128_000], input_cost_per_token: 2e-6, output_cost_per_token: 4e-6 },
      ],
    },
    {
      input_mtok: { base: 1, tiers: [{ start: 32_000, price: 2 }] },
      output_mtok: { base: 2, tiers: [{ start: 32_000, price: 4 }] },
    },
  ],
])('steps by the length of the prompt are kept: %s', (_how, given, expected) => {
  expect(pricesOf(given)).toEqual(expected)
})

it('prices of tiers, batches and searches are left to the options', () => {
  const more = { input_cost_per_token_batches: 1, output_cost_per_token_flex: 1, search_context_cost_per_query: { low: 1 } }
  expect(pricesOf(more)).toEqual({ input_mtok: 1.5, output_mtok: 7.5 })
})

it.each([
  ['is sold by a unit that is not counted', { output_cost_per_second: 0.1 }, 'gemini/m'],
  [
    'is free in the map, which means that its price is not known',
    { input_cost_per_token: 0, output_cost_per_token: 0 },
    'gemini/m',
  ],
  ['has no price by the token', { input_cost_per_token: undefined }, 'gemini/m'],
  ['belongs to a region or a size, not to a name', {}, 'gemini/us/m'],
  ['is sold by a vendor without channels here', { litellm_provider: 'kyma' }, 'kyma/m'],
])('a model is left out if it %s', (_why, more, key) => {
  expect(pricesOf(more, key)).toBeUndefined()
})
