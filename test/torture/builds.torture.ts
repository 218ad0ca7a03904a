import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The hash of every file of a build from committed files only, in a separate folder. */
function build(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-build-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const archive = execFileSync('git', ['archive', 'HEAD'], { cwd: root, maxBuffer: 512 * 1024 * 1024 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  // With the environment of a terminal: the variables of the test environment would build the console for development.
  execFileSync(process.execPath, ['scripts/build.mjs'], {
    cwd: folder,
    stdio: 'pipe',
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  })
  const files = readdirSync(join(folder, 'dist'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(folder.length), createHash('sha256').update(readFileSync(path)).digest('hex')]
    }),
  )
}

it('[T248] two builds of one commit, in different folders, are the same byte by byte', () => {
  const [first, second] = [build(), build()]
  expect(Object.keys(first).length).toBeGreaterThan(500)
  expect(second).toEqual(first)
})
