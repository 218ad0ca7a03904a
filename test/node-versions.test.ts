import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/**
 * Tests undocumented behaviour of Node (`lib/node-internals.ts`) on the other supported versions; for the version that runs the
 * tests, the same files are part of this run. `.ci/run` installs the versions and names them here.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))

const versions = [
  { major: 20, variable: 'NODE_20_PATH' },
  { major: 24, variable: 'NODE_24_PATH' },
].filter(({ major }) => !process.version.startsWith(`v${major}.`))

for (const { major, variable } of versions) {
  const path = process.env[variable] ?? ''
  const isThere = existsSync(path)
  if (!isThere)
    process.stderr.write(
      `\n  !! ${variable} names no Node ${major}: what relies on its internals is not tested on it (SKIPPED)\n\n`,
    )

  it.runIf(isThere)(`every reliance on internals of Node holds on Node ${major}`, () => {
    expect(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout).toMatch(new RegExp(`^v${major}\\.`))
    const run = spawnSync(path, [vitest, 'run', '--config', 'vitest.nodes.config.ts'], {
      cwd: root,
      encoding: 'utf8',
      timeout: 50_000,
    })
    expect(run.status, `${run.stdout}\n${run.stderr}`).toBe(0)
    expect(run.stdout).toMatch(/Tests .*\d+ passed/)
  })
}
