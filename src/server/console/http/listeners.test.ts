import { once } from 'node:events'
import { createServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { stopAccepting } from '../../base/lib/process/node-internals.ts'
import { canSharePort, listenBeside, nobodyWaits } from './listeners.ts'

const host = '127.0.0.1'
const [major = 0] = process.versions.node.split('.').map(Number)
const isShared = await canSharePort({ host, port: 0 })

async function listening<Of extends Server>(server: Of, options: object): Promise<Of> {
  server.listen({ host, port: 0, ...options })
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return server
}

/** Opens `connections` connections at once. Returns the most that were accepted in one iteration of the event loop. */
async function acceptedTogether(server: HttpServer, connections: number): Promise<number> {
  const { port } = server.address() as AddressInfo
  let [all, now, most] = [0, 0, 0]
  server.on('connection', () => {
    all += 1
    now += 1
    most = Math.max(most, now)
  })
  for (let count = 0; count < connections; count++) {
    const socket = connect({ host, port })
    onTestFinished(() => void socket.destroy())
  }
  while (all < connections) {
    await new Promise(setImmediate)
    now = 0
  }
  return most
}

it('several connections are accepted in one iteration of the event loop, where a port can be shared', async () => {
  expect(isShared).toBe(process.platform === 'linux' && major >= 23)
  const server = await listening(createServer(), isShared ? { reusePort: true } : {})
  if (isShared) for (const beside of await listenBeside(server, { host, backlog: 100 })) onTestFinished(() => void beside.close())
  const most = await acceptedTogether(server, 100)
  if (isShared) expect(most).toBeGreaterThan(4)
  else expect(most).toBe(1)
})

it.runIf(isShared)('a request on a socket beside the first is answered by the server', async () => {
  const server = await listening(
    createServer((_, response) => response.end('answered')),
    { reusePort: true },
  )
  const { port } = server.address() as AddressInfo
  for (const beside of await listenBeside(server, { host, backlog: 100 })) onTestFinished(() => void beside.close())
  const answers = await Promise.all(
    Array.from({ length: 100 }, async () => (await fetch(`http://${host}:${port}`, { headers: { connection: 'close' } })).text()),
  )
  expect(answers).toEqual(Array.from({ length: 100 }, () => 'answered'))
})

it.runIf(isShared)('a port on which another server listens is refused, shared or not', async () => {
  const alone = await listening(createTcpServer(), {})
  const sharing = await listening(createTcpServer(), { reusePort: true })
  for (const server of [alone, sharing]) {
    const { port } = server.address() as AddressInfo
    await expect(canSharePort({ host, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  }
})

it('connections that wait to be accepted when a server stops are answered, not reset', async () => {
  const server = await listening(
    createServer((_, response) => response.end('answered')),
    isShared ? { reusePort: true } : {},
  )
  const beside = isShared ? await listenBeside(server, { host, backlog: 100 }) : []
  const { port } = server.address() as AddressInfo
  const connected = new Int32Array(new SharedArrayBuffer(4))
  const callers = new Worker(callersSource, { eval: true, workerData: { host, port, connected, count: waiting } })
  const ends = once(callers, 'message')
  await once(callers, 'online')
  // This thread accepts nothing until all are connected.
  Atomics.wait(connected, 0, 0)
  await nobodyWaits(server)
  for (const each of [server, ...beside]) stopAccepting(each, () => {})
  expect(await ends).toEqual([Array.from({ length: waiting }, () => 'answered')])
})

const waiting = 40
/** Connects many times, says so, and only then sends the requests. */
const callersSource = `
  const { connect } = require('node:net')
  const { text } = require('node:stream/consumers')
  const { parentPort, workerData: { host, port, connected, count } } = require('node:worker_threads')
  const socketOf = () => new Promise((resolve) => { const socket = connect({ host, port }, () => resolve(socket)) })
  Promise.all(Array.from({ length: count }, socketOf)).then(async (sockets) => {
    Atomics.store(connected, 0, 1)
    Atomics.notify(connected, 0)
    const endOf = async (socket) => {
      socket.write('GET / HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n')
      return (await text(socket).catch(String)).slice(-'answered'.length)
    }
    parentPort.postMessage(await Promise.all(sockets.map(endOf)))
  })`
