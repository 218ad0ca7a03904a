import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { chunkOf, lastChunk } from '../../../base/lib/bytes/chunked.ts'
import { lingeringCloseAfterReply } from '../../../base/lib/net/lingering-close.ts'
import { takeOverChunking } from '../../../base/lib/process/node-internals.ts'

/** The way of an answer to its caller: an HTTP response, messages of a WebSocket or of a background response, or none. */
export interface Answer {
  /** Sends the head. `isStream`: the body has pieces whose number is not known yet. */
  begin(status: number, headers: Readonly<Record<string, string>>, isStream: boolean): void
  /** Writes a piece of the body; strings are byte text. Returns false when the caller reads more slowly: see `whenDrained`. */
  write(piece: string | Buffer): boolean
  /** Writes the last piece. */
  end(piece: string | Buffer): void
  /** The caller has not yet read what was written. */
  readonly isBlocked: boolean
  /** Calls `listener` once, when the caller has read what was written. */
  whenDrained(listener: () => void): void
  /** Sends an interim response, which every client ignores, where there is a connection that shows whether the caller still reads. */
  probe(): void
  /** Closes the connection; `left` is called unless the answer was complete. */
  drop(): void
  /** Sets the listener. Call it once, before the head. */
  listen(listener: AnswerListener): void
}

/** What happens to the caller's side of an answer. */
export interface AnswerListener {
  /** The caller closed the connection before the answer was complete. May be called twice. */
  left(): void
  /** The caller has closed its writing side (FIN). It may still read or be gone; only a write can tell. */
  halfClosed(): void
}

/** An HTTP response. */
export class HttpAnswer implements Answer {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  #framesChunks = false
  #hasPieces = false

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
    // A write after the caller has disconnected emits an error; `listen` reports the disconnect.
    response.on('error', ignore)
  }

  listen({ left, halfClosed }: AnswerListener): void {
    const response = this.#response
    const { socket } = this.#request
    const onEnd = () => {
      response.shouldKeepAlive = false
      halfClosed()
    }
    const onClose = () => {
      if (!response.writableFinished) left()
    }
    // Each of these events is emitted once; `once` would allocate a wrapper.
    socket.on('end', onEnd)
    // A pipelined response has no socket yet and gets no `close` event when the connection closes.
    const waits = response.socket === null
    if (waits) socket.on('close', onClose)
    response.on('close', () => {
      socket.off('end', onEnd)
      if (waits) socket.off('close', onClose)
      onClose()
    })
  }

  /** An error before the end of the request closes the connection, after the client could read it. */
  begin(status: number, headers: Readonly<Record<string, string>>, isStream: boolean): void {
    const isEarly = status >= 400 && !this.#request.complete
    if (isEarly) lingeringCloseAfterReply(this.#request)
    this.#response.writeHead(status, isEarly ? { ...headers, connection: 'close' } : headers)
    this.#framesChunks = isStream && takeOverChunking(this.#response)
  }

  write(piece: string | Buffer): boolean {
    const stream = this.#stream
    this.#hasPieces = true
    if (typeof piece !== 'string') return stream.write(piece)
    return stream.write(this.#framesChunks ? chunkOf(piece) : piece, 'latin1')
  }

  end(piece: string | Buffer): void {
    if (this.#framesChunks) this.#response.end(chunkOf(byteTextOf(piece)) + lastChunk, 'latin1')
    // A short body goes as byte text: then Node sends it and the headers in one write.
    else if (piece.length < oneWriteBelow) this.#response.end(byteTextOf(piece), 'latin1')
    else this.#response.end(piece, 'latin1')
  }

  get isBlocked(): boolean {
    return this.#stream.writableNeedDrain
  }

  whenDrained(listener: () => void): void {
    this.#stream.once('drain', listener)
  }

  probe(): void {
    const isReachable = this.#response.socket !== null && !this.#response.writableEnded
    if (isReachable && this.#request.httpVersionMinor > 0) this.#response.writeContinue()
  }

  drop(): void {
    this.#response.destroy()
  }

  /**
   * Where pieces are written: the first to the response, which sends the head with it, later ones to the connection itself, when
   * the answer has one. Node's response would cork and uncork the connection for each of them, which is a fifth of the cost of a
   * write.
   */
  get #stream(): Writable {
    const response = this.#response
    const isDirect = this.#framesChunks && this.#hasPieces && !response.writableEnded
    return (isDirect && response.socket) || response
  }
}

/** No caller waits for the answer: nothing is sent. */
export class NoAnswer implements Answer {
  #isEnded = false
  #left: (() => void) | undefined

  listen({ left }: AnswerListener): void {
    this.#left = left
  }

  begin(): void {}

  write(): boolean {
    return true
  }

  end(): void {
    this.#isEnded = true
  }

  get isBlocked(): boolean {
    return false
  }

  whenDrained(): void {}

  probe(): void {}

  drop(): void {
    if (!this.#isEnded) this.#left?.()
  }
}

const oneWriteBelow = 16 * 1024

function byteTextOf(piece: string | Buffer): string {
  return typeof piece === 'string' ? piece : piece.toString('latin1')
}

function ignore(): void {}
