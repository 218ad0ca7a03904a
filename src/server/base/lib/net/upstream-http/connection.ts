import type { OnReadOpts, Socket } from 'node:net'
import { lastChunk } from '../../bytes/chunked.ts'
import { type ReplyHeaders, type ReplyListener, ReplyParser } from './reply-parser.ts'
import { isStreamed, type RequestOptions, type StreamedBody, writeRequestHead } from './request-head.ts'

/**
 * The connection ended before its reply was complete. `isSafeToRepeat`: the upstream had closed the idle connection before it could have
 * read the request, so that the request may be sent again.
 */
export class ConnectionClosed extends Error {
  readonly code = 'CONNECTION_CLOSED'
  readonly isSafeToRepeat: boolean

  constructor(isSafeToRepeat: boolean, cause?: unknown) {
    super('The upstream closed the connection', { cause })
    this.isSafeToRepeat = isSafeToRepeat
  }
}

/** A running request, as its handler controls it. */
export interface RequestController {
  /** Closes the connection at once; the reason becomes the error of the handler. Does nothing after the end of the request. */
  abort(reason: Error): void
  pause(): void
  resume(): void
}

/** The receiver of a reply: request start, response start, data, then one of response end and response error. */
export interface ReplyHandler {
  /** The request is about to be written. A handler that aborts here sends nothing. */
  onRequestStart(controller: RequestController): void
  onResponseStart(
    controller: RequestController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void
  onResponseData(controller: RequestController, bytes: Buffer): void
  onResponseEnd(controller: RequestController): void
  onResponseError(controller: RequestController, error: Error): void
}

/** When the connection stayed open for longer after the request was written, the upstream may have begun to process it. */
const unreadWithinMs = 200
const idleMsMax = 60_000
/** An upstream that announces when it closes idle connections gets no request in the last second before that. */
const idleMarginMs = 1000
/** A short request is sent as one string: then head and body are one write without an array of buffers. */
const oneWriteBelow = 16 * 1024

interface ConnectionOwner {
  /** The reply is complete; the connection can carry another request. */
  idle(connection: UpstreamConnection): void
  /** The connection is closed. Its request, if it had one, has failed. */
  closed(connection: UpstreamConnection): void
}

/**
 * Reads of all connections go through one buffer: for a `data` event Node allocates 64 KB, of which a chunk of a stream fills 150
 * bytes. A read is over before the next one begins, and its bytes are copied, because readers may keep them.
 */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024)

/**
 * The option `onread` for the connection that `of` returns once it is made. With TLS it has no effect: there `data` events are
 * read.
 */
export function readsInto(of: () => UpstreamConnection | undefined): OnReadOpts {
  const callback = (length: number) => {
    of()?.read(Buffer.from(readBuffer.subarray(0, length)))
    return true
  }
  return { buffer: readBuffer, callback }
}

class RunningRequest implements RequestController {
  readonly #connection: UpstreamConnection
  readonly handler: ReplyHandler
  isPaused = false
  /** The reason of an abort. */
  reason: Error | undefined

  constructor(connection: UpstreamConnection, handler: ReplyHandler) {
    this.#connection = connection
    this.handler = handler
  }

  abort(reason: Error): void {
    if (this.reason) return
    this.reason = reason
    this.#connection.breakOff(this, reason)
  }

  pause(): void {
    this.isPaused = true
    this.#connection.setFlow(this)
  }

  resume(): void {
    this.isPaused = false
    this.#connection.setFlow(this)
  }
}

/** One connection to an upstream, which carries one request at a time. */
export class UpstreamConnection implements ReplyListener {
  readonly #origin: URL
  readonly #socket: Socket
  readonly #owner: ConnectionOwner
  readonly #parser = new ReplyParser(this)
  #running: RunningRequest | undefined
  #requests = 0
  #sentMs = 0
  #hasReply = false
  /** The request has a body that is sent piece by piece, and the part of it that is not sent yet. */
  #streaming: 'no' | 'sending' | 'sent' = 'no'
  #idleSinceMs = performance.now()
  #idleMs = idleMsMax
  #error: unknown

  constructor(origin: URL, socket: Socket, owner: ConnectionOwner) {
    this.#origin = origin
    this.#socket = socket
    this.#owner = owner
    socket.on('data', (bytes: Buffer) => this.read(bytes))
    socket.on('end', () => this.#ended())
    socket.on('error', (error) => {
      this.#error = error
    })
    socket.once('close', () => this.#closed())
  }

  /** Whether the upstream keeps the idle connection open for long enough to read a request, by its `keep-alive` header. */
  get isFresh(): boolean {
    return !this.#socket.destroyed && performance.now() - this.#idleSinceMs < this.#idleMs
  }

  /** Sends a request on the idle connection. Throws a `TypeError` for a request that cannot be written. */
  send(options: RequestOptions, handler: ReplyHandler): void {
    const { body } = options
    const streamed = isStreamed(body) ? body : undefined
    const whole = isStreamed(body) ? nothing : bodyOf(body)
    const head = writeRequestHead(this.#origin, options, streamed ? streamed.length : whole.length)
    const request = new RunningRequest(this, handler)
    handler.onRequestStart(request)
    if (request.reason) {
      this.#owner.idle(this)
      handler.onResponseError(request, request.reason)
      return
    }
    this.#running = request
    this.#hasReply = false
    this.#parser.reset()
    this.#requests++
    this.#sentMs = performance.now()
    this.#streaming = streamed ? 'sending' : 'no'
    if (streamed) void this.#stream(request, head, streamed)
    else this.#write(head, whole)
  }

  /** Closes the connection. A running request gets an error. */
  destroy(): void {
    this.#fail(new ConnectionClosed(false))
  }

  breakOff(request: RunningRequest, reason: Error): void {
    if (this.#running === request) this.#fail(reason)
  }

  setFlow(request: RunningRequest): void {
    if (this.#running !== request) return
    if (request.isPaused) this.#socket.pause()
    else this.#socket.resume()
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.#running) this.#running.handler.onResponseStart(this.#running, status, headers)
  }

  data(bytes: Buffer): void {
    if (this.#running) this.#running.handler.onResponseData(this.#running, bytes)
  }

  end(): void {
    const request = this.#running
    this.#running = undefined
    if (request?.isPaused) this.#socket.resume()
    // When the reply came before the whole request was read, a part of the request may still be on its way.
    if (this.#isSent && this.#parser.keepsAlive && !this.#socket.destroyed) {
      this.#idleSinceMs = performance.now()
      this.#idleMs = Math.min(idleMsMax, this.#parser.idleMsMax - idleMarginMs)
      this.#owner.idle(this)
    } else this.#socket.destroy()
    if (request) request.handler.onResponseEnd(request)
  }

  get #isSent(): boolean {
    return this.#streaming !== 'sending' && this.#socket.writableLength === 0
  }

  /** Sends a body as it arrives. After an early reply nothing more of it is read. */
  async #stream(request: RunningRequest, head: string, { pieces, length }: StreamedBody): Promise<void> {
    this.#socket.write(head, 'latin1')
    let sent = 0
    try {
      for await (const piece of pieces) {
        if (this.#running !== request) return
        if (piece.length === 0) continue
        sent += piece.length
        if (length !== undefined && sent > length) throw new RangeError('The body is longer than its announced length')
        if (!this.#writePiece(piece, length === undefined)) await drained(this.#socket)
      }
      if (this.#running !== request) return
      if (length !== undefined && sent < length) throw new RangeError('The body is shorter than its announced length')
      if (length === undefined) this.#socket.write(lastChunk, 'latin1')
      this.#streaming = 'sent'
    } catch (error) {
      if (this.#running === request) this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #writePiece(piece: Buffer, inChunks: boolean): boolean {
    if (!inChunks) return this.#socket.write(piece)
    this.#socket.cork()
    this.#socket.write(`${piece.length.toString(16)}\r\n`, 'latin1')
    this.#socket.write(piece)
    const hasRoom = this.#socket.write('\r\n', 'latin1')
    this.#socket.uncork()
    return hasRoom
  }

  #write(head: string, body: Buffer): void {
    if (head.length + body.length < oneWriteBelow) {
      this.#socket.write(head + body.toString('latin1'), 'latin1')
      return
    }
    this.#socket.cork()
    this.#socket.write(head, 'latin1')
    this.#socket.write(body)
    this.#socket.uncork()
  }

  /** Handles bytes that arrived. */
  read(bytes: Buffer): void {
    if (!this.#running) {
      // No request was sent.
      this.#socket.destroy()
      return
    }
    this.#hasReply = true
    try {
      this.#parser.push(bytes)
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #ended(): void {
    if (this.#running && !this.#parser.close()) this.#fail(this.#cut())
    else this.#socket.destroy()
  }

  #closed(): void {
    this.#fail(this.#cut())
    this.#owner.closed(this)
  }

  #cut(): Error {
    const isUnread =
      this.#streaming === 'no' && this.#requests > 1 && !this.#hasReply && performance.now() - this.#sentMs <= unreadWithinMs
    return new ConnectionClosed(isUnread, this.#error)
  }

  #fail(error: Error): void {
    const request = this.#running
    this.#running = undefined
    this.#parser.stop()
    this.#socket.destroy()
    if (request) request.handler.onResponseError(request, error)
  }
}

/** Resolves when the socket has room again, or is closed. */
function drained(socket: Socket): Promise<void> {
  if (socket.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
}

function bodyOf(body: Buffer | string | null | undefined): Buffer {
  if (body === null || body === undefined) return nothing
  return typeof body === 'string' ? Buffer.from(body) : body
}

const nothing = Buffer.alloc(0)
