import { expect, it } from 'vitest'
import { faultyModels, figuresOfPrices, noPrices, ratioOf, readTable, usdOf, withDrafts, writeTable } from './table.ts'

const saved = {
  ModelPrice: '{"dall-e-3": 0.04, "gizmo-*": 0.1}',
  ModelRatio: '{"gpt-4o": 1.25, "dall-e-3": 2}',
  CompletionRatio: '{"gpt-4o": 4}',
  CacheRatio: '{"gpt-4o": 0.5, "other": 0.1}',
}

it('reads one row for each model, from any source of its price', () => {
  expect(readTable(saved)).toEqual({
    'dall-e-3': { ...noPrices, price: '0.04', ratio: '2' },
    'gizmo-*': { ...noPrices, price: '0.1' },
    'gpt-4o': { ...noPrices, ratio: '1.25', completion: '4', cacheRead: '0.5' },
  })
  expect(readTable({ ModelRatio: 'broken' })).toEqual({})
})

it('shows only the own price of a model whose name every object inherits', () => {
  expect(readTable({ ModelRatio: '{"toString": 2}' })).toEqual({ toString: { ...noPrices, ratio: '2' } })
  expect(Object.keys(withDrafts(readTable({ ModelRatio: '{"toString": 2}' }), {}))).toEqual(['toString'])
})

it('writes only the options that change, and keeps the ratios of a model with a price', () => {
  expect(writeTable(saved, { 'gpt-4o': { ...noPrices, ratio: '1.25', completion: '5', cacheRead: '0.5' } })).toEqual({
    CompletionRatio: JSON.stringify({ 'gpt-4o': 5 }, null, 2),
  })
  expect(writeTable(saved, { 'dall-e-3': { ...noPrices, price: '0.05', ratio: '2' } })).toEqual({
    ModelPrice: JSON.stringify({ 'dall-e-3': 0.05, 'gizmo-*': 0.1 }, null, 2),
  })
  expect(Object.keys(writeTable(saved, { 'gpt-4o': null }))).toEqual(['ModelRatio', 'CompletionRatio', 'CacheRatio'])
  expect(writeTable(saved, {})).toEqual({})
})

it('shows drafts on top, without removed rows', () => {
  const table = withDrafts(readTable(saved), { 'dall-e-3': null, 'a-new': { ...noPrices, ratio: '3' } })
  expect(Object.keys(table)).toEqual(['a-new', 'gizmo-*', 'gpt-4o'])
})

it('finds invalid numbers', () => {
  const prices = { ...noPrices, ratio: '1' }
  expect(faultyModels({ a: prices, b: { ...prices, price: 'x' }, c: { ...prices, completion: '-1' }, d: null })).toEqual([
    'b',
    'c',
  ])
})

it('reads public prices as the figures that would be typed', () => {
  const none = {
    ...{ audio_input: null, audio_output: null, image_input: null, image_output: null, video_output: null },
    ...{ cache_audio_read: null, cache_image_read: null },
  }
  const prices = { ...none, input: 2.5, output: 15, cache_read: 0.25, cache_write: null }
  expect(figuresOfPrices(prices, 500_000)).toEqual({ ...noPrices, ratio: '1.25', completion: '6', cacheRead: '0.1' })
  expect(figuresOfPrices(prices, 1_000_000).ratio).toBe('2.5')
})

it('converts ratios to dollars per million tokens and back without rounding errors', () => {
  expect([usdOf('1.25', 500_000), usdOf('0.075', 500_000), usdOf('x', 500_000)]).toEqual(['2.5', '0.15', ''])
  expect([ratioOf('2.5', 500_000), ratioOf('0.15', 500_000), ratioOf('x', 500_000)]).toEqual(['1.25', '0.075', 'x'])
})
