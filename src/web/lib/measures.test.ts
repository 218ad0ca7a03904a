import { expect, it } from 'vitest'
import { fill, type Text } from '../../contract/text.ts'
import { units } from '../../contract/units.ts'
import { inLargerUnits } from './measures.ts'

const english = (text: Text, params: { count: number }) => fill(text.en, params, 'en')

it.each([
  [36_000, units.seconds, '10 h'],
  [90, units.seconds, '1 min 30 s'],
  [59, units.seconds, undefined],
  [1500, units.minutes, '1 day 1 h'],
  [43_200, units.minutes, '30 days'],
  [24, units.hours, '1 day'],
  [30, units.days, undefined],
  [1536, units.kilobytes, '1.5 MB'],
  [64, units.megabytes, undefined],
  [0, units.seconds, undefined],
  [100, units.requests, undefined],
])('%i of %o are %s', (count, unit, words) => {
  expect(inLargerUnits(count, unit, english)).toBe(words)
})
