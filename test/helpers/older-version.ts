import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Whether the history of the project is here: a package, or a shallow clone, has no older version. */
export const hasHistory = existsSync(join(root, '.git'))

export function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

/**
 * The program of the server of another commit. It is built once for each machine, with its own packages where they are others than ours: then npm
 * has to reach its registry, or to have them in its cache.
 */
export function builtServer(commit: string): string {
  const id = git('rev-parse', commit)
  const folder = join(tmpdir(), `sluice-version-${id.slice(0, 12)}`)
  const program = join(folder, 'dist/server/main.js')
  // The packages are those of a checkout, which may be gone.
  if (existsSync(program) && existsSync(join(folder, 'node_modules'))) return program
  rmSync(folder, { recursive: true, force: true })
  const making = `${folder}-${process.pid}`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making)
  const archive = execFileSync('git', ['archive', id], { cwd: root, maxBuffer: 512 * 1024 * 1024 })
  execFileSync('tar', ['-x', '-C', making], { input: archive })
  const hasOurPackages = git('diff', '--name-only', id, '--', 'package-lock.json') === ''
  if (hasOurPackages) symlinkSync(join(root, 'node_modules'), join(making, 'node_modules'))
  else run(making, 'npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'])
  const build = `import { buildWhenStale } from './scripts/build.mjs'; await buildWhenStale({ only: ['server'] })`
  run(making, process.execPath, ['--input-type=module', '-e', build])
  renameSync(making, folder)
  return program
}

function run(cwd: string, command: string, args: readonly string[]): void {
  execFileSync(command, args, { cwd, stdio: 'pipe' })
}
