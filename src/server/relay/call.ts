import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Language } from '../../contract/text.ts'
import { chunkOf, lastChunk, takeOverChunking } from '../lib/chunked.ts'
import type { Client } from '../lib/client-address.ts'
import { closeBehindAnswer } from '../lib/close-behind.ts'
import { AppError } from '../lib/failure.ts'
import { toByteText } from '../lib/sse.ts'
import type { CallerError } from '../protocols/error-body.ts'
import { errorBody, errorEvent, errorHeaders, ownError, statusFor } from '../protocols/error-body.ts'
import type { Dialect } from '../protocols/format.ts'
import type { Reframing, UpstreamErrorFacts } from '../protocols/wire-format.ts'

/**
 * One request of a caller and the way back to them: its id, its times, whether they are still there, and writing with back-pressure.
 * Lives as long as the HTTP exchange.
 */
export class Call {
  readonly id: string
  readonly dialect: Dialect
  /** Of errors. English for programs, whose dialects have no language. */
  readonly language: Language
  readonly client: Client
  readonly startedMs: number
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Milliseconds of the first byte of the answer; 0 before. */
  firstByteMs = 0
  lastWriteMs: number
  #isGone = false
  #isOver = false
  #onOver: (() => void) | undefined
  #framesChunks = false
  #waitsForDrain = false
  readonly #headers: Record<string, string> = {}
  readonly #reframing: Reframing | undefined

  constructor(
    exchange: { request: IncomingMessage; response: ServerResponse },
    facts: {
      id: string
      dialect: Dialect
      language: Language
      client: Client
      nowMs: number
      /** For a caller who takes streams in another framing than that of events. */
      reframing?: Reframing | undefined
    },
  ) {
    this.request = exchange.request
    this.response = exchange.response
    this.id = facts.id
    this.dialect = facts.dialect
    this.language = facts.language
    this.client = facts.client
    this.#reframing = facts.reframing
    this.startedMs = facts.nowMs
    this.lastWriteMs = facts.nowMs
    const left = () => {
      if (this.#isGone || this.response.writableFinished) return
      this.#isGone = true
      this.#end()
    }
    this.response.once('close', left)
    if (this.response.socket === null) this.#watchConnection(left)
    // A write that crosses the caller's leaving is an error of the socket; `close` has told us all that matters.
    this.response.on('error', ignore)
  }

  /** An answer that waits behind another one on its connection is not told when the connection closes. */
  #watchConnection(left: () => void): void {
    const { socket } = this.request
    socket.once('close', left)
    this.response.once('close', () => socket.off('close', left))
  }

  /** The caller closed the connection before the answer was complete. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Nobody waits for the answer any more, or this server cannot go on with it: nothing more is to be begun. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether the status line has been sent; from then on no other channel can take over. */
  get isCommitted(): boolean {
    return this.response.headersSent
  }

  /** Names who is told when the call is over before its answer is complete: the running attempt. Told at once when it already is. */
  whenOver(listener: (() => void) | undefined): void {
    this.#onOver = listener
    if (this.#isOver) listener?.()
  }

  /** Ends it before its answer is complete. A caller who is still there is to be told by who was at it. */
  cut(): void {
    if (!this.#isOver) this.#end()
  }

  #end(): void {
    this.#isOver = true
    this.#onOver?.()
  }

  /** Opens an answer that is sent in pieces. */
  begin(headers: Record<string, string>): void {
    const type = this.#reframing ? { 'content-type': this.#reframing.contentType } : {}
    this.response.writeHead(200, { ...headers, ...type, ...this.idHeaders() })
    this.#framesChunks = takeOverChunking(this.response)
  }

  /** Writes a piece of the answer, as byte text. False means that the caller does not take it as fast: see `whenDrained`. */
  write(byteText: string, nowMs: number): boolean {
    if (this.firstByteMs === 0) this.firstByteMs = nowMs
    this.lastWriteMs = nowMs
    const out = this.#reframing ? this.#reframing.push(byteText) : byteText
    return this.response.write(this.#framesChunks ? chunkOf(out) : out, 'latin1')
  }

  /** Calls `listener` once, when the caller has taken what was written. One waits at a time; a second is not called. */
  whenDrained(listener: () => void): void {
    if (this.#waitsForDrain) return
    this.#waitsForDrain = true
    this.response.once('drain', () => {
      this.#waitsForDrain = false
      listener()
    })
  }

  /** The caller has not yet taken what was written. */
  get isBlocked(): boolean {
    return this.response.writableNeedDrain
  }

  /** Breaks the connection; the caller counts as gone. */
  drop(): void {
    this.response.destroy()
  }

  /** Writes the last piece of the answer. */
  end(byteText: string): void {
    const out = this.#reframing ? this.#reframing.push(byteText) + this.#reframing.end() : byteText
    this.response.end(this.#framesChunks ? chunkOf(out) + lastChunk : out, 'latin1')
  }

  /** Sends a whole answer. */
  answer(contentType: string, body: Buffer): void {
    this.response.writeHead(200, { 'content-type': contentType, 'content-length': String(body.length), ...this.idHeaders() })
    // A short body goes as Latin-1 text, byte for byte: then Node sends it and the headers in one write.
    if (body.length < oneWriteBelow) this.response.end(body.toString('latin1'), 'latin1')
    else this.response.end(body)
  }

  /**
   * Sends an error in the caller's dialect: as the answer, or as the last event of a stream that has begun. `write` makes that event
   * where it depends on what was sent before.
   */
  sendError(error: CallerError | AppError, write?: (told: UpstreamErrorFacts) => string | undefined): void {
    const told = error instanceof AppError ? ownError(error) : error
    const telling = { requestId: this.id, language: this.language }
    if (this.#isGone || this.response.writableEnded) return
    if (this.isCommitted) {
      const event = write?.({ ...told, message: told.message[this.language], code: told.code ?? '' })
      this.end(toByteText(event ?? errorEvent(this.dialect, told, telling)))
      return
    }
    const body = errorBody(this.dialect, told, telling)
    const isWhole = this.request.complete
    if (!isWhole) closeBehindAnswer(this.request)
    this.response.writeHead(statusFor(this.dialect, told), {
      ...errorHeaders(this.dialect, told, this.id),
      ...this.idHeaders(),
      'content-length': String(Buffer.byteLength(body)),
      ...(isWhole ? {} : { connection: 'close' }),
    })
    this.response.end(body)
  }

  /** Sets a header that the answer bears besides its own; an empty value takes it away. */
  tell(name: string, value: string): void {
    if (value === '') delete this.#headers[name]
    else this.#headers[name] = value
  }

  idHeaders(): Record<string, string> {
    return {
      ...this.#headers,
      'x-oneapi-request-id': this.id,
      [this.dialect === 'anthropic' ? 'request-id' : 'x-request-id']: this.id,
      'access-control-allow-origin': '*',
    }
  }
}

const oneWriteBelow = 16 * 1024

function ignore(): void {}
