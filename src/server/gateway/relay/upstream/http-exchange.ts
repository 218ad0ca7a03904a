import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Usage } from '../../../../contract/usage.ts'
import { type Framing, openFraming, type Unframe } from '../../../base/lib/bytes/frames.ts'
import { hasTooManyHeaders, replyHeadersMax } from '../../../base/lib/net/header-limits.ts'
import { ConnectionClosed, type ReplyHandler, type RequestController } from '../../../base/lib/net/upstream-http/connection.ts'
import type { UpstreamPool } from '../../../base/lib/net/upstream-http/pool.ts'
import type { StreamedBody } from '../../../base/lib/net/upstream-http/request-head.ts'
import type { Deadline, Deadlines } from '../../../base/lib/time/timer-wheel.ts'
import { readGoogleDetails } from '../../protocols/gemini-generate/errors.ts'
import { readOpenAiError } from '../../protocols/openai-chat/errors.ts'
import type { AttemptRecorder, ExchangeTape } from '../http/call-recorder.ts'
import { readRetryAfter, UpstreamFailure, unreadable } from './failure.ts'
import { tellsNoRoute } from './no-route.ts'

/** The receiver of a successful answer. Exactly one of `end` and `fail` is called, once. */
export interface Receiver {
  /** The status was 2xx. Throws an UpstreamFailure to refuse the answer. */
  begin(headers: Readonly<Record<string, string | string[] | undefined>>): void
  data(chunk: Buffer): void
  end(): void
  fail(failure: UpstreamFailure): void
}

/** A running exchange. */
export interface Running {
  /** Whether the request reached the upstream's socket, so that the upstream may bill it. */
  readonly wasSent: boolean
  readonly isOver: boolean
  /** The usage, for answers whose format cannot carry it; set before `end` of the receiver. */
  readonly usage?: Usage | undefined
  /** The vendor sends the answer to an earlier request again, without charge. */
  readonly isFreeRepetition?: boolean | undefined
  start(): void
  /** Aborts the exchange: destroys the upstream's socket at once. The receiver is not called any more. */
  abort(): void
  /** Pauses the upstream; the idle timeout does not count the pause. */
  pause(): void
  resume(): void
}

export interface Limits {
  readonly headersMs: number
  readonly idleMs: number
  readonly totalMs: number
  /** The largest answer; for JSON and events when absent. */
  readonly answerBytesMax?: number
}

export interface Target {
  readonly pool: UpstreamPool
  /** The key of the channel, or the access token in its place: a recording masks it. */
  readonly key: string
  /** POST by default. */
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly url: URL
  readonly headers: Record<string, string>
  readonly body: Buffer
  /** A body that is sent as it arrives, in place of `body`. */
  readonly streamed?: StreamedBody | undefined
  readonly framing: Framing
  readonly limits: Limits
  readonly statusCodeMapping: ReadonlyMap<number, number>
  /** Called when the request is sent a second time, because a kept-alive connection was closed before the upstream had read it. */
  readonly repeats?: (() => void) | undefined
  /** Set when the exchange is recorded. */
  readonly recorder?: AttemptRecorder | undefined
}

/**
 * One HTTP exchange with an upstream: one request, one answer, with deadlines for the headers, for silence and for the whole
 * exchange. It always ends. Redirects are not followed. An error status is read, bounded, and becomes an UpstreamFailure.
 */
export class HttpExchange implements Running, ReplyHandler {
  readonly #target: Target
  readonly #receiver: Receiver
  readonly #deadlines: Deadlines
  readonly #silence: Deadline
  readonly #total: Deadline
  readonly #tape: ExchangeTape | undefined
  #controller: RequestController | undefined
  #isOver = false
  #isPaused = false
  #wasSent = false
  #hasAnswer = false
  #hasRepeated = false
  #isFreeRepetition = false
  /** Bytes received, and bytes after decompression. */
  #packedBytes = 0
  #bytes = 0
  #errorStatus = 0
  #errorHeaders: Readonly<Record<string, string | string[] | undefined>> = {}
  #errorBody: Buffer[] = []
  #decoder: Transform | undefined
  /** Converts an answer with other framing to events; undefined for server-sent events. */
  #unframe: Unframe | undefined

  constructor(deadlines: Deadlines, target: Target, receiver: Receiver) {
    this.#deadlines = deadlines
    this.#target = target
    this.#receiver = receiver
    this.#tape = target.recorder?.open(target)
    this.#silence = deadlines.after(target.limits.headersMs, () => this.#finish(this.#silent()))
    this.#total = deadlines.after(target.limits.totalMs, () => this.#finish(new UpstreamFailure('timeout')))
  }

  get wasSent(): boolean {
    return this.#wasSent
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get isFreeRepetition(): boolean {
    return this.#isFreeRepetition
  }

  start(): void {
    const { pool, method = 'POST', url, headers, body, streamed } = this.#target
    const path = url.pathname + url.search
    const sent = streamed ? { ...streamed, pieces: this.#watched(streamed.pieces) } : method === 'POST' ? body : null
    try {
      pool.dispatch({ origin: url.origin, path, method, headers, body: sent }, this)
    } catch (cause) {
      this.#finish(new UpstreamFailure('unreachable', { cause }))
    }
  }

  /** The pieces of a body. While they move, the exchange is not silent. */
  async *#watched(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      if (!this.#isOver) this.#deadlines.refresh(this.#silence, this.#target.limits.headersMs)
      yield piece
    }
  }

  abort(): void {
    if (this.#isOver) return
    this.#close()
    this.#tape?.end('broken off')
    this.#controller?.abort(new Error('The exchange was broken off'))
  }

  pause(): void {
    if (this.#isOver) return
    this.#isPaused = true
    this.#controller?.pause()
    this.#deadlines.cancel(this.#silence)
  }

  resume(): void {
    if (this.#isOver) return
    this.#isPaused = false
    this.#deadlines.refresh(this.#silence, this.#target.limits.idleMs)
    this.#controller?.resume()
  }

  onRequestStart(controller: RequestController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('The exchange was broken off'))
    else this.#noteSent()
  }

  #noteSent(): void {
    this.#wasSent = true
    this.#tape?.sent()
  }

  onResponseStart(
    _controller: RequestController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200 || this.#isOver) return
    this.#hasAnswer = true
    this.#tape?.begin(status, headers)
    if (hasTooManyHeaders(headers)) {
      this.#finish(new UpstreamFailure('bad-reply', { facts: { message: `it has more than ${replyHeadersMax} headers` } }))
      return
    }
    this.#deadlines.refresh(this.#silence, this.#target.limits.idleMs)
    this.#openDecoder(headers['content-encoding'])
    if (status >= 300) {
      this.#errorStatus = status
      this.#errorHeaders = headers
      return
    }
    this.#isFreeRepetition = headers[repetitionHeader] === 'HIT'
    if (this.#target.framing !== 'sse') this.#unframe = openFraming(this.#target.framing)
    try {
      this.#receiver.begin(headers)
    } catch (error) {
      this.#finish(unreadable(error))
    }
  }

  onResponseData(_controller: RequestController, chunk: Buffer): void {
    if (this.#isOver) return
    if (!this.#isPaused) this.#deadlines.refresh(this.#silence, this.#target.limits.idleMs)
    this.#packedBytes += chunk.length
    if (this.#decoder) this.#decoder.write(chunk)
    else this.#accept(chunk)
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    if (this.#decoder) this.#decoder.end()
    else this.#finish()
  }

  onResponseError(_controller: RequestController, cause: Error): void {
    if (this.#isOver) return
    if (!this.#hasRepeated && cause instanceof ConnectionClosed && cause.isSafeToRepeat) {
      this.#hasRepeated = true
      this.#target.repeats?.()
      this.start()
      return
    }
    this.#finish(new UpstreamFailure(this.#hasAnswer ? 'cut' : 'unreachable', { cause }))
  }

  #accept(chunk: Buffer): void {
    if (this.#isOver) return
    this.#bytes += chunk.length
    this.#tape?.add(chunk)
    if (
      this.#bytes > (this.#target.limits.answerBytesMax ?? answerBytesMax) ||
      this.#bytes > unpackedFreeBytes + this.#packedBytes * unpackingMax
    ) {
      this.#finish(new UpstreamFailure('too-large'))
      return
    }
    if (this.#errorStatus === 0) {
      try {
        if (this.#unframe) this.#deliver(this.#unframe.push(chunk))
        else this.#receiver.data(chunk)
      } catch (error) {
        this.#finish(unreadable(error))
      }
      return
    }
    if (this.#bytes <= errorBytesMax) this.#errorBody.push(chunk)
    else this.#finish()
  }

  #deliver(events: string): void {
    if (events !== '') this.#receiver.data(Buffer.from(events, 'latin1'))
  }

  /** Plain bytes were requested; a compressed answer is decoded here nevertheless. */
  #openDecoder(encoding: string | string[] | undefined): void {
    const open = typeof encoding === 'string' ? decoders.get(encoding.trim().toLowerCase()) : undefined
    if (!open) return
    const decoder = open()
    decoder.on('data', (chunk: Buffer) => this.#accept(chunk))
    decoder.once('end', () => this.#finish())
    decoder.on('error', (cause: Error) => this.#finish(new UpstreamFailure('bad-reply', { cause })))
    this.#decoder = decoder
  }

  #finish(failure?: UpstreamFailure): void {
    if (this.#isOver) return
    if (this.#unframe && !failure) failure = this.#flushFrames()
    this.#close()
    // An error status is reported even when its body is cut off or invalid.
    const reported = this.#errorStatus > 0 ? this.#statusFailure() : failure
    this.#tape?.end(reported?.reason)
    if (reported) {
      this.#controller?.abort(reported)
      this.#receiver.fail(reported)
      return
    }
    this.#receiver.end()
  }

  /** Silence before the answer is a timeout; silence within it means that the answer was cut off. */
  #silent(): UpstreamFailure {
    if (!this.#hasAnswer) return new UpstreamFailure('timeout')
    return new UpstreamFailure('cut', { facts: { message: 'it fell silent in its answer' } })
  }

  #flushFrames(): UpstreamFailure | undefined {
    const unframe = this.#unframe
    this.#unframe = undefined
    try {
      if (unframe) this.#deliver(unframe.flush())
      return undefined
    } catch (error) {
      return error instanceof UpstreamFailure ? error : new UpstreamFailure('cut', { cause: error })
    }
  }

  #close(): void {
    this.#isOver = true
    this.#deadlines.cancel(this.#silence)
    this.#deadlines.cancel(this.#total)
    this.#decoder?.destroy()
  }

  #statusFailure(): UpstreamFailure {
    const text = Buffer.concat(this.#errorBody).toString('utf8')
    const body = parse(text)
    const facts = readOpenAiError(body)
    const { reason, retryAfterSeconds } = readGoogleDetails(body)
    const mapped = this.#target.statusCodeMapping.get(this.#errorStatus)
    return new UpstreamFailure('status', {
      status: mapped ?? this.#errorStatus,
      isMapped: mapped !== undefined,
      facts: reason === '' ? facts : { ...facts, code: reason },
      retryAfter: readRetryAfter(this.#errorHeaders, Date.now()) || retryAfterSeconds,
      ...(tellsNoRoute(this.#errorStatus, text, this.#target.url.pathname) ? { noRoute: text } : {}),
    })
  }
}

const errorBytesMax = 64 * 1024
/** `HIT` where a vendor repeats an answer that it kept, and bills nothing. Source: OpenRouter's documentation of its response cache. */
const repetitionHeader = 'x-openrouter-cache-status'
/** Limit after decompression: answers with many images have up to 60 MB. */
const answerBytesMax = 60_000_000
/** Texts and images in JSON never compress this well; a higher ratio is an attack on memory. */
const unpackingMax = 20
const unpackedFreeBytes = 8_000_000

const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  ['br', () => createBrotliDecompress()],
])

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return isHtml(text) ? { error: { message: '' } } : { error: { message: text.trim().slice(0, 500) } }
  }
}

function isHtml(text: string): boolean {
  return /^\s*</.test(text)
}
