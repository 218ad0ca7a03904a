import { once } from 'node:events'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { callConfigured, fetchUntrusted, UpstreamAgents } from '../http-client.ts'
import { openSocket } from '../upstream-socket.ts'

/**
 * A peer that speaks another protocol and then waits, as SSH and SMTP servers do. No call here has a deadline that a test could reach:
 * each ends because of the bytes.
 */
const greetings: readonly (readonly [string, string])[] = [
  ['a banner of SSH', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['a greeting of SMTP', '220 mail.example.com ESMTP\r\n'],
  ['an alert of TLS', '\x15\x03\x01\0\x02\x02\x28'],
  ['the settings of HTTP/2', '\0\0\x12\x04\0\0\0\0\0'],
  ['a status line in lower case', 'http/1.1 200 OK\r\n'],
  ['NULs', '\0\0\0\0'],
]
const ofHttp2 = ['a status line of HTTP/2', 'HTTP/2.0 200 OK\r\n'] as const
const deadlineMs = 600_000
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A peer that answers each request with `answer`, and keeps the connection open. */
async function peer(answer: (request: number) => string, greeting = '') {
  const sockets: net.Socket[] = []
  const server = net.createServer((socket) => {
    sockets.push(socket)
    let requests = 0
    socket.on('error', () => {})
    if (greeting !== '') socket.write(greeting, 'latin1')
    socket.on('data', () => socket.write(answer(++requests), 'latin1'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  // It listens on a port, not on a pipe.
  return { sockets, origin: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}` }
}

function agentsOf(settings: ConstructorParameters<typeof UpstreamAgents>[0] = {}): UpstreamAgents {
  const agents = new UpstreamAgents(settings)
  closers.push(() => agents.close())
  return agents
}

function sendTo(agents: UpstreamAgents, origin: string): Promise<string> {
  const pool = agents.for({ id: 1, keyId: 1, origin, proxy: '', connectTimeoutMs: deadlineMs })
  return new Promise((resolve, reject) => {
    let text = ''
    pool.dispatch(
      { method: 'GET', path: '/', headers: {} },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData(_controller, piece) {
          text += piece.toString('latin1')
        },
        onResponseEnd: () => resolve(text),
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })
}

describe.each(greetings)('a peer that sends %s and waits', (_title, greeting) => {
  it('ends a call of the relay, at once and on a kept connection', async () => {
    const { origin, sockets } = await peer((request) => (request === 1 ? ok : greeting))
    const agents = agentsOf()
    expect(await sendTo(agents, origin)).toBe('ok')
    await expect(sendTo(agents, origin)).rejects.toThrow()
    expect(sockets).toHaveLength(1)

    const first = await peer(() => '', greeting)
    await expect(sendTo(agentsOf(), first.origin)).rejects.toThrow()
  })

  it('ends a call to an address that an admin has set, and one that a user has named', async () => {
    const { origin } = await peer(() => greeting)
    const untrusted = {
      allows: () => true,
      allowsPort: () => true,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    }
    const agents = agentsOf({ untrusted })
    const call = { url: origin, timeoutMs: deadlineMs, sizeBytesMax: 100 }
    await expect(callConfigured(agents, call)).rejects.toMatchObject({ kind: 'unreachable' })
    await expect(fetchUntrusted(agents, { ...call, allowHttp: true })).rejects.toMatchObject({ kind: 'unreachable' })
  })

  it('ends a call through it as a proxy', async () => {
    const { origin } = await peer(() => greeting)
    for (const proxy of [origin, origin.replace('http:', 'socks5:')]) {
      const call = { url: 'http://192.0.2.1/', proxy, timeoutMs: deadlineMs, sizeBytesMax: 100 }
      await expect(callConfigured(agentsOf(), call)).rejects.toMatchObject({ kind: 'unreachable' })
    }
  })
})

describe.each([...greetings, ofHttp2])('a peer that sends %s and waits', (_title, greeting) => {
  it('ends the handshake of a WebSocket', async () => {
    const { origin } = await peer(() => greeting)
    const connect = agentsOf().connector({ proxy: '', connectTimeoutMs: deadlineMs })
    const socket = openSocket(connect, { url: new URL(origin.replace('http', 'ws')), headers: {}, handshakeMs: deadlineMs })
    const [error] = await once(socket, 'error')
    expect(error).toBeInstanceOf(Error)
  })
})

it('bytes on an idle connection close it, and the next request takes another', async () => {
  const { origin, sockets } = await peer(() => ok)
  const agents = agentsOf()
  await sendTo(agents, origin)
  const [idle] = sockets
  const closed = idle && once(idle, 'close')
  idle?.write('SSH-2.0-OpenSSH_9.6\r\n')
  await closed
  expect(await sendTo(agents, origin)).toBe('ok')
  expect(sockets).toHaveLength(2)
})
