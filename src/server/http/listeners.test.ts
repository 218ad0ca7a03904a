import { once } from 'node:events'
import { createServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { canSharePort, listenBeside } from './listeners.ts'

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
