import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { ConnectionClosed } from './upstream-http/connection.ts'

/**
 * Two things about keep-alive connections that undici does not handle: whether a failed request was written to a connection that the
 * upstream had just closed as idle, and informational replies (100, 102, 103), which must be skipped.
 */

/** The state of a connection: the number of its requests, and its current request. */
interface Use {
  requests: number
  sentMs: number
  /** Bytes of a reply have arrived, at least of an interim one. */
  hasReply: boolean
  awaitsHead: boolean
  /** The first bytes of a reply, while they are too few to distinguish it from an interim one. */
  held: Buffer | undefined
}

const uses = new WeakMap<object, Use>()
/** The last state of a connection, by the error that ended it. */
const lastUses = new WeakMap<Error, Use & { readonly endedMs: number }>()

/** Published by undici when it writes the head of a request. */
subscribe('undici:client:sendHeaders', (message) => {
  // The type that undici documents.
  const { socket } = message as { socket: Socket }
  const use = uses.get(socket)
  if (!use) return
  use.requests++
  use.sentMs = performance.now()
  use.hasReply = false
  use.awaitsHead = true
  use.held = undefined
})

/** Watches a new connection before undici gets it. */
export function watchConnection(socket: Socket): void {
  const use: Use = { requests: 0, sentMs: 0, hasReply: false, awaitsHead: false, held: undefined }
  uses.set(socket, use)
  socket.once('error', (cause) => lastUses.set(cause, { ...use, endedMs: performance.now() }))
  const read = socket.read.bind(socket)
  socket.read = (size?: number) => {
    const chunk: unknown = read(size)
    if (!use.awaitsHead || !Buffer.isBuffer(chunk)) return chunk
    use.hasReply = true
    return withoutInterim(use, use.held ? Buffer.concat([use.held, chunk]) : chunk)
  }
}

/** When the connection stayed open for longer after the request was written, the upstream may have begun to process it. */
const unreadWithinMs = 200

/**
 * Whether a request failed because the upstream had closed the idle keep-alive connection: it was not the first request on it, no byte
 * of a reply arrived, and the connection ended within 200 ms after the request was written. Only then is a retry safe.
 */
export function wasClosedWhileIdle(cause: Error): boolean {
  if (cause instanceof ConnectionClosed) return cause.isSafeToRepeat
  const use = lastUses.get(cause)
  const isClosed = 'code' in cause && ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(String(cause.code))
  return isClosed && use !== undefined && use.requests > 1 && !use.hasReply && use.endedMs - use.sentMs <= unreadWithinMs
}

/** Removes interim replies from the start of the bytes read; null when no bytes remain. */
function withoutInterim(use: Use, bytes: Buffer): Buffer | null {
  use.held = undefined
  for (let from = 0; ; ) {
    const rest = bytes.subarray(from)
    if (!mayBeInterim(rest)) {
      use.awaitsHead = false
      return rest
    }
    const end = bytes.indexOf('\r\n\r\n', from)
    if (end < 0) {
      if (rest.length > 0) use.held = rest
      return null
    }
    from = end + 4
  }
}

/** Undici itself handles 101, and refuses heads that are longer. */
function mayBeInterim(bytes: Buffer): boolean {
  if (bytes.length > headBytesMax) return false
  const line = bytes.toString('latin1', 0, 12)
  return line.length < 12 ? 'HTTP/1.1 1'.startsWith(line.slice(0, 10)) : /^HTTP\/1\.1 1(?!01)\d\d/.test(line)
}

const headBytesMax = 16 * 1024
