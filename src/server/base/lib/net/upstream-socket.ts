import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { Connector } from './connect.ts'
import { MalformedReply, mayBeginReply } from './upstream-http/reply-parser.ts'

/** A WebSocket to a configured upstream, over the same guarded and proxied connections as its HTTP calls. */
interface SocketTarget {
  /** ws or wss. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Time limit from the start of the connection to the answer to the handshake. */
  readonly handshakeMs: number
}

/** Limit of one message, larger than any event of the vendors' APIs: 16 MiB of audio in base64 fit. */
const frameBytesMax = 24 * 1024 * 1024

/** Settings of both ends of a relayed socket: no compression, and a bounded buffer for one message. */
export const socketLimits = {
  perMessageDeflate: false,
  maxPayload: frameBytesMax,
  maxFragments: 4096,
  closeTimeout: 5_000,
} as const

/**
 * Begins to connect. Add listeners at once: it emits `open`, `unexpected-response` with the answer of an upstream that refuses, or
 * `error`.
 */
export function openSocket(connect: Connector, { url, headers, handshakeMs }: SocketTarget): WebSocket {
  const to = {
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    protocol: url.protocol === 'wss:' ? 'https:' : 'http:',
    port: url.port,
  }
  const createConnection = (_options: unknown, done: (error: Error | null, socket?: unknown) => void) => {
    connect(to, (...[error, socket]) => {
      if (error) return done(error)
      refuseOtherProtocols(socket)
      done(null, socket)
    })
  }
  return new WebSocket(url, {
    ...socketLimits,
    headers: { ...headers },
    handshakeTimeout: handshakeMs,
    // Node calls it with a callback, and waits for that when nothing is returned; the types only know `net.createConnection`.
    createConnection: createConnection as never,
  })
}

/** Node's parser accepts the status line of HTTP/2.0, and would wait for the rest of it until the deadline of the handshake. */
function refuseOtherProtocols(socket: Socket): void {
  let start = Buffer.alloc(0)
  const read = (bytes: Buffer) => {
    start = Buffer.concat([start, bytes.subarray(0, startBytes)])
    if (!mayBeginReply(start)) socket.destroy(new MalformedReply('The answer to the handshake is not HTTP/1.1'))
    else if (start.length >= startBytes) socket.off('data', read)
  }
  socket.on('data', read)
}

const startBytes = 16
