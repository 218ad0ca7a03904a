import { describe, expect, it } from 'vitest'
import { newHeader, readHeaderRows, writeHeaderRows } from './header-rows.ts'

describe('headers of models as rows', () => {
  const stored = { claude: { 'anthropic-beta': ['one', 'two'], 'x-site': ['a'] }, other: { 'x-site': ['b'] } }

  it('are one row a value, and are stored as they were', () => {
    const rows = readHeaderRows(JSON.stringify(stored)) ?? []
    expect(rows).toEqual([
      { model: 'claude', header: 'anthropic-beta', value: 'one' },
      { model: 'claude', header: 'anthropic-beta', value: 'two' },
      { model: 'claude', header: 'x-site', value: 'a' },
      { model: 'other', header: 'x-site', value: 'b' },
    ])
    expect(JSON.parse(writeHeaderRows([...rows, newHeader]))).toEqual(stored)
  })

  it('of another model in between stay together', () => {
    const rows = ['a', 'b', 'a'].map((model, index) => ({ model, header: 'x', value: String(index) }))
    expect(JSON.parse(writeHeaderRows(rows))).toEqual({ a: { x: ['0', '2'] }, b: { x: ['1'] } })
  })

  it.each(['{', '[]', '{"a":{}}', '{"a":{"x":[]}}', '{"a":{"x":"y"}}', '{"a":{"x":[1]}}'])('do not show %s', (text) => {
    expect(readHeaderRows(text)).toBeUndefined()
  })
})
