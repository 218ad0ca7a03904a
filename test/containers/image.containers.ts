import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { documentedCommands } from '../helpers/documented-commands.ts'
import { startPacedCallers } from '../helpers/paced-callers.ts'
import { ask, chat, model } from '../relay/stage.ts'
import {
  docker,
  evaluate,
  furnish,
  inspect,
  isReady,
  logs,
  newProject,
  type Project,
  type ReachableUpstream,
  startReachableUpstream,
} from './docker.ts'

/** The image of the Dockerfile, run by the commands of install.md and replaced by those of upgrade.md. */

const start = documentedCommands('install.md', 'In containers', 'One container')
const dockerRun = start.slice(start.indexOf('docker run'))
const url = 'http://127.0.0.1:3000'
/** No journal, no write-ahead log and no socket. */
const filesOfCleanStop = ['app.db', 'app.db-charges-lock', 'ledger-mark.json']
/** The most memory that a container had: of the first and the second version of cgroups. */
const peakFiles = ['/sys/fs/cgroup/memory/memory.max_usage_in_bytes', '/sys/fs/cgroup/memory.peak']
let project: Project
let upstream: ReachableUpstream
let address = ''

beforeAll(async () => {
  project = newProject()
  upstream = await startReachableUpstream()
  await project.shell(start)
  address = await upstream.addressFor('sluice')
})
afterAll(async () => {
  await upstream?.stop()
  await docker('rm', '--force', '--volumes', 'sluice').catch(() => {})
  await docker('volume', 'rm', 'sluice').catch(() => {})
  project?.remove()
})

const rootPassword = () => project.setting('sluice.env', 'ROOT_PASSWORD')
const isHealthy = (name: string) => expect.poll(() => inspect(name, '.State.Health.Status'), { message: name }).toBe('healthy')
const filesIn = async (volume: string) =>
  (await docker('run', '--rm', '--volume', `${volume}:/data`, '--entrypoint', 'ls', 'sluice', '/data')).split('\n')

/** The documented command with other values, for a container and a volume of its own that end with the test. */
async function runOther(name: string, port: number, changes: Record<string, string> = {}): Promise<string> {
  const values = { '--name sluice': `--name ${name}`, '-v sluice:': `-v ${name}:`, '-p 3000:': `-p ${port}:`, ...changes }
  const command = Object.entries(values).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`install.md has no ${from}`)
    return text.replace(from, () => to)
  }, dockerRun)
  onTestFinished(async () => {
    await docker('rm', '--force', name)
    await docker('volume', 'rm', '--force', name)
  })
  await project.shell(command)
  return `http://127.0.0.1:${port}`
}

describe('the container of install.md', () => {
  it('becomes healthy, answers as ready, and knows its memory limit', async () => {
    await isHealthy('sluice')
    expect(await isReady(url)).toBe(true)
    const metrics = await evaluate('sluice', `fetch('${url}/metrics').then((r) => r.text()).then(console.log)`)
    expect(Number(/^sluice_memory_limit_bytes.* (\S+)$/m.exec(metrics)?.[1])).toBe(1 << 30)
    const sizes = await Promise.all(
      ['sluice', 'node:24-slim'].map(async (name) => Number(await docker('image', 'inspect', '--format', '{{.Size}}', name))),
    )
    const [whole = 0, base = 0] = sizes.map((bytes) => Math.round(bytes / 1e6))
    console.log(`The image has ${whole} MB, ${base} of them the base image of these tests.`)
  })

  it('is not root, has no capability, cannot gain any, and writes to /data alone', async () => {
    const status = await docker('exec', 'sluice', 'cat', '/proc/1/status')
    expect(status).toMatch(/^Uid:\s1000\s1000\s1000\s1000$/m)
    expect(status).toMatch(/^CapEff:\s0+$/m)
    expect(status).toMatch(/^CapBnd:\s0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\s1$/m)
    const write = (folder: string) => docker('exec', 'sluice', 'touch', `${folder}/file`)
    for (const folder of ['/app', '/tmp', '/home/node', '/usr/local/bin']) await expect(write(folder), folder).rejects.toThrow()
    await write('/data')
    await docker('exec', 'sluice', 'rm', '/data/file')
  })

  it('has no package manager', async () => {
    for (const program of ['npm', 'npx', 'corepack', 'yarn'])
      await expect(docker('run', '--rm', '--entrypoint', program, 'sluice', '--version'), program).rejects.toThrow(/not found/)
  })

  it('keeps users, channels and charges when a newer version replaces it, after a stop that cuts no call', async () => {
    const { call, key } = await furnish(url, rootPassword(), address)
    const { id } = await call<{ id: number }>('POST /api/user/', { username: 'harbor', password: 'a long password 1' })
    const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
    const messages = [{ role: 'user', content: 'one two three' }] as const
    expect((await client.chat.completions.create({ model, messages: [...messages] })).choices[0]?.finish_reason).toBe('stop')

    upstream.program(model, { words: 100, pauseMs: 80 })
    onTestFinished(() => upstream.program(model, { words: 20, pauseMs: 20 }))
    const asked = upstream.journal.length
    const running = ask({ url }, key, chat({ stream: true }))
    await expect.poll(() => upstream.journal.length).toBe(asked + 1)
    await docker('stop', 'sluice')
    expect((await running).text).toContain('data: [DONE]')
    expect(await inspect('sluice', '.State.ExitCode')).toBe('0')
    expect(await logs('sluice')).toMatch(/"stopped"[^\n]*$/)
    expect(await filesIn('sluice')).toEqual(filesOfCleanStop)

    project.pull()
    await project.shell(documentedCommands('upgrade.md', 'In containers', 'One container'))
    await project.shell(dockerRun)
    await isHealthy('sluice')
    expect(await docker('exec', 'sluice', 'cat', 'VERSION')).toBe('99.0.0')
    const after = await furnish(url, rootPassword(), address)
    expect((await after.call<{ username: string }>(`GET /api/user/${id}`)).username).toBe('harbor')
    expect((await ask({ url }, key, chat())).status).toBe(200)
    for (const command of ['verify', 'doctor'])
      expect(JSON.parse(await docker('exec', 'sluice', 'sluice', command, '--json')), command).toMatchObject({ ok: true })
  })
})

describe.each([
  ['256m', ''],
  ['512m', ''],
  ['512m', '-e WORKERS=2 '],
])('with %s of memory, %s', (memory, more) => {
  it('serves 40 calls a second for ten seconds, healthy, within its limit', async () => {
    const name = `sluice-${memory}${more === '' ? '' : '-workers'}`
    const at = await runOther(name, 3001, { '--memory 1g': `${more}--memory ${memory}` })
    await expect.poll(() => isReady(at)).toBe(true)
    const { key } = await furnish(at, rootPassword(), address)
    const callers = startPacedCallers({ url: at, key, perSecond: 40 })
    await expect.poll(() => callers.whole.size + callers.failures.length).toBeGreaterThan(400)
    await isHealthy(name)
    await callers.stop()
    expect(callers.failures).toEqual([])
    const peak = Number(await docker('exec', name, 'sh', '-c', `cat ${peakFiles.join(' ')} 2>/dev/null || true`))
    console.log(
      `${name}: ${callers.whole.size} calls, at most ${Math.round(peak / 1e6)} MB, the longest call ${Math.round(callers.longestMs)} ms`,
    )
    expect(await inspect(name, '.State.OOMKilled')).toBe('false')
    expect(await inspect(name, '.RestartCount')).toBe('0')
    const metrics = await evaluate(name, `fetch('${url}/metrics').then((r) => r.text()).then(console.log)`)
    if (more !== '') expect(metrics).toMatch(/^sluice_processes(\{\})? 2$/m)
    await docker('stop', name)
    expect(await inspect(name, '.State.ExitCode')).toBe('0')
    expect(await filesIn(name)).toEqual(filesOfCleanStop)
  })
})

it('a /data that belongs to another user ends the start with what to do', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'sluice-foreign-')), 'data')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(folder, { mode: 0o755 })
  await runOther('sluice-foreign', 3002, { '--restart unless-stopped': '', '-v sluice:': `-v ${folder}:` })
  await expect.poll(() => inspect('sluice-foreign', '.State.Status')).toBe('exited')
  expect(await inspect('sluice-foreign', '.State.ExitCode')).toBe('1')
  expect(await logs('sluice-foreign')).toMatch(
    /^Sluice cannot start: DATA_DIR: \/data cannot be used by the user with id 1000 \(EACCES at .*give the folder to this user/m,
  )
})
