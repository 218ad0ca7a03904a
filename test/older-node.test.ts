import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { listening } from './helpers/listening.ts'

/**
 * A machine whose Node is older than the one that Sluice needs: the commands of the project fetch a newer one, everything else says
 * what is missing. `.ci/run` installs the older versions and names them here.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const oldest = { major: 18, variable: 'NODE_18_PATH' }
const usual = { major: 20, variable: 'NODE_20_PATH' }
const temporary = (name: string) => mkdtempSync(join(tmpdir(), `sluice-${name}-`))
const remove = (folder: string) => rmSync(folder, { recursive: true, force: true })

/** Shared by the tests, so that Node is fetched once. */
const cache = temporary('cache')
afterAll(() => remove(cache))

for (const { major, variable } of [oldest, usual]) {
  const node = process.env[variable] ?? ''
  if (!existsSync(node))
    process.stderr.write(`\n  !! ${variable} names no Node ${major}: the commands are not tested on it (SKIPPED)\n\n`)

  describe.runIf(existsSync(node))(`on a machine with Node ${major}`, () => {
    const run = (command: readonly string[], env: Record<string, string> = {}) => start(node, command, env)

    it('the package and the built server say which Node they need, and fetch none', async () => {
      for (const program of ['dist/server/sluice.js', 'dist/server/main.js', 'scripts/build.mjs']) {
        const { output, code } = await run([node, program]).ended
        expect(output).toMatch(
          new RegExp(`^Sluice needs Node 24 or later; this is Node ${major}\\.[\\d.]+\\. .*Install Node 24`, 's'),
        )
        expect(output).not.toMatch(/\n\s+at /)
        expect(code).toBe(1)
      }
    })

    it('a Node with another hash than the recorded one is not kept', async () => {
      const registry = await registryWithAnotherNode()
      const folder = temporary('cache')
      onTestFinished(() => remove(folder))
      const env = { XDG_CACHE_HOME: folder, npm_config_cache: join(folder, 'npm'), npm_config_registry: registry }
      const { output, code } = await run([node, 'scripts/run.mjs', 'sluice', '--version'], env).ended
      expect(output).toMatch(/EINTEGRITY/)
      expect(output).toMatch(/npm could not fetch one; its message is above\.\nInstall Node 24 from https:\/\/nodejs\.org/)
      expect(code).toBe(1)
      expect(readdirSync(join(folder, 'sluice'))).toEqual([])
    })

    it('without the registry of npm, one sentence says what to install', async () => {
      const folder = temporary('cache')
      onTestFinished(() => remove(folder))
      const env = {
        XDG_CACHE_HOME: folder,
        npm_config_cache: join(folder, 'npm'),
        npm_config_registry: 'http://127.0.0.1:1',
        npm_config_fetch_retries: '0',
      }
      const { output, code } = await run([node, 'scripts/run.mjs', 'start'], env).ended
      expect(output).toMatch(/Sluice needs Node 24 or later; .* npm could not fetch one; its message is above\.\nInstall Node 24/)
      expect(code).toBe(1)
    })

    it('`npm start` fetches Node 24 once, serves with it, and stops as it does', async ({ skip }) => {
      const data = temporary('data')
      onTestFinished(() => remove(data))
      const begin = () => run([node, 'scripts/run.mjs', 'start'], { PORT: '0', DATA_DIR: data })
      const first = begin()
      const url = await first.heard(/listens on (http:\/\/[^\s"]+)/).catch(async () => {
        const { output } = await first.ended
        if (!/E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH)/.test(output)) throw new Error(output)
        process.stderr.write('\n  !! npm cannot reach its registry: fetching Node is not tested (SKIPPED)\n\n')
        return skip()
      })
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      first.child.kill('SIGTERM')
      expect((await first.ended).code).toBe(0)
      await expect(fetch(`${url}/readyz`)).rejects.toThrow()

      const second = begin()
      await second.heard(/listens on/)
      second.child.kill('SIGINT')
      const { output, code } = await second.ended
      expect(code).toBe(0)
      expect(output).not.toMatch(/fetching Node/)

      const doctor = await run([node, 'scripts/run.mjs', 'sluice', 'doctor'], { DATA_DIR: data, PORT: '0' }).ended
      expect(doctor.output).toMatch(/Node: 24\.[\d.]+, fetched from npm; this version is \d+ days old/)
    })

    it('`npm test` runs the tests with Node 24 and has their exit code', async ({ skip }) => {
      if (!existsSync(join(cache, 'sluice'))) skip()
      const passed = await run([node, 'scripts/run.mjs', 'test', 'src/server/base/lib/secrets/ids.test.ts']).ended
      expect(passed.output).toMatch(/\n[1-9]\d* passed, 0 failed, 0 skipped\n$/)
      expect(passed.code).toBe(0)
      const none = await run([node, 'scripts/run.mjs', 'test', 'src/server/base/lib/no-such.test.ts']).ended
      expect(none.code).toBe(1)
    })
  })
}

interface Run {
  readonly child: ChildProcess
  /** Resolves with the first group of the pattern; rejects when the program ends before. */
  heard(pattern: RegExp): Promise<string>
  readonly ended: Promise<{ readonly output: string; readonly code: number | null }>
}

/** Starts a program that finds this Node, and no newer one, on its PATH. */
function start(node: string, [program = '', ...args]: readonly string[], env: Record<string, string>): Run {
  const { PATH = '', HOME = '' } = process.env
  const path = [dirname(node), ...PATH.split(delimiter).filter((folder) => folder !== dirname(process.execPath))].join(delimiter)
  const child = spawn(program, args, {
    cwd: root,
    env: {
      PATH: path,
      HOME,
      XDG_CACHE_HOME: cache,
      npm_config_cache: process.env.npm_config_cache ?? join(HOME, '.npm'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk
      for (const listener of listeners) listener()
    })
  const ended = new Promise<{ output: string; code: number | null }>((resolve) =>
    child.once('close', (code) => resolve({ output, code })),
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const heard = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(output)
        if (match) resolve(match[1] ?? match[0])
      }
      listeners.add(look)
      look()
      void ended.then(({ code }) => reject(new Error(`ended with ${code}: ${output}`)))
    })
  return { child, heard, ended }
}

/** A registry whose packages with Node contain something else. */
async function registryWithAnotherNode(): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) return response.end(gzipSync('another Node'))
    const name = request.url?.slice(1) ?? ''
    const tarball = `${origin}/${name}.tgz`
    const dist = { tarball, integrity: `sha512-${Buffer.alloc(64).toString('base64')}` }
    response.setHeader('content-type', 'application/json')
    const versions = Object.fromEntries(
      ['24.22.3', '24.22.0', '24.21.0', '24.18.1'].map((version) => [version, { name, version, dist }]),
    )
    response.end(JSON.stringify({ name, 'dist-tags': {}, versions }))
  })
  onTestFinished(() => void server.close())
  const origin = await listening(server)
  return origin
}
