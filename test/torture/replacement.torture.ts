import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { serverOfTest } from '../helpers/app.ts'
import { freshDatabase } from '../helpers/databases.ts'
import { freePort } from '../helpers/free-port.ts'
import { hasHaproxy, startHaproxy } from '../helpers/haproxy.ts'
import { hasNginx, startNginx } from '../helpers/nginx.ts'
import { furnish, startPacedCallers } from '../helpers/paced-callers.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { randomsOf } from '../helpers/randoms.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { completion, httpUpstream, model, settledCharges } from '../relay/stage.ts'

/**
 * Three nodes are replaced one after the other beside calls, a third of them streams: REPLACEMENTS (1) times behind each front, with
 * REPLACE_RATE (20) calls a second, and streams of 5 to REPLACE_SECONDS (10).
 */
const replacements = Number(process.env.REPLACEMENTS ?? 1)
const rate = Number(process.env.REPLACE_RATE ?? 20)
const longestSeconds = Number(process.env.REPLACE_SECONDS ?? 10)
/** The time that a balancer takes to notice a node that is back. */
const noticeMs = 2000

/** A name with three addresses needs no proxy. */
const nameWithAddresses = async (urls: readonly string[]) => ({ url: urls, stop: async () => {} })

const fronts = Object.entries({
  nginx: hasNginx ? startNginx : undefined,
  HAProxy: hasHaproxy ? startHaproxy : undefined,
  'a name with three addresses': nameWithAddresses,
})

/** A vendor whose streams last between 5 seconds and the longest, with a word each half second. */
function vendor(): Promise<string> {
  const random = randomsOf(20_261_130)
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, ...choice }] })}\n\n`
  return httpUpstream(async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    await once(request, 'end')
    if (!Buffer.concat(pieces).includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(completion())
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const words = 2 * (5 + random() * (longestSeconds - 5))
    for (let word = 0; word < words; word++) {
      if (response.destroyed) return
      response.write(chunk({ delta: { content: `word${word} ` } }))
      await pause(500)
    }
    response.end(`${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`)
  })
}

it.each(fronts)(
  `three nodes are replaced behind %s, ${replacements} times: no call fails, no stream is cut, each is charged once`,
  async (name, start) => {
    if (!start) return
    const database = await freshDatabase('postgres', 'started')
    onTestFinished(() => database.drop())
    const ports = [await freePort(), await freePort(), await freePort()]
    const env = { DRAIN_DELAY: '5', DRAIN_LIMIT: String(longestSeconds + 30) }
    const startNode = (index: number) => startProcess(database, { ...env, PORT: String(ports[index]) })
    const nodes = await Promise.all(ports.map((_, index) => startNode(index)))
    onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.kill('SIGKILL')))))
    const key = await furnish(nodes[0] as ServerProcess, await vendor())
    const front = await start(nodes.map(({ url }) => url))
    onTestFinished(() => front.stop())

    const load = startPacedCallers({ url: front.url, key, perSecond: rate, streamOneIn: 3 })
    await expect.poll(() => load.whole.size).toBeGreaterThan(rate)
    for (let round = 0; round < replacements; round++) {
      for (const index of nodes.keys()) {
        expect(await nodes[index]?.kill('SIGTERM')).toBe(0)
        nodes[index] = await startNode(index)
        await pause(noticeMs)
      }
      console.log(`${name}, round ${round + 1}: ${load.whole.size} whole, ${load.failures.length} failed`)
      if (load.failures.length > 0) break
    }
    await load.stop()
    expect(load.failures.slice(0, 5)).toEqual([])
    for (const node of nodes) expect(await node.kill('SIGTERM')).toBe(0)

    const after = await serverOfTest('postgres', { database })
    const charged = (await settledCharges(after)).map(({ id }) => id)
    expect(charged.length).toBe(load.whole.size)
    expect(new Set(charged)).toEqual(load.whole)
    await requireBalancedBooks(after)
  },
  replacements * 3 * (longestSeconds + 60) * 1000 + 300_000,
)
