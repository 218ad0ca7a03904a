import { expect, it } from 'vitest'
import { comparePrices, type VendorModel } from './price-changes.ts'
import { readPrices } from './price-data.ts'
import type { PriceEntry } from './vendor-prices.ts'

const nowMs = Date.parse('2026-11-23T12:00:00Z')

const entry = (id: string, prices: PriceEntry['prices'], match: PriceEntry['match'] = { equals: id }): PriceEntry => ({
  id,
  match,
  prices,
})
const sold = (models: PriceEntry[]) => {
  const vendors = [{ id: 'openai', name: 'OpenAI', models }]
  return { vendors, data: readPrices(vendors) }
}
const cost = (input_mtok: number, output_mtok: number) => ({ input_mtok, output_mtok })

function compare(before: PriceEntry[], after: PriceEntry[], served: string[] = []) {
  const names: VendorModel[] = served.map((model) => ({ vendor: 'openai', model }))
  return comparePrices({ before: sold(before), after: sold(after) }, { served: names, nowMs })
}

it('lists added, removed and changed prices, and no unchanged ones', async () => {
  const changes = await compare(
    [entry('stays', cost(1, 2)), entry('goes', cost(1, 2)), entry('rises', cost(1, 2))],
    [entry('stays', cost(1, 2)), entry('rises', cost(1.5, 2)), entry('comes', cost(3, 4))],
  )
  expect(changes).toMatchObject([
    { model: 'comes', vendor: 'OpenAI', before: null, after: { prices: { input: 3, output: 4 } }, warning: null, from: '' },
    { model: 'goes', before: { prices: { input: 1 } }, after: null, warning: null },
    { model: 'rises', before: { prices: { input: 1 } }, after: { prices: { input: 1.5 } }, warning: null },
  ])
})

it('lists possible errors first: a price of zero, ten times the price, one that is too high, a served model without any', async () => {
  const before = [
    entry('free', cost(1, 2)),
    entry('leaps', cost(1, 2)),
    entry('falls', cost(1, 2)),
    entry('used', cost(1, 2)),
    entry('a', cost(1, 2)),
  ]
  const after = [
    entry('free', cost(1, 0)),
    entry('leaps', cost(1000, 2)),
    entry('falls', cost(1, 0.2)),
    entry('high', cost(1001, 1)),
    entry('a', cost(2, 2)),
  ]
  expect((await compare(before, after, ['used'])).map(({ model, warning }) => [model, warning])).toEqual([
    ['falls', 'tenfold'],
    ['free', 'zero'],
    ['high', 'high'],
    ['leaps', 'tenfold'],
    ['used', 'lost'],
    ['a', null],
  ])
})

it('warns of ten times the price of long prompts', async () => {
  const stepped = (price: number) => ({ input_mtok: { base: 1, tiers: [{ start: 1000, price }] }, output_mtok: 2 })
  expect(await compare([entry('m', stepped(2))], [entry('m', stepped(20))])).toMatchObject([{ model: 'm', warning: 'tenfold' }])
})

it('lists a price that begins later with its day', async () => {
  const later = [
    { prices: cost(1, 2) },
    { constraint: { type: 'start_date' as const, start_date: '2027-01-01' }, prices: cost(0, 0) },
  ]
  expect(await compare([entry('m', cost(1, 2))], [entry('m', later)])).toMatchObject([
    { model: 'm', from: '2027-01-01', before: { prices: { input: 1 } }, after: { prices: { input: 0 } }, warning: 'zero' },
  ])
})

it('looks served names up as calls do: a pattern may lead them to another entry', async () => {
  const changes = await compare(
    [entry('m', cost(10, 20), { starts_with: 'm' })],
    [entry('cheap', cost(0, 0), { contains: '-2026' }), entry('m', cost(10, 20), { starts_with: 'm' })],
    ['m-2026-01-01'],
  )
  expect(changes).toMatchObject([{ model: 'm-2026-01-01', served: true, warning: 'zero', before: { prices: { input: 10 } } }])
})

it('warns if a served model is newly sold by another unit too, although its token prices are unchanged', async () => {
  const byCall = { ...cost(1, 2), requests_kcount: 1 }
  expect(await compare([entry('m', cost(1, 2))], [entry('m', byCall)], ['m'])).toMatchObject([
    { model: 'm', warning: 'lost', before: { uncovered: null }, after: { uncovered: 'unit' } },
  ])
})

it('lists a change of a vendor that sells the models of another vendor, when only the other has changed', async () => {
  const soldTwice = (models: PriceEntry[]) => {
    const vendors = [
      { id: 'openai', name: 'OpenAI', models },
      { id: 'azure', name: 'Azure', models: [], fallback_model_providers: ['openai'] },
      { id: 'other', name: 'Other', models: [entry('own', cost(1, 1))] },
    ]
    return { vendors, data: readPrices(vendors) }
  }
  const pair = { before: soldTwice([entry('rises', cost(1, 2))]), after: soldTwice([entry('rises', cost(1.5, 2))]) }
  const served = ['azure', 'other'].map((vendor) => ({ vendor, model: 'rises' }))
  const changes = await comparePrices(pair, { served, nowMs })
  expect(changes.map(({ vendor_id, model }) => [vendor_id, model])).toEqual([
    ['azure', 'rises'],
    ['openai', 'rises'],
  ])
})
