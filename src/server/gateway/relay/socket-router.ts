import { type IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { fail } from '../../base/lib/failure.ts'
import type { Client, ClientReader } from '../../base/lib/net/client-address.ts'
import { requireFewHeaders } from '../../base/lib/net/header-limits.ts'
import { lingeringClose } from '../../base/lib/net/lingering-close.ts'
import { socketLimits } from '../../base/lib/net/upstream-socket.ts'
import { newRequestId } from '../../base/lib/secrets/ids.ts'
import { refuseLoop } from '../channels/request/site-hops.ts'
import type { Dialect } from '../protocols/format.ts'
import { asAppError, noteEndOfCall } from './charge/end-of-call.ts'
import { handleRelay } from './handle-request.ts'
import { HttpAnswer } from './http/answer.ts'
import { ClientExchange } from './http/client-exchange.ts'
import { findEndpoint, findSocketEndpoint, type RelayEndpoint, refuseRoute } from './http/endpoints.ts'
import { type Handshake, handleRealtime, type Stoppable } from './realtime/handshake.ts'
import { handleResponsesSocket } from './realtime/responses-socket.ts'
import type { RelayParts } from './relay-parts.ts'

/**
 * The router of WebSockets: it handles every upgrade request, and answers 404 for unknown paths. `drain` announces to the sessions
 * that the server stops and resolves when the last has ended; `cut` ends them now, and `destroy` destroys their connections.
 */
export function socketRouter(app: RelayParts, readClient: ClientReader) {
  // One of the subprotocols that a browser offers is accepted, but never the one with the key.
  const server = new WebSocketServer({ ...socketLimits, noServer: true, clientTracking: false, handleProtocols: chooseProtocol })
  const sessions = new Set<Stoppable>()
  /** Connections that requested a WebSocket: the HTTP server no longer tracks them, yet it waits for them when it closes. */
  const connections = new Set<Duplex>()
  let running = 0
  let isStopping = false
  let onIdle: (() => void) | undefined

  const answer = (endpoint: RelayEndpoint, call: ClientExchange) => handleRelay(app, endpoint, call)

  async function serve(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const url = request.url ?? '/'
    const endpoint = findSocketEndpoint(url)
    const format = endpoint?.format ?? 'other'
    const isSession = endpoint?.carries === 'session'
    const unserved = endpoint ? undefined : findEndpoint('GET', url, request.headers)
    const { call, detach } = callOver(
      app,
      { format, dialect: unserved?.dialect ?? 'openai' },
      { request, socket },
      readClient(request),
    )
    const mine = new Set<Stoppable>()
    const handshake: Handshake = {
      call,
      query: queryOf(url),
      offered: protocolsOf(request),
      accept: () => {
        detach()
        call.notes.isUpgraded = true
        return accepted(server, request, socket, head)
      },
      runs(session) {
        mine.add(session)
        sessions.add(session)
        if (isStopping) session.stop()
      },
    }
    let outcome = '101'
    try {
      requireFewHeaders(request)
      refuseLoop(app, request.headers)
      if (isStopping) fail('server_stopping')
      if (unserved) refuseRoute('GET', unserved, url)
      requireHandshake(request)
      await (isSession ? handleRealtime(app, handshake) : handleResponsesSocket(app, handshake, answer))
      if (call.isCommitted) outcome = String(call.status)
    } catch (error) {
      const appError = asAppError(app, call, error)
      outcome = appError.code
      if (call.notes.isUpgraded) socket.destroy()
      else call.sendError(appError)
    }
    noteEndOfCall(app, call, { kind: isSession ? 'relay' : 'socket', format })
    for (const session of mine) sessions.delete(session)
    app.metrics.relayRequests.count(format, outcome)
  }

  return {
    takes(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      running++
      app.metrics.relayOpen.inc()
      connections.add(socket)
      socket.once('close', () => connections.delete(socket))
      void serve(request, socket, head).finally(() => {
        running--
        app.metrics.relayOpen.dec()
        if (running === 0) onIdle?.()
      })
    },
    get running(): number {
      return running
    },
    drain(): Promise<void> {
      isStopping = true
      for (const session of sessions) session.stop()
      return running === 0 ? Promise.resolve() : new Promise((resolve) => (onIdle = resolve))
    },
    cut(): void {
      for (const session of sessions) session.cut()
    },
    destroy(): void {
      for (const socket of connections) socket.destroy()
    },
  }
}

/** Until the handshake is accepted, errors are ordinary HTTP responses. */
function callOver(
  { now, steady, callTracer }: Pick<RelayParts, 'callTracer' | 'now' | 'steady'>,
  { format, dialect }: { readonly format: string; readonly dialect: Dialect },
  { request, socket }: { readonly request: IncomingMessage; readonly socket: Duplex },
  client: Client,
) {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  // The connection of an upgrade request is always a `Socket`.
  if (socket instanceof Socket) response.assignSocket(socket)
  const ignore = () => {}
  socket.on('error', ignore)
  const close = () => lingeringClose(socket)
  response.once('finish', close)
  const startedMs = steady()
  const call = new ClientExchange(new HttpAnswer(request, response), {
    id: newRequestId(now()),
    dialect,
    language: 'en',
    client,
    startedMs,
    request,
    trace: callTracer?.begin({ headers: request.headers, format, startedMs }),
  })
  const detach = () => {
    response.off('finish', close)
    if (socket instanceof Socket) response.detachSocket(socket)
    socket.off('error', ignore)
  }
  return { call, detach }
}

function accepted(server: WebSocketServer, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<WebSocket> {
  if (socket.destroyed) return Promise.reject(new Error('The caller has left'))
  return new Promise((resolve, reject) => {
    socket.once('close', () => reject(new Error('The caller has left')))
    server.handleUpgrade(request, socket, head, (client) => {
      client.pause()
      resolve(client)
    })
  })
}

/** Refuses handshakes that `ws` would answer by closing the socket. */
function requireHandshake({ headers }: IncomingMessage): void {
  const version = headers['sec-websocket-version']
  const isWhole = /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '') && (version === '13' || version === '8')
  if (!isWhole) fail('bad_request', { reason: 'the WebSocket handshake is incomplete' })
}

function protocolsOf({ headers }: IncomingMessage): string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
}

function chooseProtocol(offered: ReadonlySet<string>): string | false {
  return offered.has('realtime') ? 'realtime' : false
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at))
}
