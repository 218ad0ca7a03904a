import { expect, it } from 'vitest'
import { newLogger } from './logger.ts'

it('writes one line for each event, with all characters of its texts', () => {
  const lines: string[] = []
  const logger = newLogger('info', { write: (line) => void lines.push(line) })
  const signs = ['\u0085', '\u2028', '\u2029', '\n', '\r', '\u000b', '\u000c', '\u001b[2J', '\u007f', '\u009b31m', '\u0000']
  for (const sign of signs) logger.warn({ model: `gpt${sign}forged`, [`name${sign}`]: 1 }, `it${sign}failed`)

  expect(lines).toHaveLength(signs.length)
  for (const [at, sign] of signs.entries()) {
    const line = lines[at] ?? ''
    // The line has no control character or separator but its line end.
    expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    expect(JSON.parse(line)).toMatchObject({ model: `gpt${sign}forged`, msg: `it${sign}failed`, [`name${sign}`]: 1 })
  }
})
