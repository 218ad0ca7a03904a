import type { Language } from '../../../../contract/text.ts'
import { toByteText } from '../../../base/lib/bytes/sse.ts'
import { AppError } from '../../../base/lib/failure.ts'
import type { Client } from '../../../base/lib/net/client-address.ts'
import type { CallTrace } from '../../../usage/calls/call-traces.ts'
import { CallNotes } from '../../../usage/calls/ended-calls.ts'
import { type CallerError, errorBody, errorEvent, errorHeaders, ownError, statusFor } from '../../protocols/error-body.ts'
import { inDialect } from '../../protocols/error-dialect.ts'
import type { Dialect } from '../../protocols/format.ts'
import type { Reframing, UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { Answer } from './answer.ts'
import type { CallRecorder } from './call-recorder.ts'
import { type Body, type ReceivedRequest, readBody } from './read-body.ts'
import type { RecordedReply, ReplyRecorder } from './reply-recorder.ts'

/** The facts of a call that are known from its beginning. */
interface CallFacts {
  readonly id: string
  readonly dialect: Dialect
  /** Language of error messages. API clients always get English. */
  readonly language: Language
  readonly client: Client
  /** On the steady clock. */
  readonly startedMs: number
  readonly request: ReceivedRequest
  /** Framing for a client that does not read server-sent events. */
  readonly reframing?: Reframing | undefined
  /** Set on a server that sends traces. */
  readonly trace?: CallTrace | undefined
}

/** A reply that can be followed from any of its events. `leave`: the caller that asked has disconnected. */
interface Resumable extends Reframing {
  leave(): void
}

/** One request of a client and its answer: id, times, connection state, and writing with back-pressure. */
export class ClientExchange {
  readonly id: string
  readonly dialect: Dialect
  readonly language: Language
  readonly client: Client
  readonly startedMs: number
  readonly request: ReceivedRequest
  readonly trace: CallTrace | undefined
  /** The notes of the steps of the call, which are read at its end. */
  readonly notes = new CallNotes()
  /** Set when the call is recorded, or may be. */
  callRecorder: CallRecorder | undefined
  readonly #answer: Answer
  #reframing: Reframing | undefined
  readonly #headers: Record<string, string> = {}
  #status = 0
  #firstByteMs = 0
  #lastWriteMs: number
  #bytesOut = 0
  #heartbeat = ''
  #error: CallerError | undefined
  #isEnded = false
  #isDisconnected = false
  #isHalfClosed = false
  #onHalfClosed: (() => void) | undefined
  /** The head of a non-streamed answer was sent, and `#sentEarly` bytes of its body. */
  #isWhole = false
  #sentEarly = 0
  #isAborted = false
  #onAborted: (() => void) | undefined
  #body: Promise<Body> | undefined
  #recorder: ReplyRecorder | undefined
  /** The client has disconnected, but the call continues: its reply is recorded, or can be resumed. */
  #isDetached = false
  #resumable: Resumable | undefined
  #onDrained: (() => void) | undefined
  /** Sends the end of a recorded reply. */
  #heldEnd: (() => void) | undefined

  constructor(answer: Answer, { id, dialect, language, client, startedMs, request, reframing, trace }: CallFacts) {
    this.id = id
    this.dialect = dialect
    this.language = language
    this.client = client
    this.startedMs = startedMs
    this.request = request
    this.trace = trace
    this.#answer = answer
    this.#reframing = reframing
    this.#lastWriteMs = startedMs
    answer.listen({
      left: () => {
        if (this.#isDisconnected) return
        if (this.outlivesCaller) this.#detach()
        else this.#disconnect()
      },
      halfClosed: () => {
        this.#isHalfClosed = true
        this.#onHalfClosed?.()
      },
    })
  }

  /** Status of the answer's head; 0 before it was sent. */
  get status(): number {
    return this.#status
  }

  /** Whether the status line has been sent; from then on no other channel can take over. */
  get isCommitted(): boolean {
    return this.#status !== 0
  }

  /** Time of the first byte of the answer in milliseconds; 0 before. */
  get firstByteMs(): number {
    return this.#firstByteMs
  }

  get lastWriteMs(): number {
    return this.#lastWriteMs
  }

  /** Bytes of the body of the answer so far. */
  get bytesOut(): number {
    return this.#bytesOut
  }

  /** The caller closed the connection before the answer was complete. */
  get isDisconnected(): boolean {
    return this.#isDisconnected
  }

  /** The answer is complete, or the caller has disconnected. */
  get isOver(): boolean {
    return this.#isEnded || this.#isDisconnected
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
    if (this.isOver || this.#heldEnd || this.#isDetached || this.isBlocked) return
    if (!this.isCommitted) this.#answer.probe()
    else if (this.#heartbeat !== '') this.write(this.#heartbeat, this.#lastWriteMs)
  }

  /** The call ended before its answer was complete: the client disconnected or the server aborted it. Nothing new may be started. */
  get isAborted(): boolean {
    return this.#isAborted
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

  /** How the call failed; undefined for an answered call. `error` is absent when the client disconnected before its end. */
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

  /** Records the reply from here on, and holds its end back until `release`. Before it begins, a disconnect aborts nothing. */
  record(recorder: ReplyRecorder): void {
    this.#recorder = recorder
  }

  /** A disconnect of the client does not abort the call now. */
  get outlivesCaller(): boolean {
    return this.#resumable !== undefined || (this.#recorder !== undefined && !this.isCommitted)
  }

  /** Gives the answer, which has not begun, to a reply that others can follow: a client that disconnects does not abort the call. */
  resumeBy(reply: Resumable): void {
    this.#reframing = reply
    this.#resumable = reply
    this.#recorder?.countOnly()
  }

  /** Whether the answer can be followed by others, and so goes on without the client's connection, which is closed. */
  goOnAlone(): boolean {
    if (!this.#resumable || this.isOver) return false
    this.#detach()
    this.#answer.drop()
    return true
  }

  /** Whether the answer went on without the client that asked for it. */
  get wentOnAlone(): boolean {
    return this.#resumable !== undefined && this.#isDetached
  }

  /** Nobody will read the answer any more: the client counts as disconnected. */
  leave(): void {
    if (!this.isOver) this.#disconnect()
  }

  /** What was written is not waited for any more. */
  #detach(): void {
    if (this.#isDetached) return
    this.#isDetached = true
    this.#resumable?.leave()
    this.#onDrained?.()
  }

  /** Sends the end of a recorded reply. */
  release(): void {
    this.#heldEnd?.()
    this.#heldEnd = undefined
  }

  /** Sends the recorded reply to an earlier request. */
  replay({ requestId, status, headers, body }: RecordedReply): void {
    const replayed = { 'idempotent-replayed': 'true', 'x-sluice-original-request-id': requestId }
    this.#answerWhole(status, { ...headers, ...replayed }, body)
  }

  #writeHead(status: number, headers: Readonly<Record<string, string>>, isStream = false): void {
    this.#status = status
    this.#recorder?.begin(status, headers)
    this.callRecorder?.beginReply(status, headers)
    this.#answer.begin(status, headers, isStream)
  }

  #recordPiece(recorder: ReplyRecorder, piece: Buffer): void {
    recorder.add(piece)
    // The reply can be neither sent nor replayed.
    if (recorder.isTooLarge && this.#isDetached && !this.#isAborted && !this.#resumable) this.#disconnect()
  }

  /** Ends the reply. The end of a recorded reply is sent when the recording is stored. */
  #finish(piece: string | Buffer): void {
    if (!this.#recorder) {
      this.#send(piece)
      return
    }
    this.#recordPiece(this.#recorder, typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
    this.#heldEnd = () => this.#send(piece)
  }

  #send(last: string | Buffer): void {
    this.#isEnded = true
    this.#answer.end(last)
  }

  /** Opens an answer that is sent in pieces. `heartbeat`: bytes that may be written between them; '' for answers that allow none. */
  begin(headers: Record<string, string>, heartbeat = ''): void {
    const type: Record<string, string> = this.#reframing ? { 'content-type': this.#reframing.contentType } : {}
    this.#heartbeat = heartbeat
    const resumable: Record<string, string> = this.#resumable ? { 'x-sluice-resumable': '1' } : {}
    this.#writeHead(200, { ...headers, ...type, ...resumable, ...this.#idHeaders() }, true)
  }

  /** Opens the answer of a file, which an error cuts off. */
  beginFile(status: number, headers: Record<string, string>): void {
    this.#isWhole = true
    this.#writeHead(status, { ...headers, ...this.#idHeaders() })
  }

  /** Writes a piece of the answer, as byte text. Returns false when the client reads more slowly: see `whenDrained`. */
  write(byteText: string, nowMs: number): boolean {
    if (this.#firstByteMs === 0) this.#firstByteMs = nowMs
    this.#lastWriteMs = nowMs
    // A heartbeat is no event of a reply that can be resumed.
    const isBeat = this.#resumable !== undefined && byteText === this.#heartbeat
    if (isBeat && this.#isDetached) return true
    const out = this.#reframing && !isBeat ? this.#reframing.push(byteText) : byteText
    this.#bytesOut += out.length
    this.callRecorder?.addToReply(out)
    if (this.#recorder && !isBeat) this.#recordPiece(this.#recorder, Buffer.from(out, 'latin1'))
    return this.#isDetached || this.#answer.write(out)
  }

  /** Calls `listener` once, when the client has read what was written. Only one listener waits at a time; a second one is ignored. */
  whenDrained(listener: () => void): void {
    if (this.#onDrained) return
    this.#onDrained = () => {
      this.#onDrained = undefined
      listener()
    }
    this.#answer.whenDrained(() => this.#onDrained?.())
  }

  /** The client has not yet read what was written. */
  get isBlocked(): boolean {
    return !this.#isDetached && this.#answer.isBlocked
  }

  /** Closes the connection; the client counts as disconnected. */
  drop(): void {
    this.#answer.drop()
  }

  /** Writes the last piece of the answer. */
  end(byteText: string): void {
    this.#recorder?.complete()
    this.#endStream(byteText)
  }

  #endStream(byteText: string): void {
    const out = this.#reframing ? this.#reframing.push(byteText) + this.#reframing.end() : byteText
    this.#bytesOut += out.length
    this.callRecorder?.addToReply(out)
    this.#finish(out)
  }

  /** Sends one more byte of a whole answer, and its head before the first, but never its end. `answer` sends the rest. */
  answerEarly(contentType: string, body: Buffer): void {
    if (this.#sentEarly >= body.length - 1) return
    if (!this.isCommitted) this.#beginWhole(200, { 'content-type': contentType }, body)
    this.#answer.write(body.subarray(this.#sentEarly, ++this.#sentEarly))
  }

  /** Sends a whole answer. */
  answer(contentType: string, body: Buffer): void {
    this.#bytesOut = body.length
    if (this.#isWhole) this.#send(body.subarray(this.#sentEarly))
    else this.#answerWhole(200, { 'content-type': contentType }, body)
  }

  #answerWhole(status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    this.#bytesOut = body.length
    this.#beginWhole(status, headers, body)
    this.#recorder?.complete()
    this.#finish(body)
  }

  #beginWhole(status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    this.beginFile(status, { ...headers, 'content-length': String(body.length) })
    this.callRecorder?.addToReply(body)
  }

  /**
   * Sends an error in the caller's dialect: as the answer, or as the last event of a stream that has begun. `write` makes that
   * event for formats where it depends on earlier events.
   */
  sendError(error: CallerError | AppError, write?: (errorFacts: UpstreamErrorFacts) => string | undefined): void {
    const errorFacts = error instanceof AppError ? ownError(error) : inDialect(this.dialect, error)
    const errorOptions = { requestId: this.id, language: this.language }
    if (this.isOver || this.#heldEnd) return
    this.#error = errorFacts
    // A whole answer that has begun cannot become an error: the client sees that it is incomplete.
    if (this.#isWhole) this.drop()
    else if (this.isCommitted) {
      const event = write?.({ ...errorFacts, message: errorFacts.message[this.language], code: errorFacts.code ?? '' })
      this.#endStream(toByteText(event ?? errorEvent(this.dialect, errorFacts, errorOptions)))
    } else {
      const headers = errorHeaders(this.dialect, errorFacts, this.id)
      const body = Buffer.from(errorBody(this.dialect, errorFacts, errorOptions))
      this.#answerWhole(statusFor(this.dialect, errorFacts), headers, body)
    }
  }

  /** Sets an additional response header; an empty value removes it. */
  setHeader(name: string, value: string): void {
    if (value !== '') this.#headers[name] = value
    // `delete` alone would make every later use of the object slow.
    else if (name in this.#headers) delete this.#headers[name]
  }

  #idHeaders(): Record<string, string> {
    return {
      ...this.#headers,
      'x-oneapi-request-id': this.id,
      [this.dialect === 'anthropic' ? 'request-id' : 'x-request-id']: this.id,
      'access-control-allow-origin': '*',
    }
  }
}
