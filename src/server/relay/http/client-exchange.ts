import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LogAttempt } from '../../../contract/entities/log.ts'
import type { Language } from '../../../contract/text.ts'
import { isDatabaseFailure } from '../../db/open.ts'
import type { CallerLog } from '../../lib/caller-log.ts'
import { chunkOf, lastChunk } from '../../lib/chunked.ts'
import type { Client } from '../../lib/client-address.ts'
import { AppError } from '../../lib/failure.ts'
import { lingeringCloseAfterReply } from '../../lib/lingering-close.ts'
import { takeOverChunking } from '../../lib/node-internals.ts'
import { toByteText } from '../../lib/sse.ts'
import type { Core } from '../../options/core.ts'
import { type CallerError, errorBody, errorEvent, errorHeaders, ownError, statusFor } from '../../protocols/error-body.ts'
import { inDialect } from '../../protocols/error-dialect.ts'
import type { Dialect } from '../../protocols/format.ts'
import type { Reframing, RequestFacts, UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import { quotaText } from '../../wallet/quota-text.ts'
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
  /** Milliseconds of the first byte of the answer; 0 before. */
  firstByteMs = 0
  lastWriteMs: number
  /** Bytes that may be written between pieces of a stream to probe the connection; '' for responses that allow none. */
  heartbeat = ''
  /** Bytes of the body of the answer so far. */
  bytesOut = 0
  /** Who called, for what, and which attempts have failed, as far as it is known: read for the log row of a call that fails. */
  caller: RelayCaller | undefined
  asked: Asked | undefined
  group = ''
  attempts: readonly LogAttempt[] = noAttempts
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
    this.response.once('close', onClose)
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
    socket.once('end', halfClosed)
    // A pipelined response has no socket yet and gets no `close` event when the connection closes.
    const waits = this.response.socket === null
    if (waits) socket.once('close', onClose)
    this.response.once('close', () => {
      socket.off('end', halfClosed)
      if (waits) socket.off('close', onClose)
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
   * Writes what every client must ignore: an interim reply, or a heartbeat of a stream. A caller who has left answers the first such
   * write with a reset, and the next one fails: then the caller is gone. Does nothing where the answer allows neither.
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

  /** How the call failed; undefined for one that has its answer. `error` is absent when its caller left before the answer was complete. */
  get failure(): { readonly error: CallerError | undefined } | undefined {
    return this.#error || this.#isAborted ? { error: this.#error } : undefined
  }

  /** Notes the error that the caller is told otherwise than by `sendError`. */
  noteError(error: CallerError | AppError): void {
    this.#error = error instanceof AppError ? ownError(error) : inDialect(this.dialect, error)
  }

  /** The body of the request, read once. Throws as `readBody`. */
  readBody(limitBytes?: number): Promise<Body> {
    this.#body ??= readBody(this.request, limitBytes)
    return this.#body
  }

  /**
   * Records the reply from here on, and holds its end back until `release`. A caller who leaves before the reply has begun does not end the
   * call: a retry gets what was recorded.
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
    this.response.writeHead(status, {
      ...headers,
      ...this.idHeaders(),
      'content-length': String(body.length),
      'idempotent-replayed': 'true',
      'x-sluice-original-request-id': requestId,
    })
    this.response.end(body)
  }

  #writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.#recorder?.begin(status, headers)
    this.response.writeHead(status, headers)
  }

  #recordPiece(recorder: ReplyRecorder, piece: Buffer): void {
    recorder.add(piece)
    // The reply can be neither sent nor replayed.
    if (recorder.isTooLarge && this.#isDetached && !this.#isAborted) this.#disconnect()
  }

  /** Ends the reply; one that is recorded when its recording is stored. */
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

  /** Writes a piece of the answer, as byte text. False means that the caller does not take it as fast: see `whenDrained`. */
  write(byteText: string, nowMs: number): boolean {
    if (this.firstByteMs === 0) this.firstByteMs = nowMs
    this.lastWriteMs = nowMs
    const out = this.#reframing ? this.#reframing.push(byteText) : byteText
    this.bytesOut += out.length
    if (this.#recorder) this.#recordPiece(this.#recorder, Buffer.from(out, 'latin1'))
    return this.#isDetached || this.response.write(this.#framesChunks ? chunkOf(out) : out, 'latin1')
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
    this.#recorder?.complete()
    this.#endStream(byteText)
  }

  #endStream(byteText: string): void {
    const out = this.#reframing ? this.#reframing.push(byteText) + this.#reframing.end() : byteText
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
  }

  /**
   * Sends an error in the caller's dialect: as the answer, or as the last event of a stream that has begun. `write` makes that event
   * where it depends on what was sent before.
   */
  sendError(error: CallerError | AppError, write?: (errorFacts: UpstreamErrorFacts) => string | undefined): void {
    const errorFacts = error instanceof AppError ? ownError(error) : inDialect(this.dialect, error)
    const errorOptions = { requestId: this.id, language: this.language }
    if (this.#isDisconnected || this.response.writableEnded || this.#heldEnd) return
    this.#error = errorFacts
    // A whole answer that has begun cannot become an error: its caller sees that it is cut short.
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
    this.#recorder?.complete()
    this.#finish(this.#recorder && Buffer.from(body), () => this.response.end(body))
  }

  /** Sets an additional response header; an empty value removes it. */
  setHeader(name: string, value: string): void {
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

/** What a call asks for, as far as it was read. */
type Asked = Partial<Record<keyof Pick<RequestFacts, 'model' | 'stream'>, unknown>>

const noAttempts: readonly LogAttempt[] = []
const oneWriteBelow = 16 * 1024

function ignore(): void {}

interface ErrorParts extends Pick<Core, 'options'> {
  readonly callerLog: CallerLog
}

/** The error to send to the caller. An unexpected error is logged and becomes `internal` with the request id. */
export function asAppError(app: ErrorParts, call: ClientExchange, error: unknown): AppError {
  if (error instanceof AppError) return withAmounts(app, error)
  if (isDatabaseFailure(error)) return new AppError('database_unavailable', {}, { cause: error })
  app.callerLog.of(call.client).error({ error, request: call.id }, 'relay request failed')
  return new AppError('internal', { request: call.id }, { cause: error })
}

/** Replaces quota units in the parameters by amounts as the site displays them. */
function withAmounts(app: Pick<Core, 'options'>, error: AppError): AppError {
  const { have, need } = error.params
  if (typeof have !== 'number' || typeof need !== 'number') return error
  return new AppError(
    error.code,
    { ...error.params, have: quotaText(app, have, 'down'), need: quotaText(app, need, 'up') },
    error,
  )
}
