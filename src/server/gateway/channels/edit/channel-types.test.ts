import { expect, it } from 'vitest'
import { defaults } from '../../../../contract/options/defaults.ts'
import { loadShippedPrices, readPrices } from '../../../money/pricing/price-data.ts'
import { providers } from '../../providers/index.ts'
import { listChannelTypes } from './channel-types.ts'

const { vendors } = await loadShippedPrices()
const data = readPrices(vendors)
const day = Date.parse('2026-11-23')

it('every newest model of a provider has a price', () => {
  for (const { key, priceVendor = '', newest = [] } of providers)
    for (const model of newest) {
      const found = data.of(priceVendor, model, day)
      const isPriced = Object.hasOwn(defaults.ModelRatio, model) || (found && !found.uncovered)
      expect([key, model, Boolean(isPriced)]).toEqual([key, model, true])
    }
  expect(providers.filter(({ newest }) => newest).length).toBeGreaterThan(5)
})

it('a type without newest models offers all of its models', () => {
  for (const { models, newest } of listChannelTypes()) expect(newest.length).toBeLessThanOrEqual(Math.max(models.length, 20))
  const jina = listChannelTypes().find(({ key }) => key === 'jina')
  expect(jina?.newest).toEqual(jina?.models)
})
