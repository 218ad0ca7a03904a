import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { exportedNames, retiredIn, retiredNames } from './helpers/retired-names.ts'

const root = new URL('../', import.meta.url)
const sources = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path.replaceAll('\\', '/')}`)
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }))

describe('retired names', () => {
  it('are declared by no file in src', () => {
    expect(sources.length).toBeGreaterThan(50)
    expect(retiredIn(sources)).toEqual([])
  })

  it('have replacements in the glossary, each with its Chinese term', () => {
    const lines = readFileSync(new URL('docs/reference/glossary.md', root), 'utf8').split('\n')
    const rows = lines.filter((line) => /^\| (?!Term )/.test(line)).map((line) => line.split('|').map((cell) => cell.trim()))
    expect(rows.length).toBeGreaterThan(50)
    expect(rows.filter(([, term, chinese = '', meaning]) => !term || !meaning || !/\p{Script=Han}/u.test(chinese))).toEqual([])
  })

  it('are listed for folders that exist', () => {
    const missing = retiredNames.filter(({ scope }) => !sources.some(({ path }) => path.startsWith(`${scope}/`)))
    expect(missing).toEqual([])
  })

  it('are detected as a file, a folder, an export and a re-export', () => {
    const lists = [{ scope: 'src/a', files: ['old'], exports: ['Old'] }]
    const reported = (path: string, text = '') => retiredIn([{ path, text }], lists).length
    expect([reported('src/a/old.ts'), reported('src/a/old.test.ts'), reported('src/a/old/b.ts')]).toEqual([1, 1, 1])
    expect([reported('src/a/b.ts', 'export class Old {}'), reported('src/a/b.ts', 'export { New as Old }')]).toEqual([1, 1])
    expect([reported('src/b/old.ts'), reported('src/a/older.ts'), reported('src/a/b.ts', 'const Old = 1')]).toEqual([0, 0, 0])
  })

  it('are compared with every form of export', () => {
    const text = [
      'export class A {}',
      'export abstract class B {}',
      'export async function c() {}',
      'export type D = 1',
      'export { e, type F } from "./f.ts"',
    ]
    expect(exportedNames(text.join('\n'))).toEqual(['A', 'B', 'c', 'D', 'e', 'F'])
  })
})
