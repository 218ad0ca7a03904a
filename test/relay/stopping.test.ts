import { expect, it, onTestFinished } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import { eachDatabase, freshDatabase } from '../helpers/databases.ts'
import { startProcess } from '../helpers/process.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, claude, event, eventually, httpUpstream, model, piece, requestBytes, settledCharges, speak } from './stage.ts'

// Stopping a node: case T230.

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
const started = { 'content-type': 'text/event-stream' }

/** An upstream whose streams send some text, and end on `release`. */
async function slowUpstream() {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const url = await httpUpstream(async (_request, response) => {
    response.writeHead(200, started).write(piece('one two three '))
    await held
    response.end(`${piece('four')}${piece('', 'stop')}${event('[DONE]')}`)
  })
  return { url, release }
}

/** A request whose answer has begun. */
async function begun(server: { url: string }, key: string, body: object, path?: string) {
  const caller = speak(server, requestBytes(key, JSON.stringify(body), {}, path))
  await caller.until((text) => text.includes('one two three'))
  return caller
}

/** Starts another node on the database of one that has ended, and checks its books. */
async function booksAfter(
  kind: 'sqlite' | 'postgres',
  database: TestServer['database'],
  look: (server: TestServer) => Promise<void>,
) {
  const next = await startServer(kind, { database })
  await look(next)
  await requireBalancedBooks(next)
  await next.stop()
  await database.drop()
}

eachDatabase('[T230] a node that stops', (fresh, kind) => {
  it.runIf(kind === 'sqlite')(
    'is immediately not ready, accepts no new connection soon, and completes running requests and those that arrive on an open one',
    async () => {
      const database = await fresh()
      const server = await startServer(kind, { database })
      const { url, release } = await slowUpstream()
      const quick = await upstreamOfTest()
      await addChannel(server, { url, models: model })
      await addChannel(server, { url: quick.url, models: 'quick' })
      await setOptions(server, { ModelRatio: { [model]: 1, quick: 1 } })
      const { key } = await addToken(server)
      const streams = await Promise.all([0, 1, 2].map(() => begun(server, key, chat({ stream: true }))))
      const [watcher, late, unfinished] = [0, 1, 2].map(() => speak(server, get('/healthz')))
      for (const kept of [watcher, late, unfinished]) await kept?.until((text) => text.includes('ok'))
      const body = JSON.stringify(chat({ model: 'quick' }))
      unfinished?.socket.write(requestBytes(key, body).slice(0, -10))

      // All at the same time, before idle connections are closed.
      const stopped = server.stop(60_000, 1500)
      watcher?.socket.write(get('/readyz'))
      late?.socket.write(requestBytes(key, body))
      unfinished?.socket.write(requestBytes(key, body).slice(-10))
      expect(await watcher?.until(() => false)).toMatch(/503 Service Unavailable.*connection: close.*not ok/is)
      await expect.poll(() => speak(server, get('/healthz')).until(() => false)).toBe('')
      for (const kept of [late, unfinished])
        expect(await kept?.until(() => false)).toMatch(/200 OK.*connection: close.*chat.completion/is)
      release()
      for (const stream of streams) expect(await stream.until(() => false)).toMatch(/four.*data: \[DONE\]\n\n\r\n0\r\n\r\n$/s)
      await stopped
      await booksAfter(kind, database, async (next) => expect(await settledCharges(next)).toHaveLength(5))
    },
  )

  it('sends an error to callers at the time limit, and charges only the output they received', async () => {
    const database = await fresh()
    const server = await startServer(kind, { database })
    const { url } = await slowUpstream()
    const silent = { asked: 0, url: await httpUpstream(() => void silent.asked++) }
    await addChannel(server, { url, models: `${model},${claude}` })
    await addChannel(server, { url: silent.url, models: 'silent' })
    await setOptions(server, { ModelRatio: { [model]: 1, [claude]: 1, silent: 1 } })
    const { key } = await addToken(server)
    const stream = await begun(server, key, chat({ stream: true }))
    const messages = await begun(server, key, chat({ stream: true, max_tokens: 5, model: claude }), '/v1/messages')
    const waiting = [false, true].map((isStream) => ask(server, key, chat({ model: 'silent', stream: isStream })))
    await eventually('they wait', () => silent.asked === 2)
    await server.stop(500)
    expect(await stream.until(() => false)).toMatch(/"content":"one two three ".*"code":"server_stopping".*\n\n\r\n0\r\n\r\n$/s)
    expect(await messages.until(() => false)).toMatch(
      /one two three .*event: error\n.*"type":"error".*is stopping.*\n\n\r\n0\r\n\r\n$/s,
    )
    for (const { status, text } of await Promise.all(waiting))
      expect([status, text]).toEqual([503, expect.stringContaining('server_stopping')])
    await booksAfter(kind, database, async (next) => {
      expect(await settledCharges(next)).toHaveLength(2)
      const { logs } = await books(next)
      for (const { other } of logs)
        expect(JSON.parse(other)).toMatchObject({ interrupted: 'node', output_tokens: expect.any(Number) })
    })
  })
})

it('[T230] a second signal makes a process report to its callers, charge them, and exit cleanly', async () => {
  const database = await freshDatabase('sqlite', 'started')
  const { url } = await slowUpstream()
  const server = await startProcess(database)
  onTestFinished(async () => void (await server.kill('SIGKILL')))
  await server.call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: url, models: model })
  const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })
  const caller = await begun(server, `sk-${key}`, chat({ stream: true }))
  process.kill(server.pid, 'SIGTERM')
  await eventually('it takes no connection', () =>
    fetch(`${server.url}/healthz`).then(
      () => false,
      () => true,
    ),
  )
  expect(await server.kill('SIGTERM')).toBe(0)
  expect(await caller.until(() => false)).toMatch(/"code":"server_stopping".*\r\n0\r\n\r\n$/s)
  await booksAfter('sqlite', database, async (next) => expect(await settledCharges(next)).toHaveLength(1))
})

it.each([1, 2])(
  '[T230] %i processes that are told to stop are not ready, and serve for DRAIN_DELAY; Ctrl-C waits for nobody',
  async (workers) => {
    const database = await freshDatabase('sqlite', 'started')
    onTestFinished(() => database.drop())
    const quick = await upstreamOfTest()
    const env = { DRAIN_DELAY: '600', LOG_LEVEL: 'info', WORKERS: String(workers) }
    const server = await startProcess(database, env)
    onTestFinished(async () => void (await server.kill('SIGKILL')))
    await server.call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: quick.url, models: model })
    const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })
    const statusOf = async (path: string) => (await fetch(server.url + path)).status
    expect(await statusOf('/readyz')).toBe(200)
    process.kill(server.pid, 'SIGTERM')
    await eventually('it is not ready', async () => (await statusOf('/readyz')) === 503)
    for (let count = 0; count < 3; count++) {
      const { status, headers } = await ask(server, `sk-${key}`, chat())
      // So that no connection is left, on which a load balancer would send when it is closed.
      expect([status, headers.get('connection')]).toEqual([200, 'close'])
    }
    expect(server.output()).toContain('not ready any more')
    expect(await server.kill('SIGTERM')).toBe(0)

    const next = await startProcess(database, env)
    onTestFinished(async () => void (await next.kill('SIGKILL')))
    expect(await next.kill('SIGINT')).toBe(0)
    expect(next.output()).toMatch(/no more connections are accepted.*stopped/s)
  },
)

it('a caller that keeps writing after its WebSocket was refused is disconnected and does not delay a stop', async () => {
  const server = await startServer('sqlite')
  const caller = speak(
    server,
    'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  expect(await caller.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 401/)
  caller.socket.write(Buffer.alloc(100_000, 0x81))
  await server.stop()
  expect(await caller.until(() => false)).toMatch(/^HTTP\/1\.1 401/)
})
