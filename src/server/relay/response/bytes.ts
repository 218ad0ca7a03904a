import type { ClientExchange } from '../http/client-exchange.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import type { Receiver, Running } from '../upstream/http-exchange.ts'
import { tryReading } from '../upstream/read-reply.ts'
import { requireNoError } from './whole.ts'

/** Passes an answer of bytes (speech) on as it comes. Its last piece waits for the charge. JSON in place of it is an error. */
export class BytesReply implements Receiver {
  readonly #call: ClientExchange
  readonly #now: () => number
  readonly #done: (outcome: 'complete' | UpstreamFailure) => void
  readonly #resume = () => this.#exchange?.resume()
  #exchange: Running | undefined
  #contentType = ''
  #isJson = false
  #json: Buffer[] = []
  #last: Buffer | undefined

  constructor(call: ClientExchange, more: { now: () => number; done: (outcome: 'complete' | UpstreamFailure) => void }) {
    this.#call = call
    this.#now = more.now
    this.#done = more.done
  }

  attach(exchange: Running): void {
    this.#exchange = exchange
  }

  begin(headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.#contentType = String(headers['content-type'] ?? 'application/octet-stream')
    this.#isJson = this.#contentType.includes('json')
    if (this.#contentType.includes('html'))
      throw new UpstreamFailure('bad-reply', { facts: { message: 'it answered with a page' } })
  }

  data(chunk: Buffer): void {
    if (this.#isJson) {
      this.#json.push(chunk)
      return
    }
    const before = this.#last
    this.#last = chunk
    if (before) this.#write(before)
  }

  end(): void {
    if (this.#isJson) {
      const read = tryReading(() => requireNoError(Buffer.concat(this.#json)))
      this.#done(read ?? new UpstreamFailure('bad-reply', { facts: { message: 'it answered with JSON instead of a file' } }))
      return
    }
    this.#done(this.#last ? 'complete' : new UpstreamFailure('bad-reply', { facts: { message: 'its answer was empty' } }))
  }

  fail(failure: UpstreamFailure): void {
    this.#done(failure)
  }

  /** Sends half of the last piece, but never its end. */
  sendEarly(): void {
    const last = this.#last ?? Buffer.alloc(0)
    const half = last.length >> 1
    if (half === 0) return
    this.#last = last.subarray(half)
    this.#write(last.subarray(0, half))
  }

  /** All of it, while nothing was sent. */
  get unsent(): { contentType: string; body: Buffer } {
    return { contentType: this.#contentType, body: this.#last ?? Buffer.alloc(0) }
  }

  /** Sends the last piece. */
  close(): void {
    this.#begin()
    this.#call.end(this.#last?.toString('latin1') ?? '')
  }

  #write(piece: Buffer): void {
    this.#begin()
    if (this.#call.write(piece.toString('latin1'), this.#now())) return
    this.#exchange?.pause()
    this.#call.whenDrained(this.#resume)
  }

  #begin(): void {
    if (!this.#call.isCommitted) this.#call.begin({ 'content-type': this.#contentType })
  }
}
