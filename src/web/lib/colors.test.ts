import { expect, it } from 'vitest'
import { durationColor, firstTokenColor, groupColor, ratioColor, responseTimeColor } from './colors.ts'

const bands = (colorAt: (value: number) => string, values: readonly number[]) => values.map(colorAt)

it('a response time is green up to one second, lime up to three, yellow up to five, red above, and gray for 0 (not tested)', () => {
  const shown = bands(responseTimeColor, [0, 1, 1000, 1001, 3000, 3001, 5000, 5001])
  expect(shown).toEqual(['gray', 'green', 'green', 'lime', 'lime', 'yellow', 'yellow', 'red'])
})

it('a duration is green under 101 seconds and orange under 300; a time to the first token under three and under ten', () => {
  expect(bands(durationColor, [100.9, 101, 299.9, 300])).toEqual(['green', 'orange', 'orange', 'red'])
  expect(bands(firstTokenColor, [2999, 3000, 9999, 10_000])).toEqual(['green', 'orange', 'orange', 'red'])
})

it('a ratio is green up to 1, blue above it, orange above 3 and red above 5', () => {
  expect(bands(ratioColor, [0.5, 1, 1.01, 3, 3.01, 5, 5.01])).toEqual([
    'green',
    'green',
    'blue',
    'blue',
    'orange',
    'orange',
    'red',
  ])
})

it('well-known groups have fixed colours, and any other group always has the same one', () => {
  expect(['vip', 'pro', 'svip', 'premium'].map(groupColor)).toEqual(['yellow', 'yellow', 'red', 'red'])
  expect(groupColor('some group')).toBe(groupColor('some group'))
})
