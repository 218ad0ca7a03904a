import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callerLinesMax } from '../src/server/base/lib/log/caller-log.ts'
import { rootPassword, serverOfTest, signIn } from './helpers/app.ts'
import { newClock } from './helpers/clock.ts'
import { testMasterKey } from './helpers/core.ts'
import { freshDatabase } from './helpers/databases.ts'
import { freePort } from './helpers/free-port.ts'
import { testLogger } from './helpers/logger.ts'
import { interruptDatabase } from './helpers/outage.ts'
import { startProcess } from './helpers/process.ts'
import { sampled } from './helpers/torture.ts'
import { upstreamOfTest } from './helpers/upstream.ts'
import { chat, eventually, model, stage } from './relay/stage.ts'

// The log: T212 and T229.

const main = fileURLToPath(new URL('../dist/server/main.js', import.meta.url))

/** The built server with an external reader of its log, a channel that always fails, and a token. */
async function serverWithLog(stdout: 'pipe' | number) {
  const database = await freshDatabase('sqlite', 'started')
  onTestFinished(() => database.drop())
  const port = await freePort()
  const env = { PATH: process.env.PATH, PORT: String(port), LOG_LEVEL: 'info', MASTER_KEY: testMasterKey.toString('base64') }
  const child: ChildProcess = spawn(process.execPath, [main], {
    env: { ...env, ROOT_PASSWORD: rootPassword, ...database.env },
    stdio: ['ignore', stdout, 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  await eventually('it listens', () =>
    fetch(`${url}/healthz`)
      .then(({ ok }) => ok)
      .catch(() => false),
  )
  const cookie = await signIn(url)
  const call = async (line: string, body: unknown) => {
    const [method = '', path = ''] = line.split(' ')
    const headers = { cookie, 'new-api-user': '1', 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
    return ((await answer.json()) as { data: { key: string } }).data
  }
  const upstream = await upstreamOfTest()
  // Every failure of a channel is logged.
  upstream.program(model, { status: 503 })
  await call('POST /api/channel/', { name: 'x', type: 1, key: 'sk-upstream', base_url: upstream.url, models: model, auto_ban: 0 })
  const { key } = await call('POST /api/token/', { name: 'x', unlimited_quota: true })
  const ask = async () =>
    (
      await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(chat()),
      })
    ).status
  const dropped = async () =>
    Number(/sluice_log_lines_dropped_total (\d+)/.exec(await (await fetch(`${url}/metrics`)).text())?.[1])
  return { child, ask, dropped }
}

it('begins with the address of the server as a log line at any level, when the output is not a terminal', async () => {
  for (const LOG_LEVEL of sampled(['error', 'info'], 2)) {
    const database = await freshDatabase('sqlite', 'migrated')
    onTestFinished(() => database.drop())
    const server = await startProcess(database, { LOG_LEVEL })
    onTestFinished(async () => void (await server.kill('SIGKILL')))
    await eventually('all of it is written', () => server.output().includes('Log in as root'))
    const lines = server
      .output()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: number; msg: string; url?: string })
    const start = lines.find(({ msg }) => msg.includes('listens on'))
    expect(start).toMatchObject({ level: 30, url: expect.stringMatching(/^http:\/\//) })
    expect(lines.find(({ msg }) => msg.startsWith('Log in as root'))?.level).toBe(40)
  }
})

describe('a log without a reader', () => {
  it('[T229] a closed pipe loses only lines, which are counted', async () => {
    const { child, ask, dropped } = await serverWithLog('pipe')
    child.stdout?.destroy()
    for (let count = 0; count < 20; count++) expect(await ask()).toBe(503)
    expect(await dropped()).toBeGreaterThan(0)
    await endsWell(child)
  })

  it.skipIf(!existsSync('/dev/full'))('[T229] a volume that is full does neither', async () => {
    const { child, ask, dropped } = await serverWithLog(openSync('/dev/full', 'w'))
    for (let count = 0; count < 20; count++) expect(await ask()).toBe(503)
    expect(await dropped()).toBeGreaterThan(0)
    await endsWell(child)
  })

  it('[T229] a reader that does not read blocks nothing, not even the stop', async () => {
    const { child, ask } = await serverWithLog('pipe')
    child.stdout?.pause()
    // More than the pipe itself takes.
    for (let round = 0; round < 15; round++) {
      expect(new Set(await Promise.all(Array.from({ length: 40 }, ask)))).toEqual(new Set([503]))
    }
    await endsWell(child)
  })
})

async function endsWell(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
}

describe('callers', () => {
  it('[T212] without credentials cause at most one short log line each, whatever they request and whatever fails', async () => {
    const lines: string[] = []
    const logger = testLogger('info', (line) => void lines.push(line))
    const server = await serverOfTest('sqlite', { logger })
    const { port } = new URL(server.url)
    const raw = async (bytes: string) => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {})
      socket.end(bytes)
      socket.resume()
      await once(socket, 'close')
    }
    const post = (path: string, body: string, headers: Record<string, string> = {}) =>
      fetch(server.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
    const long = 'x'.repeat(10_000)
    const wrong = () => post('/api/user/login', JSON.stringify({ username: 'root', password: 'wrong-password' }))
    const kinds: readonly (() => Promise<unknown>)[] = [
      () => fetch(`${server.url}/api/user/self`),
      () => fetch(`${server.url}/api/user/self`, { headers: { authorization: `Bearer ${long}` } }),
      () => fetch(`${server.url}/api/user/self`, { headers: { cookie: `session=${long}`, 'new-api-user': '1' } }),
      () => fetch(`${server.url}/${long}`),
      () => fetch(`${server.url}/api/${long}`),
      () => fetch(`${server.url}/api/oauth/github?code=${long}&state=${long}`),
      () => fetch(`${server.url}/api/user/epay/notify?${new URLSearchParams({ trade_no: long, sign: long })}`),
      () => post('/api/user/login', JSON.stringify({ username: long, password: long })),
      wrong,
      () => post('/api/user/login', '{'),
      () => post('/api/user/login', long, { 'content-type': 'text/plain' }),
      () => post('/api/user/register', JSON.stringify({ username: 'nobody1', password: 'password-1' })),
      () => post('/api/user/login', JSON.stringify({ username: 'root', password: 'x'.repeat(100_000) })),
      () => post('/api/stripe/webhook', long, { 'stripe-signature': long }),
      () => post('/v1/chat/completions', JSON.stringify(chat())),
      () => post('/v1/chat/completions', JSON.stringify(chat()), { authorization: `Bearer sk-${long}` }),
      () => post('/v1/messages', long, { 'x-api-key': 'sk-unknown' }),
      () => post('/v1beta/models/x:generateContent?key=unknown', long),
      () => post('/mj/submit/imagine', long),
      () => post('/v1/nothing-here', long),
      () => fetch(`${server.url}/metrics`, { headers: { authorization: long } }),
      () => raw('rubbish\r\n\r\n'),
      () => raw(`GET /${long.repeat(3)} HTTP/1.1\r\nhost: x\r\n\r\n`),
      () => raw('GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n'),
      () => raw('GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    ]
    const bring = async (asked: typeof kinds) => {
      for (const [index, ask] of asked.entries()) {
        lines.length = 0
        // A request refused before its body was read may end with a closed connection instead of the reply.
        await ask().catch(() => {})
        await new Promise((resolve) => setImmediate(resolve))
        expect(lines.length, `kind ${index}: ${lines.join('')}`).toBeLessThanOrEqual(1)
        for (const line of lines) expect(line.length, `kind ${index}: ${line}`).toBeLessThan(1000)
      }
    }
    await bring(kinds)
    const bringBack = await interruptDatabase(server.app.database)
    await bring([wrong])
    await bringBack()

    // The number of lines caused by one address is limited.
    lines.length = 0
    await Promise.all(Array.from({ length: 900 }, () => post('/api/user/login', '{')))
    expect(lines.length).toBeLessThanOrEqual(600)
  })

  it('[T212] [T229] with a key cause a bounded number of log lines when their channel fails', async () => {
    const lines: string[] = []
    const upstream = await upstreamOfTest()
    upstream.program(model, { status: 503, body: { error: { message: 'y'.repeat(50_000) } } })
    const logger = testLogger('info', (line) => void lines.push(line))
    const clock = newClock()
    const { ask } = await stage('sqlite', upstream.url, { server: { logger, now: () => clock.now() }, channel: { auto_ban: 0 } })
    lines.length = 0
    expect((await ask(chat())).status).toBe(503)
    expect(lines.length).toBeLessThanOrEqual(2)
    for (const line of lines) expect(line.length).toBeLessThan(4000)
    await Promise.all(Array.from({ length: 2 * callerLinesMax }, () => ask(chat())))
    expect(lines.length).toBeLessThanOrEqual(callerLinesMax)
  })
})
