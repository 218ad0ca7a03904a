import { expect, it } from 'vitest'
import { OutputBuffer, withUnkept } from './sse-interceptor.ts'

it('[T126] keeps the beginning of the output and counts the rest, and an estimate grows with it', () => {
  const said = new OutputBuffer()
  for (let count = 0; count < 10_000; count++) said.push('four ')
  expect([said.kept, said.unkept]).toEqual(['four '.repeat(10_000), 0])
  expect(withUnkept(10_000, said)).toBe(10_000)
  for (let count = 0; count < 100_000; count++) said.push('five ')
  said.push('')
  expect(said.kept).toHaveLength(64 * 1024)
  expect(said.kept.length + said.unkept).toBe(550_000)
  const tokens = withUnkept(Math.round(said.kept.length / 5), said)
  expect(Math.abs(tokens - 110_000)).toBeLessThan(10)
  expect(withUnkept(0, { kept: '', unkept: 0 })).toBe(0)
})
