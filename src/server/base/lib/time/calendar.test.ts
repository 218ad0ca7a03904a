import { expect, it } from 'vitest'
import { type CalendarUnit, spanOf } from './calendar.ts'

const at = (text: string) => Date.parse(text) / 1000
const span = (unit: CalendarUnit, zone: string, text: string) => {
  const { start, end } = spanOf(unit, zone, at(text))
  return [start, end].map((seconds) => new Date(seconds * 1000).toISOString().slice(0, 19))
}

it('changes the day at midnight in the zone', () => {
  expect(span('day', 'UTC', '2026-11-24T10:00:00Z')).toEqual(['2026-11-24T00:00:00', '2026-11-25T00:00:00'])
  expect(span('day', 'Asia/Shanghai', '2026-11-24T15:59:59Z')).toEqual(['2026-11-23T16:00:00', '2026-11-24T16:00:00'])
  expect(span('day', 'Asia/Shanghai', '2026-11-24T16:00:00Z')).toEqual(['2026-11-24T16:00:00', '2026-11-25T16:00:00'])
  expect(span('day', 'Pacific/Kiritimati', '2026-11-24T09:59:59Z')).toEqual(['2026-11-23T10:00:00', '2026-11-24T10:00:00'])
})

it('has days of 23 and of 25 hours where clocks change', () => {
  expect(span('day', 'Europe/Berlin', '2026-03-29T12:00:00Z')).toEqual(['2026-03-28T23:00:00', '2026-03-29T22:00:00'])
  expect(span('day', 'Europe/Berlin', '2026-10-25T12:00:00Z')).toEqual(['2026-10-24T22:00:00', '2026-10-25T23:00:00'])
  // Clocks go forward at midnight there: the day begins at one.
  expect(span('day', 'Africa/Cairo', '2026-04-24T12:00:00Z')).toEqual(['2026-04-23T22:00:00', '2026-04-24T21:00:00'])
})

it('begins weeks on Monday and months on the first', () => {
  expect(span('week', 'UTC', '2026-11-24T10:00:00Z')).toEqual(['2026-11-23T00:00:00', '2026-11-30T00:00:00'])
  expect(span('week', 'UTC', '2026-11-22T23:59:59Z')).toEqual(['2026-11-16T00:00:00', '2026-11-23T00:00:00'])
  expect(span('month', 'America/New_York', '2026-12-01T04:59:59Z')).toEqual(['2026-11-01T04:00:00', '2026-12-01T05:00:00'])
  expect(span('month', 'UTC', '2026-12-31T23:59:59Z')).toEqual(['2026-12-01T00:00:00', '2027-01-01T00:00:00'])
})

it('begins every span where the one before ends', () => {
  for (const zone of ['Europe/Berlin', 'America/Sao_Paulo', 'Asia/Beirut', 'Australia/Lord_Howe'])
    for (const unit of ['day', 'week', 'month'] as const) {
      let { end } = spanOf(unit, zone, at('2025-01-01T00:00:00Z'))
      for (let count = 0; count < 30; count++) {
        const next = spanOf(unit, zone, end)
        expect(next.start).toBe(end)
        expect(spanOf(unit, zone, end - 1).end).toBe(end)
        end = next.end
      }
    }
})
