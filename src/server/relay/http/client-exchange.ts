import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { Language } from '../../../contract/text.ts'
import { chunkOf, lastChunk } from '../../lib/chunked.ts'
import type { Client } from '../../lib/client-address.ts'
import { AppError } from '../../lib/failure.ts'
import { lingeringCloseAfterReply } from '../../lib/lingering-close.ts'
import { takeOverChunking } from '../../lib/node-internals.ts'
import { toByteText } from '../../lib/sse.ts'
import { type CallerError, errorBody, errorEvent, errorHeaders, ownError, statusFor } from '../../protocols/error-body.ts'
import { inDialect } from '../../protocols/error-dialect.ts'
import type { Dialect } from '../../protocols/format.ts'
import type { Reframing, RequestFacts, UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import type { CallTrace } from '../../usage/call-traces.ts'
import { CallNotes } from '../../usage/ended-calls.ts'
import type { CallRecorder } from './call-recorder.ts'
import { type Body, readBody } from './read-body.ts'
import type { RecordedReply, ReplyRecorder } from './reply-recorder.ts'

/**
 * One request of a client and its response: id, times, connection state, and writing with back-pressure.
 * Lives as long as the HTTP exchange.
 */
export class ClientExchange {
  readonly id: string
  readonly dialect: Dialect
  /** Language of error messages. API clients always get English. */
  readonly language: Language
  readonly client: Client
  readonly startedMs: number
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Time of the first byte of the answer in milliseconds; 0 before. */
  firstByteMs = 0
  lastWriteMs: number
  /** Bytes that may be written between pieces of a stream to probe the connection; '' for responses that allow none. */
  heartbeat = ''
  /** Bytes of the body of the answer so far. */
  bytesOut = 0
  /** The caller, the request and the notes of its steps, as far as they are known; read at the end of the call. */
  caller: RelayCaller | undefined
  /** The key or the session by which the caller was identified; '' before. */
  credential = ''
  asked: Asked | undefined
  group = ''
  readonly notes = new CallNotes()
  /** Set when the call is recorded, or may be. */
  callRecorder: CallRecorder | undefined
  /** Set on a server that sends traces. */
  trace: CallTrace | undefined
  #error: CallerError | undefined
  #isDisconnected = false
  #isHalfClosed = false
  #onHalfClosed: (() => void) | undefined
  /** The head of a non-streamed response was sent, and `#sentEarly` bytes of its body. */
  #isWhole = false
  #sentEarly = 0
  #isAborted = false
  #onAborted: (() => void) | undefined
  #framesChunks = false
  #hasPieces = false
  #waitsForDrain = false
  readonly #headers: Record<string, string> = {}
  readonly #reframing: Reframing | undefined
  #body: Promise<Body> | undefined
  #recorder: ReplyRecorder | undefined
  /** The client has disconnected, but the call continues so that its reply can be recorded. */
  #isDetached = false
  /** Sends the end of a recorded reply. */
  #heldEnd: (() => void) | undefined

  constructor(
    exchange: { request: IncomingMessage; response: ServerResponse },
    facts: {
      id: string
      dialect: Dialect
      language: Language
      client: Client
      nowMs: number
      /** Framing for a client that does not read server-sent events. */
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
    const onClose = () => {
      if (this.#isDisconnected || this.response.writableFinished) return
      if (this.outlivesCaller) this.#isDetached = true
      else this.#disconnect()
    }
    this.#watchConnection(onClose)
    // A write after the client has disconnected emits a socket error; the `close` event is handled above.
    this.response.on('error', ignore)
  }

  #watchConnection(onClose: () => void): void {
    const { socket } = this.request
    const halfClosed = () => {
      this.#isHalfClosed = true
      this.response.shouldKeepAlive = false
      this.#onHalfClosed?.()
    }
    // Each of these events is emitted once; `once` would allocate a wrapper.
    socket.on('end', halfClosed)
    // A pipelined response has no socket yet and gets no `close` event when the connection closes.
    const waits = this.response.socket === null
    if (waits) socket.on('close', onClose)
    this.response.on('close', () => {
      socket.off('end', halfClosed)
      if (waits) socket.off('close', onClose)
      onClose()
    })
  }

  /** The caller closed the connection before the answer was complete. */
  get isDisconnected(): boolean {
    return this.#isDisconnected
  }

  /** The client has closed its writing side (FIN). It may still read or be gone; only a write can tell. */
  get isHalfClosed(): boolean {
    return this.#isHalfClosed
  }

  /** Calls `listener` when the client half-closes the connection; at once when it already has. */
  onHalfClosed(listener: () => void): void {
    this.#onHalfClosed = listener
    if (this.#isHalfClosed) listener()
  }

  /**
   * Writes bytes that every client must ignore: an interim response, or a heartbeat of a stream. The connection of a client that
   * has disconnected answers the first such write with a reset, and the next write fails. Does nothing when the answer allows
   * neither.
   */
  probe(): void {
    if (this.#isDisconnected || this.#heldEnd || this.response.writableEnded || this.response.socket === null || this.isBlocked)
      return
    if (this.isCommitted) {
      if (this.heartbeat !== '') this.write(this.heartbeat, this.lastWriteMs)
    } else if (this.request.httpVersionMinor > 0) {
      this.response.writeContinue()
    }
  }

  /** The call ended before its answer was complete: the client disconnected or the server aborted it. Nothing new may be started. */
  get isAborted(): boolean {
    return this.#isAborted
  }

  /** Whether the status line has been sent; from then on no other channel can take over. */
  get isCommitted(): boolean {
    return this.response.headersSent
  }

  /** Sets the one listener for an abort of the call; `undefined` removes it. Calls it at once when the call is already aborted. */
  onAborted(listener: (() => void) | undefined): void {
    this.#onAborted = listener
    if (this.#isAborted) listener?.()
  }

  /** Aborts the call before its answer is complete. The listener of `onAborted` sends the error to a client that is still connected. */
  abort(): void {
    if (!this.#isAborted) this.#end()
  }

  #disconnect(): void {
    this.#isDisconnected = true
    this.#end()
  }

  #end(): void {
    this.#isAborted = true
    this.#onAborted?.()
  }

  /**
   * How the call failed; undefined for an answered call. `error` is absent when the client disconnected before the answer was
   * complete.
   */
  get failure(): { readonly error: CallerError | undefined } | undefined {
    return this.#error || this.#isAborted ? { error: this.#error } : undefined
  }

  /** Records an error that the caller receives by other means than `sendError`. */
  noteError(error: CallerError | AppError): void {
    this.#error = error instanceof AppError ? ownError(error) : inDialect(this.dialect, error)
  }

  /** The body of the request, read once. Throws as `readBody`. */
  readBody(limitBytes?: number): Promise<Body> {
    this.#body ??= readBody(this.request, limitBytes)
    return this.#body
  }

  /**
   * Records the reply from here on, and holds its end back until `release`. A client that disconnects before the reply has begun
   * does not abort the call: a retry gets the recorded reply.
   */
  record(recorder: ReplyRecorder): void {
    this.#recorder = recorder
  }

  /** A disconnect of the client does not abort the call now. */
  get outlivesCaller(): boolean {
    return this.#recorder !== undefined && !this.isCommitted
  }

  /** Sends the end of a recorded reply. */
  release(): void {
    this.#heldEnd?.()
    this.#heldEnd = undefined
  }

  /** Sends the recorded reply to an earlier request. */
  replay({ requestId, status, headers, body }: RecordedReply): void {
    this.bytesOut = body.length
    this.#writeHead(status, {
      ...headers,
      ...this.idHeaders(),
      'content-length': String(body.length),
      'idempotent-replayed': 'true',
      'x-sluice-original-request-id': requestId,
    })
    this.callRecorder?.addToReply(body)
    this.response.end(body)
  }

  #writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.#recorder?.begin(status, headers)
    this.callRecorder?.beginReply(status, headers)
    this.response.writeHead(status, headers)
  }

  #recordPiece(recorder: ReplyRecorder, piece: Buffer): void {
    recorder.add(piece)
    // The reply can be neither sent nor replayed.
    if (recorder.isTooLarge && this.#isDetached && !this.#isAborted) this.#disconnect()
  }

  /** Ends the reply. The end of a recorded reply is sent when the recording is stored. */
  #finish(piece: Buffer | undefined, send: () => void): void {
    if (this.#recorder && piece) this.#recordPiece(this.#recorder, piece)
    if (this.#recorder) this.#heldEnd = send
    else send()
  }

  /** Opens an answer that is sent in pieces. */
  begin(headers: Record<string, string>): void {
    const type: Record<string, string> = this.#reframing ? { 'content-type': this.#reframing.contentType } : {}
    this.#writeHead(200, { ...headers, ...type, ...this.idHeaders() })
    this.#framesChunks = takeOverChunking(this.response)
  }

  /** Writes a piece of the answer, as byte text. Returns false when the client reads more slowly: see `whenDrained`. */
  write(byteText: string, nowMs: number): boolean {
    if (this.firstByteMs === 0) this.firstByteMs = nowMs
    this.lastWriteMs = nowMs
    const out = this.#reframing ? this.#reframing.push(byteText) : byteText
    this.bytesOut += out.length
    this.callRecorder?.addToReply(out)
    if (this.#recorder) this.#recordPiece(this.#recorder, Buffer.from(out, 'latin1'))
    if (this.#isDetached) return true
    const stream = this.#stream
    this.#hasPieces = true
    return stream.write(this.#framesChunks ? chunkOf(out) : out, 'latin1')
  }

  /**
   * Where pieces are written: the first to the response, which sends the head with it, later ones to the connection itself, when
   * the answer has one. Node's response would cork and uncork the connection for each of them, which is a fifth of the cost of a
   * write.
   */
  get #stream(): Writable {
    const { response } = this
    const isDirect = this.#framesChunks && this.#hasPieces && !response.writableEnded
    return (isDirect && response.socket) || response
  }

  /** Calls `listener` once, when the client has read what was written. Only one listener waits at a time; a second one is ignored. */
  whenDrained(listener: () => void): void {
    if (this.#waitsForDrain) return
    this.#waitsForDrain = true
    this.#stream.once('drain', () => {
      this.#waitsForDrain = false
      listener()
    })
  }

  /** The client has not yet read what was written. */
  get isBlocked(): boolean {
    return this.#stream.writableNeedDrain
  }

  /** Closes the connection; the client counts as disconnected. */
  drop(): void {
    this.response.destroy()
  }

  /** Writes the last piece of the answer. */
  end(byteText: string): void {
    this.#recorder?.complete()
    this.#endStream(byteText)
  }

  #endStream(byteText: string): void {
    const out = this.#reframing ? this.#reframing.push(byteText) + this.#reframing.end() : byteText
    this.bytesOut += out.length
    this.callRecorder?.addToReply(out)
    this.#finish(this.#recorder && Buffer.from(out, 'latin1'), () =>
      this.response.end(this.#framesChunks ? chunkOf(out) + lastChunk : out, 'latin1'),
    )
  }

  /** Sends one more byte of a whole answer, and its head before the first, but never its end. `answer` sends the rest. */
  answerEarly(contentType: string, body: Buffer): void {
    if (this.#sentEarly >= body.length - 1) return
    if (!this.isCommitted) this.#beginWhole(contentType, body)
    this.response.write(body.subarray(this.#sentEarly, ++this.#sentEarly))
  }

  /** Sends a whole answer. */
  answer(contentType: string, body: Buffer): void {
    this.bytesOut = body.length
    if (this.#isWhole) {
      this.response.end(body.subarray(this.#sentEarly))
      return
    }
    this.#beginWhole(contentType, body)
    this.#recorder?.complete()
    this.#finish(body, () => {
      // A short body goes as Latin-1 text, byte for byte: then Node sends it and the headers in one write.
      if (body.length < oneWriteBelow) this.response.end(body.toString('latin1'), 'latin1')
      else this.response.end(body)
    })
  }

  #beginWhole(contentType: string, body: Buffer): void {
    this.#isWhole = true
    this.#writeHead(200, { 'content-type': contentType, 'content-length': String(body.length), ...this.idHeaders() })
    this.callRecorder?.addToReply(body)
  }

  /**
   * Sends an error in the caller's dialect: as the answer, or as the last event of a stream that has begun. `write` makes that
   * event for formats where it depends on earlier events.
   */
  sendError(error: CallerError | AppError, write?: (errorFacts: UpstreamErrorFacts) => string | undefined): void {
    const errorFacts = error instanceof AppError ? ownError(error) : inDialect(this.dialect, error)
    const errorOptions = { requestId: this.id, language: this.language }
    if (this.#isDisconnected || this.response.writableEnded || this.#heldEnd) return
    this.#error = errorFacts
    // A whole answer that has begun cannot become an error: the client sees that it is incomplete.
    if (this.#isWhole) {
      this.drop()
      return
    }
    if (this.isCommitted) {
      const event = write?.({ ...errorFacts, message: errorFacts.message[this.language], code: errorFacts.code ?? '' })
      this.#endStream(toByteText(event ?? errorEvent(this.dialect, errorFacts, errorOptions)))
      return
    }
    const body = errorBody(this.dialect, errorFacts, errorOptions)
    this.bytesOut = Buffer.byteLength(body)
    const isWhole = this.request.complete
    if (!isWhole) lingeringCloseAfterReply(this.request)
    this.#writeHead(statusFor(this.dialect, errorFacts), {
      ...errorHeaders(this.dialect, errorFacts, this.id),
      ...this.idHeaders(),
      'content-length': String(this.bytesOut),
      ...(isWhole ? {} : { connection: 'close' }),
    })
    this.callRecorder?.addToReply(Buffer.from(body))
    this.#recorder?.complete()
    this.#finish(this.#recorder && Buffer.from(body), () => this.response.end(body))
  }

  /** Sets an additional response header; an empty value removes it. */
  setHeader(name: string, value: string): void {
    if (value !== '') this.#headers[name] = value
    // `delete` alone would make every later use of the object slow.
    else if (name in this.#headers) delete this.#headers[name]
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

/** The model and stream flag of a request, as far as they were read. */
type Asked = Partial<Record<keyof Pick<RequestFacts, 'model' | 'stream'>, unknown>>

const oneWriteBelow = 16 * 1024

function ignore(): void {}
