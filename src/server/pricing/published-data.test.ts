import { expect, it } from 'vitest'
import { loadPricePackage } from './price-data.ts'
import { readPublished } from './published-data.ts'

const pkg = await loadPricePackage()
const bundled = JSON.stringify(pkg.vendors)
const day = Date.parse('2026-11-23T12:00:00Z')
const against = { prices: pkg, inUse: pkg.vendors }

/** The data of the package with another price of one model, or another model. */
function edited(model: object): string {
  const vendors = JSON.parse(bundled)
  const openai = vendors.find(({ id }: { id: string }) => id === 'openai')
  openai.models = [
    { id: 'edited-1', match: { equals: 'edited-1' }, prices: { input_mtok: 1, output_mtok: 2 }, ...model },
    ...openai.models,
  ]
  return JSON.stringify(vendors)
}

it('is accepted in the form of the package, with the same prices', () => {
  const read = readPublished(bundled, against)
  if ('reason' in read) throw new Error(read.reason.en)
  expect(read.leftOut).toBe(0)
  const [one, other] = [pkg.read(pkg.vendors), pkg.read(read.vendors)]
  expect(other.date).toBe(one.date)
  for (const { id, models } of pkg.vendors)
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
  ['a vendor twice', JSON.stringify([...pkg.vendors, ...pkg.vendors])],
  ['half of the models', JSON.stringify(pkg.vendors.map((vendor) => ({ ...vendor, models: vendor.models.slice(0, 2) })))],
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

it('leaves out models that this version cannot price, and counts them', () => {
  for (const prices of [{ input_mtok: 1, output_moonbeams: 3 }, { cache_write_1h_mtok: 4 }]) {
    const read = readPublished(edited({ prices }), against)
    if ('reason' in read) throw new Error(read.reason.en)
    expect(read.leftOut).toBe(1)
    expect(pkg.read(read.vendors).of('openai', 'edited-1', day)).toBeUndefined()
  }
})

it('orders the steps of a price, whatever their order was', () => {
  const tiers = [
    { start: 200, price: 3 },
    { start: 100, price: 2 },
  ]
  const read = readPublished(edited({ prices: { input_mtok: { base: 1, tiers }, output_mtok: 4 } }), against)
  if ('reason' in read) throw new Error(read.reason.en)
  const found = pkg.read(read.vendors).of('openai', 'edited-1', day)
  expect(found?.steps.map(({ above, prices }) => [above, prices.input])).toEqual([
    [100, 2],
    [200, 3],
  ])
})

it('is refused if it has too few models compared with the data in use', () => {
  const half = pkg.vendors.map((vendor) => ({ ...vendor, models: vendor.models.slice(0, Math.ceil(vendor.models.length / 2)) }))
  const third = pkg.vendors.map((vendor) => ({ ...vendor, models: vendor.models.slice(0, Math.floor(vendor.models.length / 3)) }))
  expect(readPublished(JSON.stringify(third), against)).toHaveProperty('reason')
  expect(readPublished(JSON.stringify(third), { prices: pkg, inUse: half })).toHaveProperty('vendors')
})
