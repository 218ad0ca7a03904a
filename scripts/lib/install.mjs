// Requirements of the other scripts: the version of Node, and the packages of the lock file. Uses only Node.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requireNode } from './fetch-node.mjs'
import { packagePaths, rootPackages } from './lock.mjs'
import { ended, root } from './process.mjs'

/**
 * Installs what package-lock.json names and node_modules lacks: the packages that build and serve, and with `tests` those of
 * test/package.json too. Installed packages are not fetched again. Ends the process when Node is too old.
 */
export async function installWhenNeeded({ tests = false } = {}) {
  requireNode()
  const canServe = await isInstalled()
  if (canServe && (!tests || (await isInstalled({ tests })))) return
  console.log(`Installing ${tests ? 'a browser, PostgreSQL, SDKs and tools for the tests' : 'packages'} (once, about a minute) …`)
  // `npm ci` empties node_modules first, so it runs only when that is outdated; `--no-save` leaves the lock file as it is.
  const command = canServe ? ['install', '--no-save'] : ['ci']
  const withTests = tests || existsSync(join(root, 'node_modules/vitest'))
  const code = await ended(
    startNpm([...command, ...(withTests ? [] : ['--workspaces=false']), '--no-audit', '--no-fund', '--loglevel=error']),
  )
  if (code !== 0) {
    console.error('The packages could not be installed. Check the network and run `npm ci` to see the whole error.')
    process.exit(code)
  }
}

/** npm's last step writes the installed versions into node_modules/.package-lock.json, which is compared with the lock file. */
export async function isInstalled({ folder = root, tests = false } = {}) {
  const [wanted, installed] = await Promise.all([
    readPackages(join(folder, 'package-lock.json')),
    readPackages(join(folder, 'node_modules/.package-lock.json')),
  ])
  if (wanted === undefined || installed === undefined) return false
  return (tests ? packagePaths(wanted) : rootPackages(wanted)).every((path) =>
    path in installed ? installed[path].version === wanted[path].version : wanted[path].optional === true,
  )
}

async function readPackages(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

function startNpm(args) {
  const options = { cwd: root, stdio: ['ignore', 2, 2] }
  const cli = process.env.npm_execpath
  if (cli?.endsWith('.js')) return spawn(process.execPath, [cli, ...args], options)
  return process.platform === 'win32' ? spawn('npm.cmd', args, { ...options, shell: true }) : spawn('npm', args, options)
}
