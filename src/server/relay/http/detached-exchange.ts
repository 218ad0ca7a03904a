import type { IncomingMessage, ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { newDetachedRequest } from '../../lib/node-internals.ts'
import { EventBlocks, eventsIn } from '../../lib/sse.ts'
import type { SocketPeer } from './socket-peer.ts'

/** What becomes of the events and the errors of an answer. */
interface FrameSink {
  /** What is sent before the first event, by the headers of the answer; undefined for nothing. */
  opening?(headers: Readonly<Record<string, unknown>>): string | undefined
  event(data: string): string
  error(status: number, body: string): string
}

/**
 * The answer to one request that came as a message, or that nobody waits for: to the relay it is an HTTP answer, to who takes it each of its
 * events is a message. It holds back when they do not take them.
 */
export class FrameResponse extends Writable {
  statusCode = 200
  headersSent = false
  /** Another connection than that of HTTP. */
  readonly socket = null
  readonly chunkedEncoding = false
  readonly #peer: Pick<SocketPeer, 'send'>
  readonly #sink: FrameSink
  readonly #blocks = new EventBlocks(eventBytesMax)
  #isEvents = false
  #opening: string | undefined
  #body = ''

  constructor(peer: Pick<SocketPeer, 'send'>, sink: FrameSink) {
    super({ decodeStrings: false, highWaterMark: 256 * 1024 })
    this.#peer = peer
    this.#sink = sink
  }

  /** As the relay's `Call` takes it: of an answer of HTTP it uses what stands here, and nothing else. */
  asResponse(): ServerResponse {
    // See above: the members of this class are those that `Call` touches.
    return this as unknown as ServerResponse
  }

  setHeader(): this {
    return this
  }

  writeHead(status: number, headers: Readonly<Record<string, unknown>> = {}): this {
    this.statusCode = status
    this.headersSent = true
    this.#isEvents = String(headers['content-type'] ?? '').includes('event-stream')
    if (this.#isEvents) this.#opening = this.#sink.opening?.(headers)
    return this
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const text = typeof chunk === 'string' ? chunk : chunk.toString('latin1')
    if (!this.#isEvents) {
      this.#body += text
      done()
      return
    }
    this.#send(this.#blocks.push(text)).then(() => done(), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    const rest = this.#isEvents ? this.#send(this.#blocks.flush()) : this.#sendWhole()
    rest.then(() => done(), done)
  }

  async #send(block: string): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    if (opening !== undefined) await this.#peer.send(opening)
    for (const { data } of eventsIn(block)) await this.#peer.send(this.#sink.event(data))
  }

  async #sendWhole(): Promise<void> {
    if (this.statusCode >= 400) await this.#peer.send(this.#sink.error(this.statusCode, this.#body))
  }
}

const eventBytesMax = 16 * 1024 * 1024

/** A request with a body and `more` headers of its own and the headers of another, on no connection: what it answers goes elsewhere. */
export function detachedRequest(
  from: IncomingMessage,
  path: string,
  body: object,
  more: Readonly<Record<string, string>> = {},
): IncomingMessage {
  const request = newDetachedRequest()
  const { 'content-encoding': _encoding, 'content-length': _length, 'transfer-encoding': _transfer, ...headers } = from.headers
  Object.assign(request.headers, headers, more, { 'content-type': 'application/json' })
  request.method = 'POST'
  request.url = path
  request.push(JSON.stringify(body))
  request.push(null)
  request.complete = true
  return request
}
