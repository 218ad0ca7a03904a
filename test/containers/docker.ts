import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { consoleCalls, signIn } from '../helpers/app.ts'
import { type FakeUpstream, startFakeUpstream } from '../helpers/upstream.ts'
import { model } from '../relay/stage.ts'

const run = promisify(execFile)
const outputMaxBytes = 64 << 20
const { CONTAINERS_PROJECT, CONTAINERS_NEWER } = process.env

/** Runs `docker` with the daemon of `npm run containers`, and returns what it prints. */
export async function docker(...args: readonly string[]): Promise<string> {
  return (await run('docker', args, { maxBuffer: outputMaxBytes })).stdout.trim()
}

/** A value of a container or an image by a template of Go, such as `.State.Health.Status`. */
export const inspect = (name: string, path: string) => docker('inspect', '--format', `{{${path}}}`, name)

/** What a container has printed, on both outputs. */
export async function logs(name: string): Promise<string> {
  const { stdout, stderr } = await run('docker', ['logs', name], { maxBuffer: outputMaxBytes })
  return (stdout + stderr).trim()
}

/** A script in a container, by its Node. */
export const evaluate = (container: string, script: string) => docker('exec', container, 'node', '-e', script)

/** A copy of the project as a user has it, in a folder named `sluice`. */
export interface Project {
  readonly folder: string
  /** Runs commands of a document in the folder; fails when one of them does. */
  shell(commands: string): Promise<string>
  /** Gets the version 99.0.0, as `git pull` would. */
  pull(): void
  /** A setting of a file of settings. */
  setting(file: string, name: string): string
  remove(): void
}

export function newProject(): Project {
  if (!CONTAINERS_PROJECT || !CONTAINERS_NEWER) throw new Error('npm run containers runs these tests, in a network of their own')
  const above = mkdtempSync(join(tmpdir(), 'sluice-project-'))
  const folder = join(above, 'sluice')
  cpSync(CONTAINERS_PROJECT, folder, { recursive: true, preserveTimestamps: true })
  return {
    folder,
    async shell(commands) {
      const { stdout } = await run('sh', ['-euc', commands], { cwd: folder, maxBuffer: outputMaxBytes })
      return stdout.trim()
    },
    pull: () => cpSync(join(CONTAINERS_NEWER, 'VERSION'), join(folder, 'VERSION')),
    setting: (file, name) => new RegExp(`^${name}=(.*)$`, 'm').exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? '',
    remove: () => rmSync(above, { recursive: true, force: true }),
  }
}

/** A simulated provider, and its address for a container. */
export interface ReachableUpstream extends FakeUpstream {
  addressFor(container: string): Promise<string>
}

export async function startReachableUpstream(): Promise<ReachableUpstream> {
  const upstream = await startFakeUpstream({ host: '0.0.0.0', programs: { [model]: { words: 20, pauseMs: 20 } } })
  const { port } = new URL(upstream.url)
  const addressFor = async (container: string) =>
    `http://${await inspect(container, 'range .NetworkSettings.Networks}}{{.Gateway}}{{end')}:${port}`
  return Object.assign(upstream, { addressFor })
}

/** Signs in as root, adds a channel with a price and a token, and returns the calls of the console and the key. */
export async function furnish(url: string, password: string, upstream: string) {
  const call = consoleCalls(url, await signIn(url, password))
  await call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: upstream, models: model })
  await call('PUT /api/option/', { key: 'ModelRatio', value: JSON.stringify({ [model]: 1 }) })
  await call('POST /api/user/1/quota', { change: 1_000_000_000, reason: 'containers' })
  const { key } = await call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })
  return { call, key: `sk-${key}` }
}

export async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}
