import { expect, it } from 'vitest'
import { csvLine, csvText } from './csv.ts'

it('a text that a spreadsheet would evaluate is escaped, and a number is not', () => {
  expect(csvLine(['=1+1', '@x', '+49 30', '-', '--1', '-1+1', '\tx', '\rx'])).toBe(
    "'=1+1,'@x,'+49 30,'-,'--1,'-1+1,'\tx,\"'\rx\"\r\n",
  )
  expect(csvLine(['-1.000000', '-5', '-1e-7', -1e-7, -3, '12'])).toBe('-1.000000,-5,-1e-7,-1e-7,-3,12\r\n')
})

it('separators, quotes and line ends are quoted, and a file begins with its byte order mark', () => {
  expect(
    csvText([
      ['a,b', 'say "x"'],
      ['two\nlines', ''],
    ]),
  ).toBe('\uFEFF"a,b","say ""x"""\r\n"two\nlines",\r\n')
})
