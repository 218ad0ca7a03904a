import type { IncomingMessage, ServerResponse } from 'node:http'
import { chunkOf, lastChunk, takeOverChunking } from '../lib/chunked.ts'
import type { Client } from '../lib/client-address.ts'
import { AppError } from '../lib/failure.ts'
import type { CallerError } from '../protocols/error-body.ts'
import { errorBody, errorEvent, errorHeaders, ownError, statusFor } from '../protocols/error-body.ts'
import type { Dialect } from '../protocols/format.ts'

/**
 * One request of a caller and the way back to them: its id, its times, whether they are still there, and writing with back-pressure.
 * Lives as long as the HTTP exchange.
 */
export class Call {
  readonly id: string
  readonly dialect: Dialect
  readonly client: Client
  readonly startedMs: number
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Milliseconds of the first byte of the answer; 0 before. */
  firstByteMs = 0
  lastWriteMs: number
  #gone = false
  #onGone: (() => void) | undefined
  #framesChunks = false

  constructor(
    exchange: { request: IncomingMessage; response: ServerResponse },
    facts: { id: string; dialect: Dialect; client: Client; nowMs: number },
  ) {
    this.request = exchange.request
    this.response = exchange.response
    this.id = facts.id
    this.dialect = facts.dialect
    this.client = facts.client
    this.startedMs = facts.nowMs
    this.lastWriteMs = facts.nowMs
    this.response.once('close', () => {
      if (this.response.writableFinished) return
      this.#gone = true
      this.#onGone?.()
    })
    // A write that crosses the caller's leaving is an error of the socket; `close` has told us all that matters.
    this.response.on('error', ignore)
  }

  /** The caller closed the connection before the answer was complete. */
  get isGone(): boolean {
    return this.#gone
  }

  /** Whether the status line has been sent; from then on no other channel can take over. */
  get isCommitted(): boolean {
    return this.response.headersSent
  }

  /** Names who is told when the caller leaves: the running attempt. Told at once when they already left. */
  whenGone(listener: (() => void) | undefined): void {
    this.#onGone = listener
    if (this.#gone) listener?.()
  }

  /** Opens an answer that is sent in pieces. */
  begin(headers: Record<string, string>): void {
    this.response.writeHead(200, { ...headers, ...this.idHeaders() })
    this.#framesChunks = takeOverChunking(this.response)
  }

  /** Writes a piece of the answer. False means: nothing more before `drained` is called. */
  write(bytes: Buffer, nowMs: number, drained?: () => void): boolean {
    if (this.firstByteMs === 0) this.firstByteMs = nowMs
    this.lastWriteMs = nowMs
    const mayGoOn = this.response.write(this.#framesChunks ? chunkOf(bytes) : bytes)
    if (!mayGoOn && drained) this.response.once('drain', drained)
    return mayGoOn
  }

  /** Writes the last piece of the answer. */
  end(bytes: Buffer): void {
    this.response.end(this.#framesChunks ? Buffer.concat([chunkOf(bytes), lastChunk]) : bytes)
  }

  /** Sends a whole answer. */
  answer(contentType: string, body: Buffer): void {
    this.response.writeHead(200, { 'content-type': contentType, 'content-length': String(body.length), ...this.idHeaders() })
    // A short body goes as Latin-1 text, byte for byte: then Node sends it and the headers in one write.
    if (body.length < oneWriteBelow) this.response.end(body.toString('latin1'), 'latin1')
    else this.response.end(body)
  }

  /** Sends an error in the caller's dialect: as the answer, or as the last event of a stream that has begun. */
  sendError(error: CallerError | AppError): void {
    const told = error instanceof AppError ? ownError(error) : error
    if (this.#gone || this.response.writableEnded) return
    if (this.isCommitted) {
      this.end(Buffer.from(errorEvent(this.dialect, told, this.id)))
      return
    }
    const body = errorBody(this.dialect, told, this.id)
    this.response.writeHead(statusFor(this.dialect, told), {
      ...errorHeaders(this.dialect, told, this.id),
      ...this.idHeaders(),
      'content-length': String(Buffer.byteLength(body)),
      ...(this.request.complete ? {} : { connection: 'close' }),
    })
    this.response.end(body)
  }

  idHeaders(): Record<string, string> {
    return {
      'x-oneapi-request-id': this.id,
      [this.dialect === 'anthropic' ? 'request-id' : 'x-request-id']: this.id,
      'access-control-allow-origin': '*',
    }
  }
}

const oneWriteBelow = 16 * 1024

function ignore(): void {}
