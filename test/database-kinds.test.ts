import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const files = ['src/', 'test/'].flatMap((folder) =>
  readdirSync(new URL(`../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => folder + name),
)

it('no test for PostgreSQL only is in a suite that the ordinary run executes only on SQLite', () => {
  const hidden = files.filter((name) => {
    const text = readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
    return /\banyDatabase\(/.test(text) && /\.runIf\(kind === 'postgres'\)|\.skipIf\(kind === 'sqlite'\)/.test(text)
  })
  expect(hidden).toEqual([])
})
