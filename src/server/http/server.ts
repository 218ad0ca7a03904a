import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { allHandlers } from '../console/handlers.ts'
import { clientReader } from '../lib/client-address.ts'
import { declineUpgrade, wantsWebSocket } from '../lib/decline-upgrade.ts'
import type { App } from '../parts.ts'
import { relayLane } from '../relay/lane.ts'
import { socketLane } from '../relay/socket-lane.ts'
import { handleTask } from '../tasks/handle.ts'
import { buildConsoleServer } from './console-server.ts'

export interface RunningServer {
  readonly url: string
  /** Refuses new work, lets running replies end up to the limit, and closes. */
  stop(limitMs: number): Promise<void>
}

/** One `node:http` server: the relay takes its own paths before the console's router sees them. */
export async function listen(app: App): Promise<RunningServer> {
  const readClient = clientReader(app.env.TRUSTED_PROXIES)
  const lane = relayLane(app, readClient, handleTask)
  const sockets = socketLane(app, readClient)
  let isStopping = false
  let server: Server | undefined
  const console = buildConsoleServer(app, allHandlers, {
    isStopping: () => isStopping,
    serverFactory: (handler) => {
      const created = createServer(limits, (request, response) => {
        if (request.httpVersionMajor < 1) refuseOldest(request)
        else if (!lane.takes(request, response)) handler(request, response)
      })
      created.on('upgrade', (request, socket, head) => {
        if (wantsWebSocket(request)) sockets.takes(request, socket, head)
        else declineUpgrade(created, request, socket, head)
      })
      server = created
      return created
    },
  })
  await console.listen({ port: app.env.PORT, host: app.env.HOST })
  // Fastify has called the factory by now.
  const running = server as unknown as Server
  const { port } = running.address() as AddressInfo

  return {
    url: `http://${app.env.HOST === '127.0.0.1' || app.env.HOST === '0.0.0.0' ? 'localhost' : app.env.HOST}:${port}`,
    async stop(limitMs) {
      isStopping = true
      const limit = setTimeout(() => {
        lane.cut()
        sockets.cut()
        running.closeAllConnections()
      }, limitMs)
      await Promise.all([lane.drain(), sockets.drain()])
      await console.close()
      clearTimeout(limit)
    },
  }
}

/** HTTP/0.9 knows neither headers nor statuses: whatever sent this is no client of ours. Answered as what cannot be read at all. */
function refuseOldest({ socket }: IncomingMessage): void {
  socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
}

const limits = {
  headersTimeout: 15_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  connectionsCheckingInterval: 5_000,
  noDelay: true,
} as const
