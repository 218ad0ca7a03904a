import type { Server, ServerResponse } from 'node:http'
import net, { isIPv6, type Socket, Server as TcpServer } from 'node:net'
import { getSystemErrorName } from 'node:util'
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

/** A port that this process has bound. Processes that it is sent to listen and accept on it; this one does not accept. */
export interface BoundPort {
  listen(backlog: number): number
  close(): void
}

/** The option of `net.Server.listen` for a bound port, which takes the place of its host and port. Node would use its own backlog. */
export function listenOn(bound: BoundPort, backlog: number): { _handle: BoundPort } {
  const listen = bound.listen.bind(bound)
  bound.listen = () => listen(backlog)
  return { _handle: bound }
}

/**
 * Binds a port without listening. While the process that bound it lives, connections wait for the next process that accepts, even if all
 * that did so have died. Throws an error with the code of the system, such as `EADDRINUSE`.
 */
export function bindPort({ address, port }: { address: string; port: number }): BoundPort {
  const bound = (net as typeof net & NetInternals)._createServerHandle(address, port, isIPv6(address) ? 6 : 4)
  if (typeof bound === 'number') throw portError(getSystemErrorName(bound), { address, port })
  const name: { port?: number } = {}
  bound.getsockname(name)
  // The system may report an error of `bind` only when the port is listened on, which would then be a random one.
  if (port === 0 || name.port === port) return bound
  bound.close()
  throw portError('EADDRINUSE', { address, port })
}

interface NetInternals {
  _createServerHandle(address: string, port: number, family: 4 | 6): number | (BoundPort & { getsockname(name: object): number })
}

function portError(code: string, { address, port }: { address: string; port: number }): Error {
  return Object.assign(new Error(`listen ${code}: ${address}:${port}`), { code })
}

/** Stops accepting connections and calls `ended` when the last one is closed. `Server.close` of HTTP would close idle ones as well. */
export function stopAccepting(server: TcpServer, ended: () => void): void {
  TcpServer.prototype.close.call(server, () => ended())
}

/** Replaces how Node closes a connection after an answer with `connection: close`. A call that is injected has no real socket. */
export function closeConnectionBy(socket: Socket, close: () => void): void {
  socket.destroySoon = close
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
