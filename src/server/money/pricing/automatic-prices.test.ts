import { expect, it } from 'vitest'
import type { PriceChange, TokenPrices } from '../../../contract/routes/pricing.ts'
import { automaticModels } from './automatic-prices.ts'

const tokens = (input: number, output: number, more: Partial<TokenPrices> = {}): TokenPrices => ({
  ...{ input, output, cache_read: null, cache_write: null, audio_input: null, audio_output: null },
  ...{ image_input: null, image_output: null, cache_audio_read: null, cache_image_read: null, video_output: null },
  ...more,
})
type Published = NonNullable<PriceChange['before']>
const price = (prices: TokenPrices, more: Partial<Published> = {}): Published => ({ prices, steps: [], uncovered: null, ...more })

const change = (before: Published | null, after: Published | null, more: Partial<PriceChange> = {}): PriceChange => ({
  ...{ vendor_id: 'v', vendor: 'V', model: 'm', from: '', served: true, by_pattern: false, warning: null },
  ...{ before, after, ...more },
})
const was = price(tokens(2, 8, { cache_read: 0.5 }))

it.each<[what: string, change: PriceChange, cheaper: boolean, all: boolean]>([
  ['a new model', change(null, was), true, true],
  ['a lower price', change(was, price(tokens(1.5, 8, { cache_read: 0.5 }))), true, true],
  ['half of the price', change(was, price(tokens(1, 4, { cache_read: 0.25 }))), true, true],
  [
    'a first price of cached tokens, below that of text',
    change(price(tokens(2, 8)), price(tokens(2, 8, { cache_read: 1 }))),
    true,
    true,
  ],
  ['a higher price', change(was, price(tokens(2.5, 8, { cache_read: 0.5 }))), false, true],
  ['a lower and a higher price', change(was, price(tokens(1.5, 9, { cache_read: 0.5 }))), false, true],
  [
    'a step that costs more',
    change(was, price(was.prices, { steps: [{ above: 1000, prices: tokens(4, 16, { cache_read: 1 }) }] })),
    false,
    true,
  ],
  ['a fall of more than half', change(was, price(tokens(0.9, 8, { cache_read: 0.5 }))), false, false],
  ['a kind of tokens that becomes free', change(was, price(tokens(2, 8, { cache_read: 0 }))), false, false],
  ['another unit', change(was, price(tokens(2, 8, { cache_read: 0.5 }), { uncovered: 'unit' })), false, false],
  ['tokens instead of another unit', change(price(tokens(2, 8), { uncovered: 'unit' }), was), false, false],
  ['a new free model', change(null, price(tokens(0, 0), { uncovered: 'free' })), false, false],
  ['a model without a price', change(was, null), false, false],
  ['a likeness of names', change(null, was, { by_pattern: true }), false, false],
  ['a possible error', change(null, was, { warning: 'high' }), false, false],
])('%s', (_what, one, cheaper, all) => {
  expect(automaticModels([one], 'none')).toEqual([])
  expect(automaticModels([one], 'cheaper')).toHaveLength(cheaper ? 1 : 0)
  expect(automaticModels([one], 'all')).toHaveLength(all ? 1 : 0)
})

it('one change that is asked about holds back the other changes of its model, and of no other', () => {
  const lower = change(was, price(tokens(1.5, 8, { cache_read: 0.5 })))
  const later = change(was, price(tokens(3, 8, { cache_read: 0.5 })), { from: '2027-01-01' })
  expect(automaticModels([lower, later, { ...lower, model: 'n' }, { ...lower, vendor_id: 'w' }], 'cheaper')).toEqual([
    { vendor: 'v', model: 'n' },
    { vendor: 'w', model: 'm' },
  ])
})
