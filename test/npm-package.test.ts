import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { isTorture } from './helpers/torture.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const { name, version, dependencies, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const npm = (cwd: string, ...args: string[]) => promisify(execFile)('npm', args, { cwd })

/** Error codes of npm when it has no connection to the registry. */
const unreachable = /code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)/

it('`npm pack` creates a package that runs the server in an empty folder without a build', async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await npm(root, 'pack', '--pack-destination', folder)
  const archive = join(folder, `${name}-${version}.tgz`)
  try {
    if (isTorture) await npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', archive)
    else await unpack(archive, folder)
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    if (!unreachable.test(stderr)) throw error
    process.stderr.write('\n  !! npm cannot reach its registry: installing the package of `npm pack` is not tested (SKIPPED)\n\n')
    skip()
  }

  const installed = (path: string) => existsSync(join(folder, 'node_modules', path))
  expect(Object.keys(dependencies).filter((one) => !installed(one))).toEqual([])
  expect(['typescript', 'vite', 'vitest', '@mantine/core', 'openai'].filter(installed)).toEqual([])
  expect(['src', 'test', 'scripts'].filter((one) => installed(join(name, one)))).toEqual([])
  const openApi = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'dist/openapi.json'), 'utf8'))
  expect(openApi.info.version).toBe(version)

  const { url, stop } = await serve(folder)
  try {
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    const page = await (await fetch(url)).text()
    const script = /<script type="module"[^>]* src="([^"]+)"/.exec(page)?.[1] ?? ''
    expect((await fetch(url + script)).headers.get('content-type')).toMatch(/javascript/)
    const { data } = (await (await fetch(`${url}/api/status`)).json()) as { data: { sluice_version: string } }
    expect(data.sluice_version).toBe(version)
    expect(existsSync(join(folder, 'data'))).toBe(true)
  } finally {
    await stop()
  }
}, 1_200_000)

/** Installs without the registry: unpacks the package beside the packages of the lock file that it needs. */
async function unpack(archive: string, folder: string): Promise<void> {
  const own = join(folder, 'node_modules', name)
  mkdirSync(own, { recursive: true })
  await promisify(execFile)('tar', ['-xzf', archive, '-C', own, '--strip-components=1'])
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: true; devOptional?: true; link?: true }>
  }
  for (const [path, { dev, devOptional, link }] of Object.entries(packages)) {
    // Packages nested in another one are copied with it.
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || dev || devOptional || link || !existsSync(join(root, path))) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(root, path), join(folder, path))
  }
}

/**
 * `npx sluice serve` in a folder, as a separate process group, because npx starts the program as its child. In the ordinary run npx
 * is left out.
 */
async function serve(folder: string): Promise<{ url: string; stop: () => Promise<unknown> }> {
  const program = isTorture ? ['npx', '--no-install', name] : [process.execPath, join(folder, 'node_modules', name, bin[name])]
  const [command = '', ...args] = program
  const child = spawn(command, [...args, 'serve'], {
    cwd: folder,
    detached: true,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', DRAIN_DELAY: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk
      const found = /listens on (http:\/\/[^\s"]+)/.exec(output)?.[1]
      if (found) resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`sluice serve ended with ${code}: ${output}`)))
  })
  const stop = () => {
    if (child.pid) process.kill(-child.pid, 'SIGTERM')
    return ended
  }
  return { url, stop }
}
