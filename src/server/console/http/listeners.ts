import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { portWanted } from '../../base/bus/siblings.ts'
import type { BoundPort } from '../../base/lib/process/node-internals.ts'

/**
 * Node accepts one connection for each listening socket in an iteration of its event loop. Beside a thousand streams an iteration takes
 * 20 ms: with one socket, 50 connections a second are accepted, and callers behind them wait for seconds.
 */
const listeners = 16

let isSupported: Promise<boolean> | undefined

/**
 * Whether several sockets of this process can listen on a port: by `SO_REUSEPORT`, on Linux and some BSD. A port in use is refused with the error of `listen`: another Sluice would share it unnoticed.
 */
export async function canSharePort(address: { host: string; port: number }): Promise<boolean> {
  isSupported ??= listensTwice(address.host)
  if (!(await isSupported)) return false
  await close(await listening(createServer(), address))
  return true
}

/**
 * The one socket of the processes of `WORKERS`, from their supervisor: a connection that waits at the socket of one process would be lost
 * when that process dies. Without a port this start is being stopped, and the process ends.
 */
export async function portOfSupervisor(): Promise<BoundPort> {
  process.send?.(portWanted)
  const [, port] = (await once(process, 'message')) as [unknown, BoundPort | undefined]
  return port ?? process.exit(0)
}

async function listensTwice(host: string): Promise<boolean> {
  const first = await listening(createServer(), { host, port: 0, reusePort: true }).catch(() => undefined)
  if (!first) return false
  const second = await listening(createServer(), { host, port: portOf(first), reusePort: true }).catch(() => undefined)
  await Promise.all([close(first), second && close(second)])
  return second !== undefined
}

/** Opens more sockets on the port on which `server` listens with `reusePort`. Their connections are passed to `server`. */
export async function listenBeside(server: HttpServer, options: { host: string; backlog: number }): Promise<Server[]> {
  const port = portOf(server)
  return Promise.all(
    Array.from({ length: listeners - 1 }, () => {
      const beside = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket))
      return listening(beside, { ...options, port, reusePort: true })
    }),
  )
}

/** An iteration of the event loop in which so little time passes, and no connection is accepted, leaves none waiting. */
const quietMs = 0.2
const waitMs = 1000

/**
 * Resolves, in the middle of an iteration of the event loop, when no connection waits to be accepted: the system resets those that wait at a
 * listening socket that is closed, with a request of theirs. Under a load that never pauses it resolves after a second.
 */
export async function nobodyWaits(server: Server): Promise<void> {
  let accepted = 0
  const count = () => {
    accepted++
  }
  server.on('connection', count)
  // From here on each pause covers a whole iteration, in which connections are accepted.
  await setImmediate()
  for (const latest = performance.now() + waitMs; performance.now() < latest; ) {
    const before = accepted
    const startedAt = performance.now()
    await setImmediate()
    if (accepted === before && performance.now() - startedAt < quietMs) break
  }
  server.off('connection', count)
}

async function listening(server: Server, options: ListenOptions): Promise<Server> {
  server.listen(options)
  await once(server, 'listening')
  return server
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
