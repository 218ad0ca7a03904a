import { readdirSync, readFileSync } from 'node:fs'
import { parseAst } from 'vite'
import { describe, expect, it, vi } from 'vitest'
import { lettersOfSlowMatch } from './helpers/backtracking.ts'

const root = new URL('../', import.meta.url)

describe('regular expressions', () => {
  it.each([
    ...[/(a+)+b/, /^(a|a)*$/, /^(a*)*$/, /^(\w+\s?)*$/, /^(?:(a+)+c)?/, /^(([a-z])+.)+[A-Z]([a-z])+$/, /^(a|aa)+$/, /(x+x+)+y/],
    ...[
      /\s+$/,
      /^\s*\s*x/,
      /a.*b.*c/,
      /^\d+\d+$/,
      /x*y/,
      /(?=a*b)/,
      /^.*a.*b$/,
      /\bx\/.*y/,
      /(?<!\.\d*)(?=(\d{3})+(?!\d))/,
      /x{1000}y/,
    ],
  ])('%s is reported as slow', (expression) => {
    expect(lettersOfSlowMatch(expression)).toBeDefined()
  })

  it.each([
    ...[/^a+$/, /[^a]+/g, /^\s*data:([^,]*),([\s\S]*)$/, /x.{0,80}y/, /^[a-z]+(\.[a-z]+)*$/, /\ba{3}\b/, /"usage"\s*:\s*\{/],
    ...[/^x(?!\d)/, /\d+/, /(?:%[0-9a-f]{2})+/i, /\n\r?\n/, /^(?:\/models)+/, /\r\n|\r|\n/],
  ])('%s is not reported', (expression) => {
    expect(lettersOfSlowMatch(expression)).toBeUndefined()
  })

  it('[T085] of all sources take time in proportion to the length of the text, not to its square', async () => {
    const found = sources()
    expect(found.length).toBeGreaterThan(500)
    const slow = [...found, ...(await builtExpressions())].flatMap(({ path, expression }) => {
      const letters = lettersOfSlowMatch(expression)
      return letters === undefined ? [] : [`${path}: ${expression} with many ${JSON.stringify(letters)}`]
    })
    expect(slow).toEqual([])
  })
})

interface Found {
  readonly path: string
  readonly expression: RegExp
}

/** Files that construct expressions at run time. */
const builders = [
  'src/contract/entities/channel-overrides.ts',
  // Of the paths of pages, which the file itself lists.
  'src/contract/pages.ts',
  'src/server/gateway/protocols/count-tokens.ts',
  'src/server/gateway/protocols/tool-names.ts',
  'src/server/gateway/relay/http/endpoints.ts',
  // Of texts that stand for themselves.
  'src/server/gateway/relay/http/secret-masking.ts',
  'src/server/money/pricing/published-data.ts',
  // Of the data that the file before has checked.
  'src/server/money/pricing/vendor-prices.ts',
  'src/server/run/import/dump-values.ts',
]

/** Regular expression literals in every file that is not a test. */
function sources(): Found[] {
  const files = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }))
  const building = files.filter(({ text }) => /\bRegExp\(/.test(text)).map(({ path }) => path)
  expect(building.sort()).toEqual(builders)
  return files.flatMap(({ path, text }) =>
    literalsOf(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' })).map((expression) => ({ path, expression })),
  )
}

function literalsOf(node: unknown): RegExp[] {
  if (typeof node !== 'object' || node === null) return []
  if ('regex' in node) {
    const { pattern, flags } = node.regex as { pattern: string; flags: string }
    return [new RegExp(pattern, flags)]
  }
  return Object.values(node).flatMap(literalsOf)
}

/** Expressions constructed when those files are loaded. */
async function builtExpressions(): Promise<Found[]> {
  const built: Found[] = []
  for (const path of builders) {
    vi.stubGlobal(
      'RegExp',
      class extends RegExp {
        constructor(source: string | RegExp, flags?: string) {
          super(source, flags)
          built.push({ path, expression: this })
        }
      },
    )
    // Test files share loaded modules: this loads a second instance.
    await import(`${new URL(path, root).pathname}?again`)
    vi.unstubAllGlobals()
  }
  expect(new Set(built.map(({ path }) => path)).size).toBeGreaterThan(2)
  return built
}
