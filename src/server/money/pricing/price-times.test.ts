import { expect, it } from 'vitest'
import { changesAfter, inForce } from './price-times.ts'
import type { ConditionalPrice, PriceEntry } from './vendor-prices.ts'

const entry = (prices: readonly ConditionalPrice[]): PriceEntry => ({ id: 'm', match: { equals: 'm' }, prices })
const cost = (input_mtok: number) => ({ input_mtok })
const between = (start_time: string, end_time: string) => ({ start_time, end_time })
const at = (time: string) => Date.parse(time)
const changes = (of: PriceEntry, time: string) => changesAfter(of, at(time)).map((ms) => new Date(ms).toISOString().slice(0, 16))

it('a price for the hours over midnight, in another time zone, applies in those hours of UTC', () => {
  // 16:30 to 00:30 in UTC.
  const night = entry([{ prices: cost(2) }, { constraint: between('00:30:00+08:00', '08:30:00+08:00'), prices: cost(1) }])
  const found = (time: string) => inForce(night, at(`2026-12-31T${time}Z`))
  expect(found('16:29:59')).toEqual({ prices: cost(2), from: '', hours: '00:30–16:30' })
  for (const time of ['16:30:00', '23:59:59', '00:00:00', '00:29:59'])
    expect(found(time)).toEqual({ prices: cost(1), from: '', hours: '16:30–00:30' })
  expect(changes(night, '2026-12-31T16:29:59Z')).toEqual([
    ...['2026-12-31T16:30', '2027-01-01T00:30', '2027-01-01T16:30', '2027-01-02T00:30'],
  ])
})

it('hours that touch are one stretch, and hours at the price of the day are none', () => {
  const touching = entry([
    { prices: cost(1) },
    { constraint: between('01:00:00Z', '02:00:00Z'), prices: cost(2) },
    { constraint: between('02:00:00Z', '03:00:00Z'), prices: cost(2) },
  ])
  expect(inForce(touching, at('2026-12-01T01:30:00Z')).hours).toBe('01:00–03:00')
  expect(changes(touching, '2026-12-01T01:30:00Z')[0]).toBe('2026-12-01T03:00')
  const same = entry([{ prices: cost(1) }, { constraint: between('01:00:00Z', '02:00:00Z'), prices: cost(1) }])
  expect(inForce(same, at('2026-12-01T01:30:00Z')).hours).toBe('')
  expect(changes(same, '2026-12-01T00:00:00Z')).toEqual([])
})

it('the last price that has begun applies, in whatever order the days are, and later ones are known', () => {
  const dated = entry([
    { prices: cost(1) },
    { constraint: { start_date: '2026-12-01' }, prices: cost(2) },
    { constraint: { start_date: '2027-01-01' }, prices: cost(3) },
  ])
  const found = (time: string) => inForce(dated, at(time))
  expect(found('2026-11-30T23:59:59.999Z')).toEqual({ prices: cost(1), from: '', hours: '' })
  expect(found('2026-12-01T00:00:00Z')).toEqual({ prices: cost(2), from: '2026-12-01', hours: '' })
  expect(found('2028-06-01T00:00:00Z')).toEqual({ prices: cost(3), from: '2027-01-01', hours: '' })
  expect(changes(dated, '2026-11-30T00:00:00Z')).toEqual(['2026-12-01T00:00', '2027-01-01T00:00'])
})

it('a price that begins on a day and applies in certain hours has both', () => {
  const both = entry([
    { prices: cost(1) },
    { constraint: { start_date: '2026-12-01' }, prices: cost(2) },
    { constraint: between('06:00:00Z', '10:00:00Z'), prices: cost(4) },
  ])
  expect(inForce(both, at('2026-12-02T07:00:00Z'))).toEqual({ prices: cost(4), from: '2026-12-01', hours: '06:00–10:00' })
  expect(inForce(both, at('2026-12-02T11:00:00Z'))).toEqual({ prices: cost(2), from: '2026-12-01', hours: '10:00–06:00' })
})
