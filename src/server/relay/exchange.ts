import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Dispatcher } from 'undici'
import type { Deadline, Deadlines } from '../lib/timer-wheel.ts'
import { readOpenAiError } from '../protocols/openai-chat/errors.ts'
import { isObject } from '../protocols/wire-format.ts'
import { UpstreamFailure } from './failure.ts'

/** Where an exchange delivers a good answer. Exactly one of `end` and `fail` is called, once. */
export interface Receiver {
  /** The status was 2xx. Throws an UpstreamFailure to refuse the answer. */
  begin(headers: Readonly<Record<string, string | string[] | undefined>>): void
  data(chunk: Buffer): void
  end(): void
  fail(failure: UpstreamFailure): void
}

export interface Limits {
  readonly headersMs: number
  readonly idleMs: number
  readonly totalMs: number
}

export interface Target {
  readonly dispatcher: Dispatcher
  readonly url: URL
  readonly headers: Record<string, string>
  readonly body: Buffer
  readonly limits: Limits
  readonly statusCodeMapping: ReadonlyMap<number, number>
}

/**
 * One HTTP exchange with an upstream: one request, one answer, with deadlines for the headers, for silence and for the whole, and an
 * end in every case. Redirects are not followed. An error status is read, bounded, and becomes an UpstreamFailure.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #target: Target
  readonly #receiver: Receiver
  readonly #deadlines: Deadlines
  readonly #silence: Deadline
  readonly #total: Deadline
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  #hasAnswer = false
  #errorStatus = 0
  #errorHeaders: Readonly<Record<string, string | string[] | undefined>> = {}
  #errorBody: Buffer[] = []
  #errorBytes = 0
  #decoder: NodeJS.ReadWriteStream | undefined

  constructor(deadlines: Deadlines, target: Target, receiver: Receiver) {
    this.#deadlines = deadlines
    this.#target = target
    this.#receiver = receiver
    this.#silence = deadlines.after(target.limits.headersMs, () => this.#finish(new UpstreamFailure('timeout')))
    this.#total = deadlines.after(target.limits.totalMs, () => this.#finish(new UpstreamFailure('timeout')))
  }

  /** Whether the request reached the upstream's socket, so that the upstream may bill it. */
  get wasSent(): boolean {
    return this.#controller !== undefined
  }

  start(): void {
    const { dispatcher, url, headers, body } = this.#target
    try {
      dispatcher.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'POST', headers, body }, this)
    } catch (cause) {
      this.#finish(new UpstreamFailure('unreachable', { cause }))
    }
  }

  /** Breaks off: the upstream's socket is destroyed at once and the receiver hears nothing more. */
  abort(): void {
    if (this.#isOver) return
    this.#close()
    this.#controller?.abort(new Error('The exchange was broken off'))
  }

  pause(): void {
    this.#controller?.pause()
    this.#deadlines.cancel(this.#silence)
  }

  resume(): void {
    if (this.#isOver) return
    this.#deadlines.refresh(this.#silence, this.#target.limits.idleMs)
    this.#controller?.resume()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('The exchange was broken off'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200 || this.#isOver) return
    this.#hasAnswer = true
    this.#deadlines.refresh(this.#silence, this.#target.limits.idleMs)
    this.#openDecoder(headers['content-encoding'])
    if (status >= 300) {
      this.#errorStatus = status
      this.#errorHeaders = headers
      return
    }
    try {
      this.#receiver.begin(headers)
    } catch (error) {
      this.#finish(error instanceof UpstreamFailure ? error : new UpstreamFailure('bad-reply', { cause: error }))
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#deadlines.refresh(this.#silence, this.#target.limits.idleMs)
    if (this.#decoder) this.#decoder.write(chunk)
    else this.#accept(chunk)
  }

  onResponseEnd(): void {
    if (this.#decoder) this.#decoder.end()
    else this.#finish()
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    this.#finish(new UpstreamFailure(this.#hasAnswer ? 'cut' : 'unreachable', { cause }))
  }

  #accept(chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#errorStatus === 0) {
      try {
        this.#receiver.data(chunk)
      } catch (error) {
        this.#finish(error instanceof UpstreamFailure ? error : new UpstreamFailure('bad-reply', { cause: error }))
      }
      return
    }
    this.#errorBytes += chunk.length
    if (this.#errorBytes <= errorBytesMax) this.#errorBody.push(chunk)
    else this.#finish()
  }

  /** The upstream was asked for plain bytes; one that compresses all the same is decoded here. */
  #openDecoder(encoding: string | string[] | undefined): void {
    const open = typeof encoding === 'string' ? decoders[encoding.trim().toLowerCase()] : undefined
    if (!open) return
    const decoder = open()
    let bytes = 0
    decoder.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > decodedBytesMax)
        this.#finish(new UpstreamFailure('bad-reply', { facts: { message: 'the compressed answer is too large' } }))
      else this.#accept(chunk)
    })
    decoder.once('end', () => this.#finish())
    decoder.once('error', (cause: Error) => this.#finish(new UpstreamFailure('bad-reply', { cause })))
    this.#decoder = decoder
  }

  #finish(failure?: UpstreamFailure): void {
    if (this.#isOver) return
    this.#close()
    const told = failure ?? (this.#errorStatus > 0 ? this.#statusFailure() : undefined)
    if (told) {
      this.#controller?.abort(told)
      this.#receiver.fail(told)
      return
    }
    this.#receiver.end()
  }

  #close(): void {
    this.#isOver = true
    this.#deadlines.cancel(this.#silence)
    this.#deadlines.cancel(this.#total)
  }

  #statusFailure(): UpstreamFailure {
    const facts = readOpenAiError(parse(Buffer.concat(this.#errorBody)))
    const mapped = this.#target.statusCodeMapping.get(this.#errorStatus)
    const retryAfter = Number(this.#errorHeaders['retry-after'] ?? 0)
    return new UpstreamFailure('status', {
      status: mapped ?? this.#errorStatus,
      isMapped: mapped !== undefined,
      facts,
      retryAfter: Number.isFinite(retryAfter) ? Math.min(Math.max(retryAfter, 0), 3600) : 0,
    })
  }
}

const errorBytesMax = 64 * 1024
const decodedBytesMax = 64 * 1024 * 1024

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
}

function parse(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return isHtml(text) ? { error: { message: '' } } : { error: { message: text.trim().slice(0, 500) } }
  }
}

function isHtml(text: string): boolean {
  return /^\s*</.test(text)
}

/** An error object inside an answer that claims success. */
export function readHiddenError(reply: unknown): ReturnType<typeof readOpenAiError> | undefined {
  const outer = Array.isArray(reply) ? reply[0] : reply
  if (!isObject(outer)) return undefined
  if (outer.error || outer.type === 'error') return readOpenAiError(outer)
  const base = outer.base_resp
  if (isObject(base) && typeof base.status_code === 'number' && base.status_code !== 0) {
    return {
      message: String(base.status_msg ?? ''),
      type: 'upstream_error',
      code: String(base.status_code),
      param: null,
      status: 0,
    }
  }
  return undefined
}
