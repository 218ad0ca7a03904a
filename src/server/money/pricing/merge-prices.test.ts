import { expect, it } from 'vitest'
import { mergePrices } from './merge-prices.ts'
import { comparePrices, type VendorModel } from './price-changes.ts'
import { loadShippedPrices, readPrices } from './price-data.ts'
import { keepReadable } from './published-data.ts'
import type { PriceEntry, PriceVendor } from './vendor-prices.ts'

const { vendors: shipped } = await loadShippedPrices()
const nowMs = Date.parse('2026-11-23T12:00:00Z')

const entry = (id: string, input_mtok: number, match: PriceEntry['match'] = { equals: id }): PriceEntry => ({
  id,
  match,
  prices: { input_mtok, output_mtok: 2 },
})
const vendor = (id: string, models: PriceEntry[], fallbacks: string[] = []): PriceVendor => ({
  ...{ id, name: id.toUpperCase(), models, fallback_model_providers: fallbacks },
})
const read = (vendors: readonly PriceVendor[]) => ({ vendors, data: readPrices(vendors) })

/** The merged data as stored in the database. */
async function merged(before: readonly PriceVendor[], after: readonly PriceVendor[], models: VendorModel[]) {
  const vendors = await mergePrices({ before: read(before), after: read(after) }, models)
  return read(keepReadable(JSON.parse(JSON.stringify(vendors)), shipped))
}
const costs = ({ data }: Awaited<ReturnType<typeof merged>>, of: string, model: string) => data.of(of, model, nowMs)?.prices.input

it('changes the prices of the chosen models, as the newer data has them, and of no other', async () => {
  const before = [vendor('one', [entry('a', 1), entry('b', 1), entry('gone', 1)]), vendor('two', [entry('a', 1)])]
  const after = [vendor('one', [entry('a', 2), entry('b', 2), entry('new', 2)]), vendor('two', [entry('a', 2)])]
  const found = await merged(before, after, [
    { vendor: 'one', model: 'a' },
    { vendor: 'one', model: 'new' },
    { vendor: 'one', model: 'gone' },
  ])
  expect(['a', 'b', 'new', 'gone'].map((model) => costs(found, 'one', model))).toEqual([2, 1, 2, undefined])
  expect(costs(found, 'two', 'a')).toBe(1)
  const left = await comparePrices({ before: found, after: read(after) }, { served: [], nowMs })
  expect(left.map(({ vendor_id, model }) => `${vendor_id} ${model}`)).toEqual(['two a', 'one b'])
})

it('changes one name if a pattern matches many, and keeps earlier choices when more is chosen later', async () => {
  const before = [vendor('one', [entry('m', 1, { starts_with: 'm' })])]
  const after = [vendor('one', [entry('m', 2, { starts_with: 'm' })])]
  const first = await merged(before, after, [{ vendor: 'one', model: 'm-1' }])
  expect(['m', 'M-1', 'm-2'].map((model) => costs(first, 'one', model))).toEqual([1, 2, 1])
  const second = await merged(
    first.vendors,
    [vendor('one', [entry('m', 3, { starts_with: 'm' })])],
    [{ vendor: 'one', model: 'm-2' }],
  )
  expect(['m', 'm-1', 'm-2'].map((model) => costs(second, 'one', model))).toEqual([1, 2, 3])
  const again = await merged(second.vendors, after, [{ vendor: 'one', model: 'm-2' }])
  expect(costs(again, 'one', 'm-2')).toBe(2)
  expect(again.vendors[0]?.models).toHaveLength(3)
})

it('removes a model that a pattern would still fit', async () => {
  const found = await merged(
    [vendor('one', [entry('m', 1, { starts_with: 'm' })])],
    [vendor('one', [])],
    [{ vendor: 'one', model: 'm-1' }],
  )
  expect(['m-1', 'm-2'].map((model) => costs(found, 'one', model))).toEqual([undefined, 1])
})

it('adds a vendor with only the chosen model', async () => {
  const after = [vendor('one', [entry('a', 1)]), vendor('two', [entry('a', 2), entry('b', 2)], ['one'])]
  const found = await merged([vendor('one', [entry('a', 1), entry('c', 1)])], after, [{ vendor: 'two', model: 'a' }])
  expect(['a', 'b', 'c'].map((model) => costs(found, 'two', model))).toEqual([2, undefined, undefined])
})

it('keeps the prices of vendors that fall back to the list of another, unless they are chosen too', async () => {
  const before = [vendor('one', [entry('a', 1)]), vendor('host', [], ['one'])]
  const after = [vendor('one', [entry('a', 2), entry('new', 2)]), vendor('host', [], ['one'])]
  const one = [
    { vendor: 'one', model: 'a' },
    { vendor: 'one', model: 'new' },
  ]
  const found = await merged(before, after, one)
  expect(['a', 'new'].map((model) => costs(found, 'host', model))).toEqual([1, undefined])
  const both = await merged(before, after, [...one, { vendor: 'host', model: 'a' }])
  expect(costs(both, 'host', 'a')).toBe(2)
})
