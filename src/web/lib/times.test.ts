import { describe, expect, it } from 'vitest'
import { formatTime, parseTime } from './times.ts'

describe('local times', () => {
  it('are parsed from their own format', () => {
    const seconds = Math.floor(new Date(2026, 0, 2, 3, 4, 5).getTime() / 1000)
    expect(formatTime(seconds)).toBe('2026-01-02 03:04:05')
    expect(parseTime('2026-01-02 03:04:05')).toBe(seconds)
  })

  it('parse a day as its first second', () => {
    expect(formatTime(parseTime('2026-3-1') ?? 0)).toBe('2026-03-01 00:00:00')
  })

  it('parse pasted times with other separators, without seconds and with surrounding whitespace', () => {
    for (const text of ['2026/3/1 4:05', ' 2026.03.01  04:05:00 ', '2026-03-01T04:05'])
      expect(formatTime(parseTime(text) ?? 0)).toBe('2026-03-01 04:05:00')
  })

  it.each(['', 'tomorrow', '2026-02-30', '2026-01-01 24:00:00', '2026-13-01', '01/02/2026'])('refuses %s', (text) => {
    expect(parseTime(text)).toBeUndefined()
  })
})
