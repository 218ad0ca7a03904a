import { expect, it } from 'vitest'
import { isFirstOfModel, newVideoRow, readVideoRows, usdOfUsualClip, writeVideoRows } from './video-rows.ts'

const veo = {
  per: 'second',
  seconds: { usual: 8, longest: 8 },
  rates: [
    { resolution: '720p', sound: 'with', usd: 0.4 },
    { resolution: '4k', sound: 'any', usd: 0.6 },
  ],
}

it('reads a table into rows and writes it back unchanged', () => {
  const text = JSON.stringify({ 'veo-*': veo, clip: { ...veo, per: 'clip' } }, null, 2)
  const rows = readVideoRows(text)
  expect(rows).toHaveLength(4)
  expect(writeVideoRows(rows ?? [])).toBe(text)
  expect(rows?.map((_row, index) => isFirstOfModel(rows, index))).toEqual([true, false, true, false])
  expect(rows && [usdOfUsualClip(rows, 1), usdOfUsualClip(rows, 2)]).toEqual([
    { usd: 4.8, seconds: 8 },
    { usd: 0.4, seconds: 8 },
  ])
})

it('leaves what does not fit into rows as text, and a price that is not typed yet to the schema', () => {
  for (const text of [
    '[]',
    '{"a":1}',
    JSON.stringify({ a: { ...veo, per: 'month' } }),
    JSON.stringify({ a: { ...veo, rates: [1] } }),
  ])
    expect(readVideoRows(text), text).toBeUndefined()
  expect(readVideoRows('')).toEqual([])
  expect(JSON.parse(writeVideoRows([newVideoRow]))).toMatchObject({ '': { rates: [{ usd: null }] } })
  expect(usdOfUsualClip([newVideoRow], 0)).toBeUndefined()
})
