import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { documentedCommands, inlineCommand } from '../helpers/documented-commands.ts'
import { startPacedCallers } from '../helpers/paced-callers.ts'
import { ask, chat, model } from '../relay/stage.ts'
import {
  docker,
  evaluate,
  furnish,
  inspect,
  isReady,
  newProject,
  type Project,
  type ReachableUpstream,
  startReachableUpstream,
} from './docker.ts'
import { startOtherMachine } from './other-machine.ts'

/** compose.cluster.yaml, started by the commands of install.md and brought to a newer version by those of upgrade.md. */

const url = 'http://127.0.0.1:3000'
const nodes = ['gateway-1', 'gateway-2'] as const
const restartProxy = inlineCommand('upgrade.md', 'docker compose restart proxy')
let project: Project
let upstream: ReachableUpstream
let site: Awaited<ReturnType<typeof furnish>>

beforeAll(async () => {
  project = newProject()
  upstream = await startReachableUpstream()
  await project.shell(documentedCommands('install.md', 'In containers', 'Two nodes'))
  expect(await isReady(url)).toBe(true)
  site = await furnish(url, project.setting('.env', 'ROOT_PASSWORD'), await upstream.addressFor(await containerOf('gateway-1')))
})
afterAll(async () => {
  await project?.shell('docker compose down --volumes --timeout 10')
  await upstream?.stop()
  project?.remove()
})

const compose = (command: string) => project.shell(`docker compose ${command}`)
const containerOf = (service: string) => compose(`ps --all --quiet ${service}`)
const query = (sql: string) => compose(`exec -T postgres psql -U sluice -At -c "${sql}"`)
const chargedIds = async () =>
  (await query(`select substr(reference, 8) from ledger where kind = 'charge'`)).split('\n').filter(Boolean)

const callsOf = async (node: string) => {
  const metrics = await evaluate(await containerOf(node), `fetch('${url}/metrics').then((r) => r.text()).then(console.log)`)
  return [...metrics.matchAll(/^sluice_calls_total\{.* (\d+)$/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}

/** The proxy sends calls to each node. */
async function expectBothServe(): Promise<void> {
  const before = await Promise.all(nodes.map(callsOf))
  for (let calls = 0; calls < 20; calls++) expect((await ask({ url }, site.key, chat())).status).toBe(200)
  for (const [index, node] of nodes.entries())
    await expect.poll(() => callsOf(node), { message: node }).toBeGreaterThan(before[index] ?? 0)
}

it('both nodes are healthy, run without root, capabilities or a writable file system, and know their memory limit', async () => {
  for (const node of nodes) {
    const container = await containerOf(node)
    expect(await inspect(container, '.State.Health.Status'), node).toBe('healthy')
    const status = await docker('exec', container, 'cat', '/proc/1/status')
    for (const line of [/^Uid:\s1000\s/m, /^CapBnd:\s0+$/m, /^NoNewPrivs:\s1$/m]) expect(status, node).toMatch(line)
    await expect(docker('exec', container, 'touch', '/app/file'), node).rejects.toThrow(/Read-only file system/)
    expect(await inspect(container, '.HostConfig.Memory')).toBe(String(1 << 30))
  }
})

it('a call of the OpenAI SDK through the proxy is answered and charged once', async () => {
  const client = new OpenAI({ apiKey: site.key, baseURL: `${url}/v1`, maxRetries: 0 })
  const { response } = await client.chat.completions
    .create({ model, messages: [{ role: 'user', content: 'one two three' }] })
    .withResponse()
  const id = response.headers.get('x-request-id')
  await expect.poll(async () => (await chargedIds()).filter((charged) => charged === id)).toHaveLength(1)
})

it('callers have the address of their machine, whatever X-Forwarded-For they send', async () => {
  const machine = await startOtherMachine()
  onTestFinished(() => machine.remove())
  const at = `http://${machine.server}:3000`
  const forged = '203.0.113.9'
  const statusFor = async (allowed: string) => {
    const { key } = await site.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true, allow_ips: allowed })
    const headers = {
      authorization: `Bearer sk-${key}`,
      'x-forwarded-for': forged,
      'x-real-ip': forged,
      forwarded: `for=${forged}`,
    }
    return (await machine.post(`${at}/v1/chat/completions`, headers, chat())).status
  }
  expect(await statusFor(machine.address)).toBe(200)
  expect(await statusFor(forged)).toBe(403)

  const login = { username: 'root', password: project.setting('.env', 'ROOT_PASSWORD') }
  expect((await machine.post(`${at}/api/user/login`, { 'x-forwarded-for': forged }, login)).status).toBe(200)
  const sessions = await site.call<{ address: string }[]>('GET /api/user/sessions')
  expect(sessions.map(({ address }) => address)).toContain(machine.address)
  expect(sessions.map(({ address }) => address)).not.toContain(forged)
})

it('a container beside the proxy cannot name an address either', async () => {
  const { key } = await site.call<{ key: string }>('POST /api/token/', {
    name: 'x',
    unlimited_quota: true,
    allow_ips: '203.0.113.9',
  })
  const headers = { authorization: `Bearer sk-${key}`, 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' }
  const request = JSON.stringify({ method: 'POST', headers, body: JSON.stringify(chat()) })
  const script = `fetch('http://gateway-1:3000/v1/chat/completions', ${request}).then((response) => console.log(response.status))`
  expect(await docker('run', '--rm', '--network', 'sluice_default', 'node:24-slim', 'node', '-e', script)).toBe('403')
})

it('the proxy starts while a node is stopped, and uses it when it is back', async () => {
  await compose('stop gateway-2')
  await project.shell(restartProxy)
  await expect.poll(() => isReady(url)).toBe(true)
  for (let calls = 0; calls < 5; calls++) expect((await ask({ url }, site.key, chat())).status).toBe(200)
  await compose('up -d --wait gateway-2')
  await expectBothServe()
})

it('nobody notices that a newer version replaces both nodes, at 20 calls a second', async () => {
  const before = await chargedIds()
  const containers = await Promise.all(nodes.map(containerOf))
  const callers = startPacedCallers({ url, key: site.key, perSecond: 20, streamOneIn: 3 })
  await expect.poll(() => callers.whole.size).toBeGreaterThan(40)
  project.pull()
  const startedMs = performance.now()
  await project.shell(documentedCommands('upgrade.md', 'In containers', 'Two nodes'))
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  const whole = callers.whole.size
  await expect.poll(() => callers.whole.size).toBeGreaterThan(whole + 40)
  await callers.stop()
  console.log(
    `${callers.whole.size} whole answers in ${seconds} s, ${callers.failures.length} failures, the longest call ${Math.round(callers.longestMs)} ms`,
  )
  expect(callers.failures).toEqual([])

  for (const [index, node] of nodes.entries()) {
    const container = await containerOf(node)
    expect(container).not.toBe(containers[index])
    expect(await docker('exec', container, 'cat', '/app/VERSION')).toBe('99.0.0')
  }
  await expectBothServe()
  const known = new Set(before)
  await expect
    .poll(async () => (await chargedIds()).filter((id) => !known.has(id) && callers.whole.has(id)).length)
    .toBe(callers.whole.size)
  for (const command of ['verify', 'doctor'])
    expect(JSON.parse(await compose(`exec -T gateway-1 sluice ${command} --json`)), command).toMatchObject({ ok: true })
})

it('the proxy reads a changed nginx.conf when it is restarted', async () => {
  const file = join(project.folder, 'deploy/nginx.conf')
  const changed = readFileSync(file, 'utf8').replace('server_tokens off;', '$& add_header x-configuration changed;')
  // A new file in its place, as `git pull` makes one.
  writeFileSync(`${file}.new`, changed)
  renameSync(`${file}.new`, file)
  await project.shell(restartProxy)
  const configuration = () =>
    fetch(`${url}/readyz`).then(
      ({ headers }) => headers.get('x-configuration'),
      () => undefined,
    )
  await expect.poll(configuration).toBe('changed')
})
