import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { documentedCommands } from '../helpers/documented-commands.ts'
import { model } from '../relay/stage.ts'
import {
  docker,
  furnish,
  inspect,
  isReady,
  newProject,
  type Project,
  type ReachableUpstream,
  startReachableUpstream,
} from './docker.ts'

/** compose.yaml, one node with SQLite: started by the commands of install.md and replaced by those of upgrade.md. */

const url = 'http://127.0.0.1:3000'
let project: Project
let upstream: ReachableUpstream
let site: Awaited<ReturnType<typeof furnish>>

beforeAll(async () => {
  project = newProject()
  upstream = await startReachableUpstream()
  await project.shell(documentedCommands('install.md', 'In containers', 'One node with compose'))
  expect(await isReady(url)).toBe(true)
  site = await furnish(url, project.setting('.env', 'ROOT_PASSWORD'), await upstream.addressFor(await container()))
})
afterAll(async () => {
  await project?.shell('docker compose down --volumes --timeout 10')
  await upstream?.stop()
  project?.remove()
})

const container = () => project.shell('docker compose ps --all --quiet sluice')

async function callOnce(): Promise<string> {
  const client = new OpenAI({ apiKey: site.key, baseURL: `${url}/v1`, maxRetries: 0 })
  const { response } = await client.chat.completions
    .create({ model, messages: [{ role: 'user', content: 'one two three' }] })
    .withResponse()
  return response.headers.get('x-request-id') ?? ''
}

const chargesOf = async (requestId: string) =>
  (await site.call<{ items: unknown[] }>(`GET /api/log/?type=2&request_id=${requestId}`)).items.length

it('it is healthy, runs without root, capabilities or a writable file system, and knows its memory limit', async () => {
  const name = await container()
  expect(await inspect(name, '.State.Health.Status')).toBe('healthy')
  const status = await docker('exec', name, 'cat', '/proc/1/status')
  for (const line of [/^Uid:\s1000\s/m, /^CapBnd:\s0+$/m, /^NoNewPrivs:\s1$/m]) expect(status).toMatch(line)
  await expect(docker('exec', name, 'touch', '/app/file')).rejects.toThrow(/Read-only file system/)
  expect(await inspect(name, '.HostConfig.Memory')).toBe(String(1 << 30))
})

it('a call of the OpenAI SDK is answered and charged once', async () => {
  const id = await callOnce()
  await expect.poll(() => chargesOf(id)).toBe(1)
})

it('a newer version takes its place, with the data of before', async () => {
  const [before, id] = [await container(), await callOnce()]
  await expect.poll(() => chargesOf(id)).toBe(1)
  project.pull()
  await project.shell(documentedCommands('upgrade.md', 'In containers', 'One node with compose'))
  expect(await container()).not.toBe(before)
  expect(await docker('exec', await container(), 'cat', '/app/VERSION')).toBe('99.0.0')
  expect(await chargesOf(id)).toBe(1)
  await callOnce()
  expect(JSON.parse(await project.shell('docker compose exec -T sluice sluice verify --json'))).toMatchObject({ ok: true })
})
