// Replaces load.c if there is no C compiler: the same arguments and the same JSON line, with less load.
// load PORT REQUEST-FILE REQUESTS CONNECTIONS SECONDS RATE RAMP-MS
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const [port, file, ...numbers] = process.argv.slice(2)
const [different, connections, seconds, rate, rampMs] = numbers.map(Number)
const text = readFileSync(file, 'utf8')
const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
const requests = Array.from({ length: different }, (_, index) => {
  const size = text.length / different
  const [head, body] = text.slice(index * size, (index + 1) * size).split('\r\n\r\n')
  const fields = head
    .split('\r\n')
    .slice(1)
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
  const headers = Object.fromEntries(fields)
  return { settings: { agent, host: '127.0.0.1', port, method: 'POST', path: '/v1/chat/completions', headers }, body }
})

const nowMs = () => Number(process.hrtime.bigint()) / 1e6
const latencies = []
const delays = []
let failed = 0
let failedStatus = 0
let inTime = 0
let chunksInWindow = 0
const from = nowMs()
const windowFrom = from + rampMs
const windowTo = windowFrom + seconds * 1000

await (rate > 0 ? openLoop() : closedLoop())
const took = (nowMs() - from) / 1000
const percentile = (values, share) =>
  Math.round(values.sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0)
console.log(
  JSON.stringify({
    requests: latencies.length,
    failed,
    failedStatus,
    perSecond: inTime / (seconds + rampMs / 1000),
    seconds: took,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    chunks: delays.length,
    chunksPerSecond: chunksInWindow / seconds,
    delayP50: percentile(delays, 0.5),
    delayP99: percentile(delays, 0.99),
  }),
)
process.exit(0)

async function closedLoop() {
  await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      await sleep((rampMs * index) / connections)
      while (nowMs() < windowTo) await once(nowMs(), index)
    }),
  )
}

async function openLoop() {
  const running = new Set()
  let index = 0
  for (let due = from; due < windowTo; due += 1000 / rate) {
    if (due > nowMs()) await sleep(Math.ceil(due - nowMs()))
    const one = once(due, index++).finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
}

function once(scheduledMs, index) {
  const { settings, body } = requests[index % different]
  return new Promise((resolve) => {
    const finish = (ok) => {
      if (!ok) failed++
      else {
        latencies.push((nowMs() - scheduledMs) * 1000)
        if (nowMs() <= windowTo) inTime++
      }
      resolve()
    }
    http
      .request(settings, (response) => {
        response.setEncoding('latin1')
        response.on('data', recordDelays)
        response.once('end', () => {
          if (response.statusCode !== 200) failedStatus = response.statusCode
          finish(response.statusCode === 200)
        })
        response.once('error', () => finish(false))
      })
      .once('error', () => finish(false))
      .end(body)
  })
}

function recordDelays(text) {
  for (const [, stamp] of text.matchAll(/"content":" (\d{19})/g)) {
    if (Number(stamp) === 0) continue
    delays.push(Number(process.hrtime.bigint() - BigInt(stamp)) / 1000)
    if (nowMs() >= windowFrom && nowMs() <= windowTo) chunksInWindow++
  }
}
