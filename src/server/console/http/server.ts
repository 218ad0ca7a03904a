import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, isIPv6, type Socket, type Server as TcpServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { clientReader } from '../../base/lib/net/client-address.ts'
import { declineUpgrade, wantsWebSocket } from '../../base/lib/net/decline-upgrade.ts'
import { DescriptorWatch } from '../../base/lib/process/descriptors.ts'
import { answerHalfClosed, listenOn, stopAccepting } from '../../base/lib/process/node-internals.ts'
import { root } from '../../base/lib/process/root.ts'
import { handleBatch } from '../../gateway/batches/handle.ts'
import { readContentOrResults } from '../../gateway/batches/results.ts'
import { handleFile } from '../../gateway/files/handle.ts'
import { relayRouter } from '../../gateway/relay/router.ts'
import { socketRouter } from '../../gateway/relay/socket-router.ts'
import { handleTask } from '../../gateway/tasks/handle.ts'
import type { App } from '../../watch/parts.ts'
import { allHandlers } from '../calls/handlers.ts'
import { openBasePath } from './base-path.ts'
import { buildConsoleServer } from './console-server.ts'
import { canSharePort, listenBeside, nobodyWaits, portOfSupervisor } from './listeners.ts'
import { readConsoleFiles } from './static-files.ts'

/** The output folder of the console's build. */
export const builtWeb = join(root, 'dist/web')

interface RunningServer {
  /** With the base path. */
  readonly url: string
  /**
   * Says that it is not ready any more, and serves on: load balancers notice, and send their requests elsewhere. Each connection is closed
   * after its next answer.
   */
  leave(): void
  /**
   * Graceful shutdown: accepts no new connection once none is waiting, lets running requests end up to the limit, aborts the rest, and closes. A request
   * that arrives on an open connection is answered; idle ones are closed after `idleMs`.
   */
  stop(limitMs: number, idleMs?: number): Promise<void>
  /** Aborts running requests during a stop: callers get an error, and are charged for the output received. */
  cut(): void
}

/** One `node:http` server: the relay takes its own paths before the console's router sees them. `files` are those of the console. */
export async function listen(app: App, files = readConsoleFiles(builtWeb)): Promise<RunningServer> {
  const readClient = clientReader(app.env.TRUSTED_PROXIES)
  const relay = relayRouter(app, readClient, {
    task: handleTask,
    file: (parts, fileCall, call) => handleFile(parts, fileCall, call, readContentOrResults),
    batch: handleBatch,
  })
  const sockets = socketRouter(app, readClient)
  const descriptors = new DescriptorWatch(app.logger)
  const basePath = openBasePath(app, readClient)
  let isReady = true
  let server: Server | undefined
  const console = buildConsoleServer(app, allHandlers, {
    files,
    isReady: () => isReady && !descriptors.isShort,
    serverFactory: (handler) => {
      const created = createServer(limits, (request, response) => {
        // A load balancer that keeps connections open has none left to send on when this server is gone.
        if (!isReady) response.shouldKeepAlive = false
        if (request.httpVersionMajor < 1) refuseOldest(request)
        else if (basePath && !basePath.enter(request)) basePath.refuse(request, response)
        else if (!relay.takes(request, response)) handler(request, response)
      })
      answerHalfClosed(created)
      created.on('timeout', closeWhenSilent)
      created.on('upgrade', (request, socket, head) => {
        if (wantsWebSocket(request) && (!basePath || basePath.enter(request))) sockets.takes(request, socket, head)
        else declineUpgrade(created, request, socket, head)
      })
      server = created
      return created
    },
  })
  const { PORT: port, HOST: host } = app.env
  const supervised = app.siblings && listenOn(await portOfSupervisor(), backlog)
  const sharing = !supervised && (await canSharePort({ host, port })) ? { reusePort: true } : undefined
  await console.listen({ port, host, backlog, ...sharing, ...supervised })
  // Fastify has called the factory at this point.
  const running = server as unknown as Server
  const beside = sharing ? await listenBeside(running, { host, backlog }) : []

  const { promise: left, resolve: giveUp } = Promise.withResolvers<void>()
  const cut = async () => {
    app.logger.warn({ calls: relay.running + sockets.running }, 'running calls are cut')
    relay.cut()
    sockets.cut()
    await Promise.race([relay.drain(), pause(chargingMs)])
    if (relay.goingOnAlone > 0) {
      await Promise.race([relay.drain(), pause(Math.max(0, app.env.DRAIN_RESUMABLE * 1000 - chargingMs))])
      relay.cutResumable()
      await Promise.race([relay.drain(), pause(chargingMs)])
    }
    await pause(tellingMs)
    running.closeAllConnections()
    sockets.destroy()
    giveUp()
  }

  return {
    url: `http://${namedInUrl(host)}:${(running.address() as AddressInfo).port}${app.env.BASE_PATH}`,
    leave() {
      isReady = false
    },
    async stop(limitMs, idleMs = 0) {
      isReady = false
      app.logger.info({ calls: relay.running + sockets.running }, 'stopping: no more connections are accepted, running calls end')
      await nobodyWaits(running)
      const ended = Promise.all([...[running, ...beside].map(closed), sockets.drain()])
      const limit = setTimeout(() => void cut(), limitMs)
      // A proxy may be sending on a connection that is idle here.
      await Promise.race([ended, pause(idleMs)])
      const idle = setInterval(() => running.closeIdleConnections(), idleEveryMs)
      running.closeIdleConnections()
      await Promise.race([ended, left])
      // Callers that have disconnected may still have a charge.
      await Promise.race([relay.drain(), left])
      clearInterval(idle)
      clearTimeout(limit)
      await console.close()
      descriptors.close()
    },
    cut: () => void cut(),
  }
}

/** The host in a URL for a browser on this machine. */
function namedInUrl(host: string): string {
  if (['127.0.0.1', '0.0.0.0', '::1', '::'].includes(host)) return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}

/**
 * Accepts no more connections, and resolves when the last has ended. Idle connections stay open, because `close` of HTTP does not
 * close them.
 */
function closed(server: TcpServer): Promise<void> {
  return new Promise((resolve) => stopAccepting(server, resolve))
}

/**
 * Closes a connection that was idle for too long, unless a request has arrived that was not read yet: the process may have been
 * suspended.
 */
function closeWhenSilent(socket: Socket): void {
  const { bytesRead } = socket
  setImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy()
  })
}

/** HTTP/0.9 has neither headers nor statuses: no supported client sends it. Answered as a malformed request. */
function refuseOldest({ socket }: IncomingMessage): void {
  socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
}

/** Thousands of connections may arrive at the same moment, for example when another node has stopped. */
const backlog = 4096
const idleEveryMs = 50
/** Time limits for the charges and errors of aborted requests, and for callers to read them. */
const chargingMs = 10_000
const tellingMs = 1_000

const limits = {
  headersTimeout: 15_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  connectionsCheckingInterval: 5_000,
  noDelay: true,
} as const
