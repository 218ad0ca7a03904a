import { expect, it } from 'vitest'
import { RowCounter } from './row-counter.ts'

it.each([
  ['csv', 'time,content\r\n1,a\r\n2,"two\nlines, ""quoted"""\r\n', 2],
  ['csv', 'time,content\r\n', 0],
  ['csv', '', 0],
  ['jsonl', '{"content":"a \\" b"}\n{"content":"c"}\n', 2],
] as const)('of %s %j, however it is cut, the rows are counted', (format, text, rows) => {
  const bytes = new TextEncoder().encode(text)
  for (const size of [1, 3, 1000]) {
    const counter = new RowCounter(format)
    for (let at = 0; at < bytes.length; at += size) counter.count(bytes.subarray(at, at + size))
    expect([counter.rows, counter.bytes]).toEqual([rows, bytes.length])
  }
})
