import { expect, it } from 'vitest'
import { loadShippedPrices, readPrices } from './price-data.ts'
import { readPublished } from './published-data.ts'

const shipped = await loadShippedPrices()
const bundled = JSON.stringify(shipped.vendors)
const day = Date.parse('2026-11-23T12:00:00Z')
const against = { shipped: shipped.vendors, inUse: shipped.vendors }

/** The data of this version with another price of one model, or another model. */
function edited(model: object): string {
  const vendors = JSON.parse(bundled)
  const openai = vendors.find(({ id }: { id: string }) => id === 'openai')
  openai.models = [
    { id: 'edited-1', match: { equals: 'edited-1' }, prices: { input_mtok: 1, output_mtok: 2 }, ...model },
    ...openai.models,
  ]
  return JSON.stringify(vendors)
}

it('is accepted in the form of the data of this version, with the same prices', () => {
  const read = readPublished(bundled, against)
  if ('reason' in read) throw new Error(read.reason.en)
  expect(read.leftOut).toBe(0)
  const [one, other] = [readPrices(shipped.vendors), readPrices(read.vendors)]
  expect(other.date).toBe(one.date)
  for (const { id, models } of shipped.vendors)
    for (const model of models) expect(other.of(id, model.id, day), model.id).toEqual(one.of(id, model.id, day))
})

it('keeps only members that prices are read from', () => {
  const read = readPublished(edited({ description: 'x'.repeat(1000), anything: { else: true } }), against)
  if ('reason' in read) throw new Error(read.reason.en)
  expect(JSON.stringify(read.vendors)).not.toContain('xxx')
  expect(JSON.stringify(read.vendors)).not.toContain('extractors')
})

it.each([
  ['no JSON', '<html>not found</html>'],
  ['JSON of another form', '{"models":[]}'],
  ['an empty list', '[]'],
  ['nested without end', '['.repeat(100_000)],
  ['a vendor twice', JSON.stringify([...shipped.vendors, ...shipped.vendors])],
  ['half of the models', JSON.stringify(shipped.vendors.map((vendor) => ({ ...vendor, models: vendor.models.slice(0, 2) })))],
  ['a negative price', edited({ prices: { input_mtok: -1 } })],
  ['a price that is a text', edited({ prices: { input_mtok: '2.5' } })],
  ['a price of more than a dollar a token', edited({ prices: { input_mtok: 1e7 } })],
  ['a day that there is not', edited({ prices: [{ constraint: { start_date: '2026-02-31' }, prices: { input_mtok: 1 } }] })],
  [
    'a time that there is not',
    edited({ prices: [{ constraint: { start_time: '25:00:00Z', end_time: '01:00:00Z' }, prices: {} }] }),
  ],
  ['a constraint of another kind', edited({ prices: [{ constraint: { weekday: 1 }, prices: { input_mtok: 1 } }] })],
  ['a pattern that takes long', edited({ match: { regex: '^(a+)+$' } })],
  ['a pattern of many choices', edited({ match: { regex: '^a?a?a?a?a?a?aaaaaa$' } })],
  ['a pattern of many alternatives', edited({ match: { regex: `^${'(a|a)'.repeat(50)}b$` } })],
  ['a pattern with two parts of any length', edited({ match: { regex: '^a.*a{2,}b$' } })],
  ['a pattern that fits from anywhere in a name', edited({ match: { regex: 'a+b' } })],
  ['a pattern that is none', edited({ match: { regex: '^(' } })],
  ['no way to recognise a model', edited({ match: {} })],
])('is refused with a reason where it is or has %s', (_what, json) => {
  expect(readPublished(json, against)).toEqual({ reason: { zh: expect.any(String), en: expect.any(String) } })
})

it('leaves out models that are sold by an unknown unit, and counts them', () => {
  const read = readPublished(edited({ prices: { input_mtok: 1, output_moonbeams: 3 } }), against)
  if ('reason' in read) throw new Error(read.reason.en)
  expect(read.leftOut).toBe(1)
  expect(readPrices(read.vendors).of('openai', 'edited-1', day)).toBeUndefined()
})

it('keeps the models that only the second source of this version has', () => {
  const first = shipped.vendors
    .map((vendor) => ({ ...vendor, models: vendor.models.filter(({ origin }) => origin === undefined) }))
    .filter(({ models }) => models.length > 0)
  const read = readPublished(JSON.stringify(first), against)
  if ('reason' in read) throw new Error(read.reason.en)
  const data = readPrices(read.vendors)
  expect(data.of('dashscope', 'qwen3.8-max', day)?.prices.input).toBe(2)
  expect(data.of('google', 'gemini-4-hydrogen', day)?.prices.input).toBe(1.5)
})

it('orders the steps of a price, whatever their order was', () => {
  const tiers = [
    { start: 200, price: 3 },
    { start: 100, price: 2 },
  ]
  const read = readPublished(edited({ prices: { input_mtok: { base: 1, tiers }, output_mtok: 4 } }), against)
  if ('reason' in read) throw new Error(read.reason.en)
  const found = readPrices(read.vendors).of('openai', 'edited-1', day)
  expect(found?.steps.map(({ above, prices }) => [above, prices.input])).toEqual([
    [100, 2],
    [200, 3],
  ])
})

it('is refused if it has too few models compared with the data in use', () => {
  const half = shipped.vendors.map((vendor) => ({
    ...vendor,
    models: vendor.models.slice(0, Math.ceil(vendor.models.length / 2)),
  }))
  const third = shipped.vendors.map((vendor) => ({
    ...vendor,
    models: vendor.models.slice(0, Math.floor(vendor.models.length / 3)),
  }))
  expect(readPublished(JSON.stringify(third), against)).toHaveProperty('reason')
  expect(readPublished(JSON.stringify(third), { shipped: shipped.vendors, inUse: half })).toHaveProperty('vendors')
})
