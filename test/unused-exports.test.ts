import { expect, it } from 'vitest'
import { unusedExports } from '../scripts/lib/unused-exports.mjs'

const unusedWith = (text: string, ...others: string[]) =>
  unusedExports([{ path: 'src/a.ts', text }, ...others.map((other, at) => ({ path: `src/user-${at}.ts`, text: other }))])

it.each([
  'export const it = 1',
  'export async function* it() {}',
  'export abstract class it {}',
  'export type it<T> = T[]',
  'export interface it {}',
  'const it = 1\nexport { it }',
  'const own = 1\nexport { own as it }',
  'export const { it, ...rest } = all\nrest()',
  'export type { it } from "./b.ts"',
])('finds the export in `%s`', (text) => {
  expect(unusedWith(text)).toContainEqual(expect.stringMatching(/^src\/a\.ts: it is used (?:nowhere|only there)$/))
  expect(unusedWith(text, "import { it } from './a.ts'").filter((each) => each.includes(' it '))).toEqual([])
})

it.each([
  "import { other, type it as own } from './a.ts'",
  "import {\n  it,\n} from './a.ts'",
  "import * as all from './a.ts'",
  "export { it } from './a.ts'",
  "export * from './a.ts'",
  "const { it } = await import('./a.ts')",
  "type Own = import('./a.ts').it",
  "const built = await import('../dist/a.js')\nbuilt.it()",
])('counts `%s` as use', (text) => {
  expect(unusedWith('export const it = 1', text)).not.toContainEqual(expect.stringContaining('src/a.ts'))
})

it('tells an export that its own file uses from one that nobody uses', () => {
  expect(unusedWith('export const it = 1\nexport const also = it', "import { it } from './b.ts'\nit()")).toEqual([
    'src/a.ts: it is used only there',
    'src/a.ts: also is used nowhere',
  ])
  expect(unusedWith('export default 1', "import one from './a.ts'")).toEqual([])
})
