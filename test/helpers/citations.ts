import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** A number or document that a text cites, its position, and the name under which it has to exist. */
interface Citation {
  readonly file: string
  /** `notes 3.5`, `case 72`, `T101`, `P5`, or the path of a document. */
  readonly cited: string
}

interface Source {
  readonly path: string
  readonly text: string
}

const root = new URL('../../', import.meta.url)
const number = String.raw`\d+(?:\.\d+)?(?![\d-])`
const list = `${number}(?:(?:,| and| to|, and) ${number})*`

/** Files with comments, titles and documents, except generated ones and recordings of vendors. */
export function citingFiles(): Source[] {
  const folders = ['src', 'test', 'scripts', 'docs', 'deploy'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((path) =>
      posix.join(folder, path.replaceAll('\\', '/')),
    ),
  )
  const top = [
    'README.md',
    'README.zh-CN.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'Dockerfile',
    'compose.yaml',
    'compose.cluster.yaml',
  ]
  return [...folders, ...top]
    .filter((path) => /\.(tsx?|mjs|mts|md|yaml|conf)$|Dockerfile/.test(path) && !path.includes('/fixtures/'))
    .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }))
}

/** Every citation of a text, once. Sentences may continue in the next line of a comment. */
export function citationsOf({ path: file, text }: Source): Citation[] {
  const line = text.replace(/\s*\n\s*(?:\*(?!\/)|\/\/|#)?\s*/g, ' ')
  const found = [
    ...matchesOf(line, new RegExp(`protocols notes,? (?:section )?(${list})`, 'gi')).flatMap((numbers) =>
      numbersOf(numbers).map((cited) => `notes ${cited}`),
    ),
    ...matchesOf(line, new RegExp(`edge cases? (${list})`, 'gi')).flatMap((numbers) =>
      numbersOf(numbers).map((cited) => `case ${cited}`),
    ),
    ...matchesOf(line, /['"`]((?:\[(?:\d+|T\d{3})\] ?)+)/g).flatMap((head) =>
      matchesOf(head, /\[(\d+)\]/g)
        .filter(() => isTest(file))
        .map((cited) => `case ${cited}`),
    ),
    ...matchesOf(line, /\b(T\d{3})\b/g),
    ...matchesOf(line, /\b[Pp]romises? (P\d+)\b/g),
    ...matchesOf(line, /(?<![\w/.-])(docs\/[\w./-]+\.(?:md|json))/g),
    ...(file.endsWith('.md')
      ? [...linksOf(file, text), ...matchesOf(text, /`((?:src|test|scripts|deploy)\/[\w./-]+\.\w+)`/g)]
      : []),
  ]
  return [...new Set(found)].map((cited) => ({ file, cited }))
}

/** The names that can be cited: sections, cases, promises. Documents are checked on the disk. */
export function citable(): Set<string> {
  const read = (path: string) => readFileSync(new URL(`docs/reference/${path}`, root), 'utf8')
  const notes = readdirSync(new URL('docs/reference/protocols', root))
    .map((name) => read(`protocols/${name}`))
    .join('\n')
  const trust = read('trust-cases.md')
  return new Set([
    // Section 4 is a separate document.
    'notes 4',
    ...matchesOf(notes, /^#{1,2} (\d+(?:\.\d+)?)\.? /gm).map((section) => `notes ${section}`),
    ...matchesOf(read('edge-cases.md'), /^(\d+)\. /gm).map((item) => `case ${item}`),
    ...matchesOf(trust, /^- \*\*(T\d{3})\*\*/gm),
    ...matchesOf(trust, /^\| (P\d+) \|/gm),
  ])
}

export function isThere({ cited }: Citation, known: ReadonlySet<string>): boolean {
  return known.has(cited) || (cited.includes('/') && existsSync(new URL(cited, root)))
}

/** Relative links of a Markdown page, as paths from the root of the repository. */
function linksOf(file: string, text: string): string[] {
  const targets = matchesOf(text.replace(/^```[\s\S]*?^```|`[^`\n]*`(?!\])/gm, ''), /\]\(([^)\s#:]+)(?:#[^)]*)?\)/g)
  return targets
    .map((target) => posix.join('./', posix.dirname(file), target))
    .map((path) => (path.includes('/') ? path : `./${path}`))
}

function isTest(file: string): boolean {
  return /\.(test|torture|clients|containers)\.tsx?$/.test(file)
}

/** The numbers of `3.1 to 3.4, 3.7 and 5`: those that are named; a range is represented by its ends. */
function numbersOf(text: string): string[] {
  return text.match(/\d+(?:\.\d+)?/g) ?? []
}

function matchesOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found)
}
