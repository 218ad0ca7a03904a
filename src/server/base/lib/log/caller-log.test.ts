import { expect, it } from 'vitest'
import { newClock } from '../../../../../test/helpers/clock.ts'
import { testLogger } from '../../../../../test/helpers/logger.ts'
import { CallerLog, callerLinesMax } from './caller-log.ts'
import { droppedLines } from './log-output.ts'

it('[T212] writes a bounded number of lines per client and minute, and counts the rest, without affecting other clients', () => {
  const lines: string[] = []
  const clock = newClock()
  const log = new CallerLog(
    testLogger('info', (line) => void lines.push(line)),
    () => clock.now(),
  )
  const written = (address: string, times: number) => {
    lines.length = 0
    for (let n = 0; n < times; n++) log.of({ address }).warn('it failed')
    return lines.length
  }
  const before = droppedLines()
  expect(written('203.0.113.9', callerLinesMax + 50)).toBe(callerLinesMax)
  expect(droppedLines() - before).toBe(50)
  expect(written('203.0.113.10', 10)).toBe(10)
  expect(written('2001:db8::1', callerLinesMax)).toBe(callerLinesMax)
  expect(written('2001:db8::2', 10)).toBe(0)
  clock.passSeconds(60)
  expect(written('203.0.113.9', 10)).toBe(10)
  for (let client = 0; client < 12_000; client++) log.of({ address: `2001:db8:0:${client.toString(16)}::1` })
  expect(written('2001:db8:1:1::1', 10)).toBe(0)
  expect(written('203.0.113.9', 10)).toBe(10)
})
