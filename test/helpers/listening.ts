import type { AddressInfo, Server } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server of HTTP or HTTPS. */
type WebServer = Server & { closeAllConnections(): void }

/** Has a server listen on loopback, on any free port unless one is given. Returns the port. */
export async function listeningPort(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve))
  // It listens on a port, not on a pipe.
  return (server.address() as AddressInfo).port
}

/** The same for a server of HTTP. Returns its origin. */
export async function listening(server: Server, port = 0): Promise<string> {
  return `http://127.0.0.1:${await listeningPort(server, port)}`
}

/** The same until the end of the running test. */
export function listeningInTest(server: WebServer): Promise<string> {
  onTestFinished(() => void closing(server))
  return listening(server)
}

export function closing(server: WebServer): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => void server.close(() => resolve()))
}
