import { IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Socket, Server as TcpServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'

/**
 * Everything that relies on undocumented behaviour of Node. Each function is one such reliance, and `node-internals.test.ts` checks
 * each. New reliances go here and nowhere else.
 */

/**
 * Lets a caller half-close the connection (FIN) after the request and still receive the answer. By default Node closes the
 * connection at once. A connection without a pending answer is closed as before; one with a pending answer, after that answer.
 */
export function answerHalfClosed(server: Server): void {
  const withFlag: Server & { httpAllowHalfOpen?: boolean } = server
  if (typeof withFlag.httpAllowHalfOpen !== 'boolean') throw new Error('This Node has no http.Server.httpAllowHalfOpen')
  withFlag.httpAllowHalfOpen = true
}

/**
 * Makes V8 allocate every object in the young generation. Where most objects that were made at one place in the code are
 * long-lived, V8 allocates all further ones in the old generation. The deadlines of requests come from such a place: each died in
 * the old generation and kept its whole request alive until the next major collection, which cost a quarter of the processor time
 * of a call.
 */
export function allocateYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * Keeps the young generation at its first size while modules load. V8 would double it again and again, because modules survive, and
 * keep that memory although no calls need it yet: 14 MB in a server without traffic.
 */
export function holdYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Lets the young generation grow to its full size, in one step, as soon as calls need it. */
export function releaseYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=16')
}

/** Stops accepting connections and calls `ended` when the last one is closed. `Server.close` of HTTP would close idle ones as well. */
export function stopAccepting(server: TcpServer, ended: () => void): void {
  TcpServer.prototype.close.call(server, () => ended())
}

/** Replaces how Node closes a connection after an answer with `connection: close`. A call that is injected has no real socket. */
export function closeConnectionBy(socket: Socket, close: () => void): void {
  socket.destroySoon = close
}

/** A request on no connection, for a call that this server makes to itself. Its body may be pushed; its socket never opens. */
export function newDetachedRequest(): IncomingMessage {
  return new IncomingMessage(new Socket())
}

/**
 * Switches off Node's chunked transfer coding of an answer whose head was written, so that its chunks can be framed by the caller
 * of this function. Returns false when the answer is not chunked (HTTP/1.0, HEAD).
 */
export function takeOverChunking(response: ServerResponse): boolean {
  if (!response.chunkedEncoding) return false
  response.chunkedEncoding = false
  return true
}
