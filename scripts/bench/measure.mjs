// One run of a load on one target, and its cost.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cpuMicroseconds, cpuShown, residentKb } from './targets.mjs'

const run = promisify(execFile)

export const works = [
  { key: 'json', title: 'JSON 1 KB in, 1.5 KB out, 50 connections', connections: 50 },
  { key: 'burst', title: 'SSE 100 chunks at once, 50 connections', connections: 50, stream: true },
  { key: 'translated', title: 'SSE 100 chunks at once, Chat from Messages, 50 connections', connections: 50, stream: true },
  { key: 'paced', title: 'SSE 1,000 streams, a chunk every 20 ms', connections: 1000, stream: true, rampMs: 2000 },
  { key: 'open', title: 'JSON at 200 requests/s, open loop', connections: 64, rate: 200 },
]

/** The provider answers as `bench`, which is the same model. */
export const modelOf = (work) => `${work.key}/bench`

/** Runs a work on a target for `seconds` seconds. */
export async function measure({ folder, load, prefix, target, work, seconds }) {
  const file = join(folder, `request-${target.name}-${work.key}`)
  await writeFile(file, target.keys.map((key) => requestOf(target.port, key, work)).join(''))
  const pids = await target.pids()
  const cpuBefore = await sumOf(pids, cpuMicroseconds)

  const peak = watchMemory(pids)
  const [command, ...args] = [
    ...prefix,
    ...load,
    target.port,
    file,
    target.keys.length,
    work.connections,
    seconds,
    work.rate ?? 0,
    work.rampMs ?? 0,
  ].map(String)
  const result = JSON.parse((await run(command, args)).stdout)
  const memoryKb = await peak.stop()

  const cpu = (await sumOf(pids, cpuMicroseconds)) - cpuBefore
  return {
    ...result,
    cpuPerRequest: cpuShown && pids.length > 0 && result.requests > 0 ? cpu / result.requests : undefined,
    memoryKb,
  }
}

/** The median of each figure over several runs. */
export function medianOf(runs) {
  const keys = Object.keys(runs[0])
  const middle = (values) => values.sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)]
  return Object.fromEntries(
    keys.map((key) => [key, runs.every((run) => run[key] !== undefined) ? middle(runs.map((run) => run[key])) : undefined]),
  )
}

function requestOf(port, key, work) {
  const body = JSON.stringify({
    model: modelOf(work),
    ...(work.stream ? { stream: true } : {}),
    max_tokens: 300,
    temperature: 0.7,
    messages: [
      { role: 'system', content: 'You are a helpful assistant. Answer briefly and to the point.' },
      { role: 'user', content: 'water '.repeat(140) },
    ],
  })
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

function watchMemory(pids) {
  let peak
  const look = async () => {
    const now = await sumOf(pids, residentKb)
    if (now !== undefined) peak = Math.max(peak ?? 0, now)
  }
  const timer = setInterval(look, 250)
  return {
    stop: async () => {
      clearInterval(timer)
      await look()
      return peak
    },
  }
}

async function sumOf(pids, read) {
  const values = await Promise.all(pids.map(read))
  return values.length === 0 || values.includes(undefined) ? undefined : values.reduce((sum, value) => sum + value, 0)
}
