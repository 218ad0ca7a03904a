// `npm run edge-cases`: which of the cases of docs/reference/edge-cases.md have a test whose name begins with their number, as in
// `it('[72] …')`, as a table in Markdown. `--missing` prints only those that have none. Fails when one has none without a reason.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './lib/process.mjs'

const last = 300

/** Features that this program does not have, so that nothing can be tested. */
const reasons = new Map([])

const tests = await namedTests()
const numbers = Array.from({ length: last }, (_, at) => at + 1)
const missing = numbers.filter((number) => !tests.has(number))
const unexplained = missing.filter((number) => !reasons.has(number))

if (!process.argv.includes('--missing')) {
  console.log('| case | tests |\n|---|---|')
  for (const number of numbers) console.log(`| ${number} | ${cellOf(number)} |`)
  console.log('')
}
console.log(`${last - missing.length} of ${last} have a test`)
if (missing.length > unexplained.length)
  console.log(`not in this program: ${rangesOf(missing.filter((number) => reasons.has(number)))}`)
if (unexplained.length > 0) console.log(`without a test: ${rangesOf(unexplained)}`)
process.exitCode = unexplained.length > 0 ? 1 : 0

function cellOf(number) {
  const found = tests.get(number)
  if (!found) return reasons.get(number) ?? '**none**'
  return found.map(({ file, name }) => `${file}: ${name.replaceAll('|', '\\|')}`).join('<br>')
}

/** Names of tests by the numbers that they begin with. */
async function namedTests() {
  const found = new Map()
  for (const folder of ['src', 'test']) {
    const files = await readdir(join(root, folder), { recursive: true })
    for (const path of files.filter((file) => /\.test\.tsx?$/.test(file)).sort()) {
      const text = await readFile(join(root, folder, path), 'utf8')
      for (const [, , name] of text.matchAll(/(['"`])((?:\[\d+\] ?)+(?:(?!\1)[^\\\n]|\\.)*)\1/g)) {
        const [head] = /^(?:\[\d+\] ?)+/.exec(name)
        const title = name.slice(head.length)
        // Strings that are lists of numbers are not test names.
        if (!/[a-z]{2}|%/i.test(title)) continue
        for (const [, number] of head.matchAll(/\[(\d+)\]/g)) {
          const entries = found.get(Number(number)) ?? []
          found.set(Number(number), [...entries, { file: `${folder}/${path}`, name: title }])
        }
      }
    }
  }
  return found
}

/** Formats 1, 2, 3, 7 as `1–3, 7`. */
function rangesOf(list) {
  const ranges = []
  for (const number of list) {
    const range = ranges.at(-1)
    if (range && range[1] === number - 1) range[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ')
}
