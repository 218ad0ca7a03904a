// `npm test`: installs and builds missing or stale parts, runs every test (or those that the arguments name) and closes with the
// plain line `N passed, N failed, N skipped`. Fails when a test failed, and when none ran.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'
import { commandOf, runNode } from './lib/process.mjs'

await installWhenNeeded({ tests: true })
await buildWhenStale()
process.exitCode = await runTests(process.argv.slice(2))

async function runTests(args) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-results-'))
  const report = join(folder, 'results.json')
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const code = await runNode(commandOf('vitest'), ['run', ...reporters, ...args], { env: { SKIP_BUILD: '1' } })
    const { passed, failed, skipped } = count(JSON.parse(await readFile(report, 'utf8').catch(() => '{}')))
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
    return code !== 0 ? code : failed > 0 || passed === 0 ? 1 : 0
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A file that could not be loaded has no tests of its own and counts as one failure. */
function count({ numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, numTodoTests = 0, testResults = [] }) {
  const broken = testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  )
  return { passed: numPassedTests, failed: numFailedTests + broken.length, skipped: numPendingTests + numTodoTests }
}
