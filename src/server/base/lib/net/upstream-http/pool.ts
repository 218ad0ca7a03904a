import { channel } from 'node:diagnostics_channel'
import type { Connector } from '../connect.ts'
import { literalHost } from '../outgoing-url.ts'
import { ConnectionClosed, type ReplyHandler, type RequestController, readsInto, UpstreamConnection } from './connection.ts'
import type { RequestOptions } from './request-head.ts'

/** A request that is not sent yet. */
interface Waiting {
  readonly options: RequestOptions
  readonly handler: ReplyHandler
}

/** Publishes the options of every request when it is dispatched. */
const requests = channel('sluice:upstream:request')

/** How often idle connections are checked. */
const sweepMs = 5_000

/**
 * HTTP/1.1 connections to one origin. A request takes the connection that was used last, or opens another, up to `connectionsMax`;
 * then requests wait in their order. The caller sets deadlines: the pool has only that of `connect`.
 *
 * All requests of one iteration of the event loop are sent at its end, one after the other: to wake an upstream for each request
 * costs more than to write it, and under load there are many.
 */
export class UpstreamPool {
  /** Opens a connection as those of the pool, for protocols other than HTTP. */
  readonly connect: Connector
  readonly #origin: URL
  readonly #connectionsMax: number
  readonly #open = new Set<UpstreamConnection>()
  readonly #idle: UpstreamConnection[] = []
  readonly #waiting: Waiting[] = []
  #connecting = 0
  #isClosing = false
  #isSendingSoon = false
  #sweeper: NodeJS.Timeout | undefined

  constructor(origin: string, { connect, connectionsMax }: { readonly connect: Connector; readonly connectionsMax: number }) {
    this.#origin = new URL(origin)
    this.connect = connect
    this.#connectionsMax = connectionsMax
  }

  /** Requests whose answer is not complete. */
  get running(): number {
    return this.#open.size - this.#idle.length + this.#waiting.length
  }

  dispatch(options: RequestOptions, handler: ReplyHandler): void {
    if (this.#isClosing) throw new Error('The connections to this upstream are closed')
    if (requests.hasSubscribers) requests.publish({ request: options })
    this.#waiting.push({ options, handler })
    if (!this.#isSendingSoon) {
      this.#isSendingSoon = true
      setImmediate(this.#sendAll)
    }
  }

  /** A request is answered: its connection takes the request that has waited longest, or stays open as idle. */
  idle(connection: UpstreamConnection): void {
    const next = this.#waiting.shift()
    if (next) this.#send(connection, next)
    else if (this.#isClosing) connection.destroy()
    else {
      this.#idle.push(connection)
      this.#sweeper ??= setInterval(() => this.#sweep(), sweepMs).unref()
    }
  }

  closed(connection: UpstreamConnection): void {
    this.#open.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#connectForWaiting()
  }

  /** Accepts no more requests, and closes the connections when running requests have ended. */
  close(): void {
    this.#sendAll()
    this.#isClosing = true
    clearInterval(this.#sweeper)
    for (const connection of this.#idle.splice(0)) connection.destroy()
  }

  /** Closes all connections at once. Running requests get an error. */
  async destroy(): Promise<void> {
    for (const { handler } of this.#waiting.splice(0)) fail(handler, new ConnectionClosed(false))
    this.close()
    for (const connection of [...this.#open]) connection.destroy()
  }

  readonly #sendAll = (): void => {
    this.#isSendingSoon = false
    while (this.#waiting.length > 0) {
      const connection = this.#takeIdle()
      const next = connection && this.#waiting.shift()
      if (!next) break
      this.#send(connection, next)
    }
    this.#connectForWaiting()
  }

  #takeIdle(): UpstreamConnection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.isFresh) return connection
      connection.destroy()
    }
    return undefined
  }

  #connectForWaiting(): void {
    while (this.#connecting < this.#waiting.length && this.#open.size + this.#connecting < this.#connectionsMax)
      this.#connectOne()
  }

  #connectOne(): void {
    const { hostname, protocol, port } = this.#origin
    this.#connecting++
    let connection: UpstreamConnection | undefined
    const onread = readsInto(() => connection)
    this.connect({ hostname: literalHost(hostname), protocol, port, onread }, (...[error, socket]) => {
      this.#connecting--
      if (error) {
        const isLast = this.#connecting === 0 && this.#open.size === 0
        // Nobody else would answer those that wait for a connection beyond the limit.
        for (const { handler } of this.#waiting.splice(0, isLast ? this.#waiting.length : 1)) fail(handler, error)
        return
      }
      connection = new UpstreamConnection(this.#origin, socket, this)
      this.#open.add(connection)
      this.idle(connection)
    })
  }

  #send(connection: UpstreamConnection, { options, handler }: Waiting): void {
    try {
      connection.send(options, handler)
    } catch (error) {
      fail(handler, error instanceof Error ? error : new Error(String(error)))
      this.idle(connection)
    }
  }

  #sweep(): void {
    for (const connection of [...this.#idle]) if (!connection.isFresh) connection.destroy()
    if (this.#idle.length > 0) return
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }
}

/** Reports the error of a request that was never sent. */
function fail(handler: ReplyHandler, error: Error): void {
  handler.onResponseError(unsent, error)
}

const unsent: RequestController = {
  abort() {},
  pause() {},
  resume() {},
}
