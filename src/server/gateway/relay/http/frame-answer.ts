import { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { EventBlocks, eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { Answer, AnswerListener } from './answer.ts'
import type { SocketPeer } from './socket-peer.ts'

/** Turns the events and errors of an answer into messages. */
interface FrameSink {
  /** The message to send before the first event, made from the headers of the answer; undefined when there is none. */
  opening?(headers: Readonly<Record<string, string>>): string | undefined
  event(data: string): string
  error(status: number, body: string): string
}

/**
 * The answer to a request that arrived as a message or runs in the background: each event of it becomes one message to the peer,
 * with back-pressure.
 */
export class FrameAnswer implements Answer {
  /** Resolves when the last message is sent, or the answer was dropped. */
  readonly over: Promise<void>
  readonly #peer: Pick<SocketPeer, 'send'>
  readonly #sink: FrameSink
  readonly #blocks = new EventBlocks(eventBytesMax)
  readonly #out = new Writable({
    decodeStrings: false,
    highWaterMark: 256 * 1024,
    write: (piece: Buffer | string, _encoding, done) => this.#take(piece).then(() => done(), done),
    final: (done) => this.#finish().then(() => done(), done),
  })
  readonly #whole: Buffer[] = []
  #status = 0
  #isEvents = false
  #opening: string | undefined

  constructor(peer: Pick<SocketPeer, 'send'>, sink: FrameSink) {
    this.#peer = peer
    this.#sink = sink
    this.over = finished(this.#out).catch(() => {})
  }

  get isOver(): boolean {
    return this.#out.destroyed
  }

  listen({ left }: AnswerListener): void {
    this.#out.on('close', () => {
      if (!this.#out.writableFinished) left()
    })
  }

  begin(status: number, headers: Readonly<Record<string, string>>): void {
    this.#status = status
    this.#isEvents = headers['content-type']?.includes('event-stream') === true
    if (this.#isEvents) this.#opening = this.#sink.opening?.(headers)
  }

  write(piece: string | Buffer): boolean {
    return this.#out.write(piece, 'latin1')
  }

  end(piece: string | Buffer): void {
    this.#out.end(piece, 'latin1')
  }

  get isBlocked(): boolean {
    return this.#out.writableNeedDrain
  }

  whenDrained(listener: () => void): void {
    this.#out.once('drain', listener)
  }

  /** There is no connection to probe. */
  probe(): void {}

  drop(): void {
    this.#out.destroy()
  }

  async #take(piece: Buffer | string): Promise<void> {
    if (this.#isEvents) await this.#send(this.#blocks.push(typeof piece === 'string' ? piece : piece.toString('latin1')))
    else this.#whole.push(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
  }

  async #finish(): Promise<void> {
    if (this.#isEvents) await this.#send(this.#blocks.flush())
    else if (this.#status >= 400)
      await this.#peer.send(this.#sink.error(this.#status, Buffer.concat(this.#whole).toString('utf8')))
  }

  async #send(block: string): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    if (opening !== undefined) await this.#peer.send(opening)
    for (const { data } of eventsIn(block)) await this.#peer.send(this.#sink.event(data))
  }
}

const eventBytesMax = 16 * 1024 * 1024
