import { once } from 'node:events'
import net from 'node:net'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { ConnectionClosed } from './connection.ts'
import { UpstreamPool } from './pool.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A server that answers by hand. `answer` gets the connection, the request's text and the number of the connection. */
async function upstream(answer: (socket: net.Socket, request: string, connection: number) => void) {
  const requests: string[] = []
  const sockets: net.Socket[] = []
  const server = net.createServer((socket) => {
    const connection = sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      requests.push(bytes.toString('latin1'))
      answer(socket, bytes.toString('latin1'), connection)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { requests, sockets, port, origin: `http://127.0.0.1:${port}` }
}

/** Whether connections read into the buffer of the pool, or emit `data`, as those with TLS do. */
let readsIntoBuffer = true

function poolTo(origin: string, connectionsMax = 10): UpstreamPool {
  const pool = new UpstreamPool(origin, {
    connectionsMax,
    connect: ({ hostname, port, onread }, callback) => {
      const socket = net.connect({ port: Number(port), host: hostname, ...(readsIntoBuffer && onread ? { onread } : {}) })
      socket.once('connect', () => callback(null, socket))
      socket.once('error', (error) => callback(error, null))
    },
  })
  closers.push(() => pool.destroy())
  return pool
}

it('a failed connection fails everybody who waits for one', async () => {
  const { origin } = await upstream(() => {})
  // Nothing listens there any more.
  await closers.pop()?.()
  for (const connectionsMax of [1, 2]) {
    const pool = poolTo(origin, connectionsMax)
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => send(pool, {})))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
    expect(pool.running).toBe(0)
  }
})

interface Sent {
  readonly path?: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: Buffer
  readonly onStart?: (controller: { abort(reason: Error): void; pause(): void; resume(): void }) => void
  readonly onData?: (controller: { abort(reason: Error): void; pause(): void; resume(): void }) => void
  readonly onPiece?: (piece: Buffer) => void
}

/** Resolves with the body; rejects with the error that the handler gets. */
function send(
  pool: UpstreamPool,
  { path = '/', method = 'GET', headers = {}, body, onStart, onData, onPiece }: Sent = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    pool.dispatch(
      { path, method, headers, body: body ?? null },
      {
        onRequestStart: (controller) => onStart?.(controller),
        onResponseStart() {},
        onResponseData(controller, piece) {
          text += piece.toString('latin1')
          onPiece?.(piece)
          onData?.(controller)
        },
        onResponseEnd: () => resolve(text),
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe.each(['onread', 'data'])('a pool of connections that read by `%s`', (way) => {
  beforeAll(() => {
    readsIntoBuffer = way === 'onread'
  })

  it('passes bytes that do not change while other replies arrive', async () => {
    const { origin, requests } = await upstream((socket, text) => {
      const letter = text.charAt(5)
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 300\r\n\r\n')
      for (const part of [0, 1, 2]) setTimeout(() => socket.write(letter.repeat(100)), 5 * part)
    })
    const pool = poolTo(origin)
    const pieces: Record<string, Buffer[]> = { a: [], b: [], c: [] }
    const reads = Object.entries(pieces).map(([letter, kept]) =>
      send(pool, { path: `/${letter}`, onPiece: (piece) => kept.push(piece) }),
    )
    await Promise.all(reads)
    expect(requests).toHaveLength(3)
    for (const [letter, kept] of Object.entries(pieces)) expect(Buffer.concat(kept).toString()).toBe(letter.repeat(300))
  })

  it('writes a request unchanged, with its length and host', async () => {
    const { origin, requests, port } = await upstream((socket) => socket.write(ok))
    const pool = poolTo(origin)
    await send(pool, {
      path: '/v1/chat?a=b',
      method: 'POST',
      headers: { Accept: 'x', authorization: 'Bearer \u00e9' },
      body: Buffer.from('{"a":"ä"}'),
    })
    expect(requests).toEqual([
      `POST /v1/chat?a=b HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\nAccept: x\r\nauthorization: Bearer \u00e9\r\ncontent-length: 10\r\n\r\n${Buffer.from('{"a":"ä"}').toString('latin1')}`,
    ])
    await send(pool, { headers: { host: 'other.test' } })
    expect(requests[1]).toBe('GET / HTTP/1.1\r\nhost: other.test\r\nconnection: keep-alive\r\n\r\n')
  })

  it('writes a long body byte for byte', async () => {
    let received = 0
    const { origin } = await upstream((socket, text) => {
      received += text.length
      if (text.endsWith('!')) socket.write(ok)
    })
    const body = Buffer.alloc(1_000_000, 'a')
    body.write('!', body.length - 1)
    await send(poolTo(origin), { method: 'POST', body })
    expect(received).toBeGreaterThan(1_000_000)
  })

  it.each([
    [{ path: '/a b' }, 'a space in the path'],
    [{ path: '/a\r\nx: y' }, 'a line break in the path'],
    [{ path: 'http://other.test/' }, 'a whole address as path'],
    [{ headers: { 'a b': 'c' } }, 'a space in a name'],
    [{ headers: { a: 'b\r\nc: d' } }, 'a line break in a value'],
    [{ headers: { a: '\u4e2d' } }, 'characters beyond Latin-1'],
    [{ headers: { 'Transfer-Encoding': 'chunked' } }, 'a framing of its own'],
    [{ headers: { 'content-length': '5' } }, 'a length of its own'],
  ] satisfies [Sent, string][])('refuses %j, and sends nothing: %s', async (request: Sent, _reason: string) => {
    const { origin, requests } = await upstream((socket) => socket.write(ok))
    const pool = poolTo(origin)
    await expect(send(pool, request)).rejects.toBeInstanceOf(TypeError)
    expect(await send(pool)).toBe('ok')
    expect(requests).toHaveLength(1)
  })

  it('reuses an idle connection, and opens another only when none is idle', async () => {
    const { origin, sockets } = await upstream((socket) => setTimeout(() => socket.write(ok), 5))
    const pool = poolTo(origin)
    for (let round = 0; round < 3; round++) await send(pool)
    expect(sockets).toHaveLength(1)
    await Promise.all([send(pool), send(pool), send(pool)])
    expect(sockets).toHaveLength(3)
    expect(pool.running).toBe(0)
  })

  it('queues requests in order when all its connections are in use', async () => {
    const { origin, sockets, requests } = await upstream((socket) => setTimeout(() => socket.write(ok), 2))
    const pool = poolTo(origin, 2)
    await Promise.all(Array.from({ length: 8 }, (_, index) => send(pool, { path: `/${index}` })))
    expect(sockets).toHaveLength(2)
    expect(requests.map((text) => text.slice(5, 6)).join('')).toBe('01234567')
  })

  it.each([
    ['is closed by the reply', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'],
    ['has bytes behind the reply', `${ok}HTTP/1.1 200 OK\r\n\r\n`],
    ['is about to be closed', 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok'],
    ['announces a body that its status has not', 'HTTP/1.1 204 None\r\ncontent-length: 2\r\n\r\n'],
  ])('does not reuse a connection that %s', async (_title, reply) => {
    const { origin, sockets } = await upstream((socket) => socket.write(reply))
    const pool = poolTo(origin)
    await send(pool)
    await send(pool)
    expect(sockets).toHaveLength(2)
  })

  it('closes an idle connection on which bytes arrive', async () => {
    const { origin, sockets } = await upstream((socket) => socket.write(ok))
    const pool = poolTo(origin)
    await send(pool)
    sockets[0]?.write(ok)
    if (sockets[0]) await once(sockets[0], 'close')
    expect(await send(pool)).toBe('ok')
    expect(sockets).toHaveLength(2)
  })

  it('marks a failed request as safe to repeat only if its reused connection was closed at once', async () => {
    const { origin } = await upstream((socket, text) => {
      if (text.startsWith('GET /good')) socket.write(ok)
      else if (text.startsWith('GET /half')) socket.end('HTTP/1.1 200 OK\r\n')
      else socket.destroy()
    })
    const pool = poolTo(origin)
    const failure = (path: string) => send(pool, { path }).catch((error: unknown) => error)
    expect(await failure('/bad')).toMatchObject({ isSafeToRepeat: false })
    await send(pool, { path: '/good' })
    expect(await failure('/bad')).toMatchObject({ isSafeToRepeat: true })
    await send(pool, { path: '/good' })
    expect(await failure('/half')).toMatchObject({ isSafeToRepeat: false })
    expect(await failure('/bad')).toBeInstanceOf(ConnectionClosed)
  })

  it('aborts one request without affecting others and their connections', async () => {
    const { origin, sockets } = await upstream((socket, text) => {
      socket.write(text.startsWith('GET /long') ? 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun' : ok)
    })
    const pool = poolTo(origin)
    await send(pool)
    const reason = new Error('enough')
    await expect(send(pool, { path: '/long', onData: (controller) => controller.abort(reason) })).rejects.toBe(reason)
    expect(await send(pool)).toBe('ok')
    expect(sockets).toHaveLength(2)
    let late: { abort(reason: Error): void } | undefined
    await send(pool, { onData: (controller) => (late = controller) })
    // After the end of its request a handler can no longer close the connection.
    const next = send(pool)
    late?.abort(reason)
    expect(await next).toBe('ok')
    expect(sockets).toHaveLength(2)
  })

  it('sends nothing for a handler that aborts at once, and keeps the connection', async () => {
    const { origin, requests, sockets } = await upstream((socket) => socket.write(ok))
    const pool = poolTo(origin)
    const reason = new Error('left')
    await expect(send(pool, { onStart: (controller) => controller.abort(reason) })).rejects.toBe(reason)
    expect(await send(pool)).toBe('ok')
    expect([requests.length, sockets.length]).toEqual([1, 1])
  })

  it('lets an upstream wait while its reader is paused', async () => {
    const size = 20_000_000
    let sent = 0
    const { origin } = await upstream((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`)
      const piece = Buffer.alloc(100_000)
      const more = () => {
        while (sent < size) {
          sent += piece.length
          if (!socket.write(piece)) return void socket.once('drain', more)
        }
      }
      more()
    })
    let isPaused = false
    const reading = send(poolTo(origin), {
      onData(controller) {
        if (isPaused) return
        isPaused = true
        controller.pause()
        setTimeout(() => {
          expect(sent).toBeLessThan(size)
          controller.resume()
        }, 200)
      },
    })
    expect((await reading).length).toBe(size)
  })

  it('closes when its requests have ended, and accepts no more', async () => {
    let answer = () => {}
    const { origin, sockets, requests } = await upstream((socket) => {
      answer = () => socket.write(ok)
    })
    const pool = poolTo(origin)
    const running = send(pool)
    await vi.waitUntil(() => requests.length === 1)
    pool.close()
    await expect(send(pool)).rejects.toThrow()
    answer()
    expect(await running).toBe('ok')
    if (sockets[0] && !sockets[0].destroyed) await once(sockets[0], 'close')
  })

  it('fails running and waiting requests when it is destroyed', async () => {
    const { origin, requests } = await upstream(() => {})
    const pool = poolTo(origin, 1)
    const all = Promise.allSettled([send(pool), send(pool)])
    await vi.waitUntil(() => requests.length === 1)
    await pool.destroy()
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  it('fails each request with the error of its own connection attempt', async () => {
    const { port } = await upstream(() => {})
    const pool = poolTo(`http://127.0.0.1:${port}`)
    for (const close of closers.splice(0, 1)) close()
    const all = await Promise.allSettled([send(pool), send(pool)])
    expect(all.map((each) => each.status === 'rejected' && each.reason.code)).toEqual(['ECONNREFUSED', 'ECONNREFUSED'])
  })
})
