import { expect, it } from 'vitest'
import { barPaths, labelled, scaleOf } from './bar-scale.ts'

it('has round numbers at its lines, the largest value below the last', () => {
  expect(scaleOf(97, true)).toEqual({ top: 100, ticks: [0, 25, 50, 75, 100] })
  expect(scaleOf(0.031, false).top).toBeCloseTo(0.04)
  expect(scaleOf(3, true)).toEqual({ top: 3, ticks: [0, 1, 2, 3] })
  expect(scaleOf(0, true)).toEqual({ top: 1, ticks: [0, 1] })
  for (const largest of [1, 7, 11, 999, 1_000_001, 123_456_789]) {
    const { top, ticks } = scaleOf(largest, true)
    expect([top >= largest, ticks.length <= 6, ticks.every(Number.isInteger)], String(largest)).toEqual([true, true, true])
  }
})

it('names some steps, evenly spread and none twice', () => {
  expect(labelled(3, 8)).toEqual([0, 1, 2])
  expect(labelled(72, 8)).toEqual([4, 13, 22, 31, 40, 49, 58, 67])
  expect(labelled(0, 8)).toEqual([])
})

it('puts the bars of a step one on top of the other, in the order of the keys', () => {
  const steps = [
    { at: 0, label: '', values: new Map([['a', 25]]) },
    {
      at: 1,
      label: '',
      values: new Map([
        ['a', 50],
        ['b', 30],
      ]),
    },
  ]
  expect(barPaths(steps, ['a', 'b'], 100)).toEqual(['M0.4 100h0.2v-25h-0.2zM1.4 100h0.2v-50h-0.2z', 'M1.4 50h0.2v-30h-0.2z'])
})
