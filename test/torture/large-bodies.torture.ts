import { request } from 'node:http'
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshDatabase } from '../helpers/databases.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { chat, claude, completion, eventually, httpUpstream, model, upstreamKey } from '../relay/stage.ts'

/** The delay of the event loop of a separate server process when 20 bodies of 20 MB arrive at the same time. */
const together = 20
const size = 20_000_000
const p99Max = 200

const fox = 'the quick brown fox jumps over the lazy dog, and then some more words follow. '
const textOf = (bytes: number) => fox.repeat(Math.ceil(bytes / fox.length)).slice(0, bytes)
const chatWith = (content: unknown) => chat({ messages: [{ role: 'user', content }] })
const messages = () =>
  Array.from({ length: 20_000 }, (_, at) => ({
    role: at % 2 ? 'assistant' : 'user',
    content: `${at} ${textOf(size / 20_000 - 50)}`,
  }))
const png = `iVBORw0KGgoAAAANSUhEUgAAAGQAAABkCAYAAABw4pVU${'A'.repeat(size)}`

const bodies: Readonly<Record<string, () => unknown>> = {
  'one text': () => chatWith(textOf(size)),
  'one text beyond ASCII': () => chatWith('这是一个很长的中文文本。'.repeat(size / 36)),
  'an image': () => chatWith([{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }]),
  '20,000 messages': () => chat({ messages: messages() }),
  '20,000 messages, translated': () => chat({ model: claude, messages: messages() }),
}

describe('large bodies', () => {
  it.each(Object.keys(bodies))('of %s, 20 of 20 MB at once, delay the event loop by at most 200 ms (p99)', async (what) => {
    const server = await stageProcess()
    const body = Buffer.from(JSON.stringify(bodies[what]?.()))
    expect(await post(server, Buffer.from(JSON.stringify(chatWith('warm up'))))).toBe(200)
    await delaysOf(server)

    const statuses = await Promise.all(Array.from({ length: together }, () => post(server, body)))
    const { p99, max } = await delaysOf(server)
    // If other processes use the cores too, everything takes proportionally longer.
    const slower = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism())
    console.log(`${what}: p99 ${Math.round(p99)} ms, at most ${Math.round(max)} ms, ${slower.toFixed(1)} processes per core`)
    expect(statuses).toEqual(Array(together).fill(200))
    expect([p99 <= p99Max * slower, p99, slower]).toEqual([true, p99, slower])
  })
})

interface Keyed extends ServerProcess {
  readonly key: string
}

/** A server with a channel of OpenAI and one of Anthropic, and a token that can pay for everything. */
async function stageProcess(): Promise<Keyed> {
  const database = await freshDatabase('sqlite')
  onTestFinished(() => database.drop())
  const server = await startProcess(database, {}, fileURLToPath(new URL('../helpers/open-server.mjs', import.meta.url)))
  onTestFinished(async () => void (await server.kill('SIGKILL')))
  const reply = { id: 'm', type: 'message', role: 'assistant', model: claude, content: [{ type: 'text', text: 'seen' }] }
  const ended = { stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 11, output_tokens: 7 } }
  const url = await httpUpstream((incoming, response) => {
    incoming.resume()
    const answer = incoming.url?.endsWith('/messages') ? JSON.stringify({ ...reply, ...ended }) : completion()
    incoming.once('end', () => response.setHeader('content-type', 'application/json').end(answer))
  })
  for (const [type, models] of [
    [1, model],
    [14, claude],
  ] as const)
    await server.call('POST /api/channel/', { name: models, type, key: upstreamKey, base_url: url, models })
  await server.call('POST /api/user/1/quota', { change: 100_000_000_000, reason: 'test' })
  const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })
  return { ...server, key: `sk-${key}` }
}

function post({ url, key }: Keyed, body: Buffer): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length }
  return new Promise((resolve, reject) => {
    const sending = request(`${url}/v1/chat/completions`, { method: 'POST', headers, agent: false }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
    })
    sending.once('error', reject)
    sending.end(body)
  })
}

/** The delay of the server's event loop since it was last asked for, in milliseconds. */
async function delaysOf({ pid, output }: Keyed): Promise<{ p99: number; max: number }> {
  const before = output().length
  let told: RegExpExecArray | null = null
  process.kill(pid, 'SIGUSR2')
  await eventually('the delay is told', () => {
    told = /delays (.*)\n/.exec(output().slice(before))
    return told !== null
  })
  return JSON.parse((told as RegExpExecArray | null)?.[1] ?? '')
}
