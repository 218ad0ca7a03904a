// Starting other programs: in this terminal, by an argument list, never through a shell.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))
const require = createRequire(join(root, 'package.json'))

/** Runs a Node script to its end in this terminal and returns its exit code. */
export function runNode(script, args = [], { env = {}, quiet = false } = {}) {
  return ended(startNode(script, args, { env, stdio: quiet ? 'ignore' : 'inherit' }))
}

export function startNode(script, args = [], { env = {}, stdio = 'inherit', nodeArgs = [] } = {}) {
  return spawn(process.execPath, [...nodeArgs, script, ...args], { cwd: root, stdio, env: { ...process.env, ...env } })
}

/** Starts a program that ends with this process, for whatever reason it ends. */
export function startChild([command, ...args], options) {
  const child = spawn(command, args, options)
  const end = () => child.kill('SIGTERM')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  return child
}

/** The exit code of a child; 1 when it was ended by a signal or never ran. */
export function ended(child) {
  return new Promise((resolve) => {
    child.once('error', () => resolve(1))
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/** Path of a command of a package, as named in its package.json. */
export function commandOf(name, command = name) {
  const manifest = require.resolve(`${name}/package.json`)
  const { bin } = require(manifest)
  return join(dirname(manifest), typeof bin === 'string' ? bin : bin[command])
}
