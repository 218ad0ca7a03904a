import { expect, it } from 'vitest'
import type { PriceProposal, TokenPrices } from '../../../../contract/routes/pricing.ts'
import { changeOf, viewOf, wantedRows } from './price-rows.ts'

const prices = (input: number, output = 10): TokenPrices => ({
  ...{ input, output, cache_read: null, cache_write: null, cache_audio_read: null, cache_image_read: null },
  ...{ audio_input: null, audio_output: null, image_input: null, image_output: null, video_output: null },
})
const proposal = (model: string, current: number | null, proposed: number, vendor = 'OpenAI'): PriceProposal => ({
  ...{ model, vendor, current_per_call: null, steps_above: null },
  current: current === null ? null : prices(current),
  proposed: prices(proposed),
})
const all = [proposal('a', 2, 1), proposal('b', 1, 4), proposal('c', null, 3, 'Google'), proposal('d', 2, 2.2)]
const names = (rows: readonly PriceProposal[]) => rows.map(({ model }) => model).join('')

it('filters by model and vendor, and by rise, fall or a missing price', () => {
  expect(names(wantedRows(all, { search: '', view: 'all', byChange: false }))).toBe('abcd')
  expect(names(wantedRows(all, { search: 'goog', view: 'all', byChange: false }))).toBe('c')
  expect(['up', 'down', 'unpriced'].map((view) => names(all.filter((row) => viewOf(row) === view)))).toEqual(['bd', 'a', 'c'])
})

it('sorts the largest changes first, and models without a price before all', () => {
  expect(names(wantedRows(all, { search: '', view: 'all', byChange: true }))).toBe('cbad')
})

it('shows a difference relative to the present price', () => {
  expect(changeOf(2, 1)).toBe(-0.5)
  expect(changeOf(2, 2 + 1e-9)).toBe(0)
  expect([changeOf(null, 1), changeOf(0, 1), changeOf(1, null)]).toEqual([undefined, undefined, undefined])
})

it('compares the other prices if the input price is unchanged', () => {
  const output = { ...proposal('x', 1, 1), proposed: prices(1, 5) }
  expect(viewOf(output)).toBe('down')
})
