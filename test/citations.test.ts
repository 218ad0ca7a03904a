import { describe, expect, it } from 'vitest'
import { citable, citationsOf, citingFiles, isThere } from './helpers/citations.ts'

/** Documents that a reader of the repository does not have. */
const elsewhere = [
  /\b(?:of|in|by|as) the specification\b/i,
  /\bspecification (?:section )?\d/i,
  /\bserver (?:behaviour|reference) \d/i,
  /\b(?:trust reference|reference about trust)\b/i,
  /\bthe reference asks\b/i,
  /\bdesign\/[\w-]+\.md\b/,
  /\b(?:console-ui|console-calls|server-behaviour|hot-path|import-sources)\.md\b/,
]

describe('citations', () => {
  // This file has examples of citations that do not exist.
  const files = citingFiles().filter(({ path }) => path !== 'test/citations.test.ts')
  const known = citable()

  it('refers to the repository: sections of the protocols notes, edge cases, trust cases, documents, links, sources', () => {
    const citations = files.flatMap(citationsOf)
    expect(citations.length).toBeGreaterThan(1000)
    expect(citations.filter((citation) => !isThere(citation, known))).toEqual([])
  })

  it('refers to no document outside of the repository', () => {
    const named = files.flatMap(({ path, text }) =>
      elsewhere.filter((pattern) => pattern.test(text)).map((pattern) => `${path}: ${pattern.source}`),
    )
    expect(named).toEqual([])
  })

  it('refers to numbers that form an unbroken sequence', () => {
    const numbers = (kind: string) =>
      [...known].filter((name) => name.startsWith(kind)).map((name) => Number(name.slice(kind.length)))
    expect(numbers('case ')).toEqual(Array.from({ length: 300 }, (_, at) => at + 1))
    expect(numbers('P')).toEqual(Array.from({ length: 16 }, (_, at) => at + 1))
    expect(new Set(numbers('T')).size).toBeGreaterThan(200)
  })
})

describe('a citation', () => {
  const cited = (text: string, path = 'src/a.ts') => citationsOf({ path, text }).map((citation) => citation.cited)

  it.each([
    ['/** Source: protocols notes 1.11, read 2026-11. */', ['notes 1.11']],
    ['// Source: protocols notes 2.7, 3.1 to 3.9 and\n// 5.2.', ['notes 2.7', 'notes 3.1', 'notes 3.9', 'notes 5.2']],
    [' * Source: protocols\n * notes 2.20. Pure.', ['notes 2.20']],
    ['types of the SDK 7.51 and protocols notes 2.2 and edge cases 61 to 73', ['notes 2.2', 'case 61', 'case 73']],
    ['See docs/decisions/0001-one-package.md.', ['docs/decisions/0001-one-package.md']],
    ['https://host.example/docs/a.md, case T101', ['T101']],
  ])('is read out of %s', (text, wanted) => expect(cited(text)).toEqual(wanted))

  it('is read out of titles of tests and links of documents', () => {
    expect(cited("it('[72] [T101] keeps', () => [7])", 'src/a.test.ts')).toEqual(['case 72', 'T101'])
    expect(cited('const path = "[72] x"')).toEqual([])
    const page = '[a](../reference/b.md#c) [d](https://e.example/f) `src/server/run/app.ts` `server/none.ts`'
    expect(cited(page, 'docs/how-to/a.md')).toEqual(['docs/reference/b.md', 'src/server/run/app.ts'])
  })

  it('of a missing entry is found', () => {
    const known = citable()
    for (const text of ['protocols notes 1.99', 'edge case 301', 'T003', 'docs/reference/none.md'])
      expect(isThere(citationsOf({ path: 'src/a.ts', text })[0] ?? { file: '', cited: 'none' }, known), text).toBe(false)
  })
})
