// `npm run mutations [-- TEXT]`: breaks the code that accounts for money on purpose, one fault at a time in a copy of the sources,
// and runs the tests that must detect it. Prints a table; fails when a fault passes all of its tests. TEXT selects faults by their
// names.
import { execFileSync } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'
import { mutations } from './lib/money-mutations.mjs'
import { ended, root, startChild } from './lib/process.mjs'

await installWhenNeeded({ tests: true })
await buildWhenStale()
const chosen = mutations.filter(({ name }) => name.includes(process.argv[2] ?? ''))
const copy = await copySources()
try {
  const rows = []
  for (const mutation of chosen) rows.push(await tryOut(mutation))
  console.log(['', '| Fault | Tests that fail | First of them |', '|---|---:|---|', ...rows.map(rowText)].join('\n'))
  const noticed = rows.filter(({ failed }) => failed?.length > 0).length
  const broken = rows.filter(({ failed }) => !failed).length
  console.log(`${noticed} faults noticed, ${rows.length - noticed - broken} unnoticed, ${broken} without a test that ran`)
  process.exitCode = chosen.length === 0 || noticed < rows.length ? 1 : 0
} finally {
  await rm(copy, { recursive: true, force: true })
}

/** The files tracked by git, in their current state, with the installed packages and the build. */
async function copySources() {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-mutations-'))
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
  for (const file of files) await cp(join(root, file), join(folder, file), { preserveTimestamps: true })
  await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true, preserveTimestamps: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

async function tryOut({ name, file, from, to, tests }) {
  const path = join(copy, file)
  const source = await readFile(path, 'utf8')
  const report = join(copy, 'results.json')
  console.log(name)
  try {
    await writeFile(
      path,
      source.replace(from, () => to),
    )
    await rm(report, { force: true })
    const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
    const args = ['run', '--reporter=json', `--outputFile=${report}`, ...tests]
    await ended(startChild([process.execPath, vitest, ...args], { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'] }))
    return { name, failed: failedTests(await readFile(report, 'utf8').catch(() => '')) }
  } finally {
    await writeFile(path, source)
  }
}

/** Titles of the tests that failed; undefined when no test ran: then the fault broke the build, and proves nothing. */
function failedTests(report) {
  const { testResults = [] } = report === '' ? {} : JSON.parse(report)
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  if (results.length === 0) return undefined
  return results.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
}

function rowText({ name, failed }) {
  if (!failed) return `| ${name} | | **no test ran** |`
  return `| ${name} | ${failed.length} | ${failed[0]?.replaceAll('|', '\\|') ?? '**none**'} |`
}
