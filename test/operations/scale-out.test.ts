import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readEnv } from '../../src/server/base/env.ts'
import { freshDatabase } from '../helpers/databases.ts'
import { inlineSetting } from '../helpers/documented-commands.ts'
import { freePort } from '../helpers/free-port.ts'
import { hasHaproxy, startHaproxy } from '../helpers/haproxy.ts'
import { hasNginx, startNginx } from '../helpers/nginx.ts'
import { furnish } from '../helpers/paced-callers.ts'
import { startProcess } from '../helpers/process.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { sampled } from '../helpers/torture.ts'
import { type Entry, upstreamOfTest } from '../helpers/upstream.ts'
import { allServe, servingProcesses } from '../helpers/workers.ts'
import { ask, askWithRetry, chat, model } from '../relay/stage.ts'

// Several processes and several nodes, with the settings that docs/operations/scale-out.md names.

it('several processes with less memory each share one port, and stop together', async () => {
  const database = await freshDatabase('sqlite', 'started')
  onTestFinished(() => database.drop())
  const WORKERS = inlineSetting('scale-out.md', 'WORKERS')
  const NODE_OPTIONS = inlineSetting('scale-out.md', 'NODE_OPTIONS')
  const env = { WORKERS, NODE_OPTIONS, PORT: String(await freePort()), TRUSTED_PROXIES: '127.0.0.1' }
  const server = await startProcess(database, env)
  onTestFinished(async () => void (await server.kill('SIGKILL')))
  await allServe(server, Number(WORKERS))
  for (const { pid } of servingProcesses(server))
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')).toContain(`NODE_OPTIONS=${NODE_OPTIONS}`)
  expect(await server.kill('SIGTERM')).toBe(0)
})

const balancers = [
  { name: 'HAProxy', isInstalled: hasHaproxy, start: startHaproxy },
  { name: 'nginx', isInstalled: hasNginx, start: startNginx },
]
const installed = balancers.filter(({ isInstalled }) => isInstalled)

describe.each(sampled(installed, balancers.length))('two nodes behind $name with the shipped configuration', ({ start }) => {
  it('one leaves without cutting a call, the other one serves alone, and both do when it is back', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis?.stop())
    const answer = (entry: Entry) => (entry.json.stream ? { words: 60, pauseMs: 50 } : { words: 3 })
    const upstream = await upstreamOfTest({ programs: { [model]: answer } })
    const database = await freshDatabase('postgres', 'started')
    onTestFinished(() => database.drop())
    const ports = [await freePort(), await freePort()] as const
    const shared = {
      REDIS_URL: redis?.url ?? '',
      TRUSTED_PROXIES: '127.0.0.1',
      DRAIN_DELAY: String(readEnv({}).DRAIN_DELAY),
      LOG_LEVEL: 'info',
    }
    const startNode = async (port: number) => {
      const node = await startProcess(database, { ...shared, PORT: String(port) })
      onTestFinished(async () => void (await node.kill('SIGKILL')))
      return node
    }
    const [leaving, staying] = [await startNode(ports[0]), await startNode(ports[1])]
    const key = await furnish(leaving, upstream.url)
    const balancer = await start([leaving.url, staying.url])
    onTestFinished(() => balancer.stop())
    const expectAnswer = () => expect.poll(async () => (await askWithRetry(balancer, key, chat())).status).toBe(200)
    const expectBothServe = async (nodes: readonly { readonly url: string }[]) => {
      const before = await Promise.all(nodes.map(callsOf))
      const haveMore = async () => {
        await expectAnswer()
        const now = await Promise.all(nodes.map(callsOf))
        return now.every((calls, index) => calls > (before[index] ?? 0))
      }
      await expect.poll(haveMore).toBe(true)
    }
    await expectBothServe([leaving, staying])

    const asked = upstream.journal.length
    const streams = Array.from({ length: 4 }, () => ask(balancer, key, chat({ stream: true })))
    await expect.poll(() => upstream.journal.length).toBe(asked + streams.length)
    const stopped = leaving.kill('SIGTERM')
    await expect.poll(() => isReady(leaving)).toBe(false)
    for (const { text } of await Promise.all(streams)) expect(text).toMatch(/data: \[DONE\]\n\n$/)
    expect(await stopped).toBe(0)
    expect(leaving.output()).toMatch(/not ready any more.*no more connections are accepted.*stopped/s)
    for (let calls = 0; calls < 5; calls++) await expectAnswer()

    await expectBothServe([await startNode(ports[0]), staying])
  })
})

async function callsOf({ url }: { readonly url: string }): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return [...metrics.matchAll(/^sluice_calls_total\{.* (\d+)$/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}

const isReady = ({ url }: { readonly url: string }) =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
