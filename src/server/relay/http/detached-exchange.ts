import type { IncomingMessage, ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { newDetachedRequest } from '../../lib/node-internals.ts'
import { EventBlocks, eventsIn } from '../../lib/sse.ts'
import type { SocketPeer } from './socket-peer.ts'

/** Turns the events and errors of an answer into messages. */
interface FrameSink {
  /** The message to send before the first event, made from the headers of the answer; undefined when there is none. */
  opening?(headers: Readonly<Record<string, unknown>>): string | undefined
  event(data: string): string
  error(status: number, body: string): string
}

/**
 * The answer to a request that arrived as a message or runs in the background. The relay writes it like an HTTP response; each
 * event of it becomes one message to the peer, with back-pressure.
 */
export class FrameResponse extends Writable {
  statusCode = 200
  headersSent = false
  /** There is no HTTP connection. */
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

  /** This object as a `ServerResponse`: it implements the members that `ClientExchange` uses. */
  asResponse(): ServerResponse {
    // `ClientExchange` uses only members that this class implements.
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

/**
 * A request without a connection: with the headers of another request, `more` headers and a body. Its answer goes to a
 * `FrameResponse`.
 */
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
