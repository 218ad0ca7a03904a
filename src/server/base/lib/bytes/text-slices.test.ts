import { describe, expect, it } from 'vitest'
import { characterStart, jsonSlices, sliceLength, slicesOf } from './text-slices.ts'

describe('texts in slices', () => {
  it.each([0, 1, sliceLength - 1, sliceLength, sliceLength + 1, 3 * sliceLength + 5])(
    'add up to the text, at most 64 KiB each, with whole characters (%i bytes before a long run)',
    (length) => {
      for (const run of ['x', 'ü', '你', '😀']) {
        const text = 'a'.repeat(length) + run.repeat(sliceLength)
        const slices = [...slicesOf(Buffer.from(text), 'utf8')]
        expect(slices.join('') === text).toBe(true)
        for (const slice of slices) expect(Buffer.byteLength(slice)).toBeLessThanOrEqual(sliceLength)
      }
    },
  )

  it('of bytes that are not text have every byte', () => {
    const bytes = Buffer.from(Array.from({ length: 2 * sliceLength + 3 }, (_, index) => index % 256))
    const slices = [...slicesOf(bytes, 'latin1')]
    expect(slices.map(({ length }) => length)).toEqual([sliceLength, sliceLength, 3])
    expect(Buffer.from(slices.join(''), 'latin1').equals(bytes)).toBe(true)
  })

  it('begin a character of two units at its first', () => {
    expect([0, 1, 2, 3].map((index) => characterStart('a😀b', index))).toEqual([0, 1, 1, 3])
    expect(characterStart('a', -5)).toBe(-5)
  })

  it('are the JSON of a value, and no slice holds much more than 64 KiB of a long text', () => {
    const values = [
      null,
      true,
      -1.5,
      '',
      [],
      {},
      [[], [1, 'two', [null]]],
      { 'a"b': 'c\\\n\u0001', nothing: undefined, inner: { list: [{ x: 1 }, {}] }, __proto__: null },
      { text: `${'x'.repeat(sliceLength - 1)}😀${'"\n'.repeat(sliceLength)}`, after: [1, 2] },
      Array.from({ length: 20_000 }, (_, index) => [`name-${index}`, 'value']),
    ]
    for (const value of values) expect([...jsonSlices(value)].join('') === JSON.stringify(value)).toBe(true)
    const plain = { one: 'x'.repeat(1_000_000), many: Array.from({ length: 100_000 }, () => 'y') }
    for (const slice of jsonSlices(plain)) expect(slice.length).toBeLessThan(2 * sliceLength + 8)
  })
})
