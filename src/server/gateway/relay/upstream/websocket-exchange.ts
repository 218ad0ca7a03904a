import type { WebSocket } from 'ws'
import { toByteText } from '../../../base/lib/bytes/sse.ts'
import { openSocket } from '../../../base/lib/net/upstream-socket.ts'
import type { Deadline, Deadlines } from '../../../base/lib/time/timer-wheel.ts'
import type { ExchangeTape } from '../http/call-recorder.ts'
import { UpstreamFailure, unreadable } from './failure.ts'
import type { Receiver, Running, Target } from './http-exchange.ts'

/**
 * One exchange with an upstream over a WebSocket: the request is the first message, and each message received is an event. To the
 * receiver it looks like a stream of events over HTTP. A WebSocket cannot be paused, so that the queue of events is bounded.
 */
export class WebSocketExchange implements Running {
  readonly #target: Target
  readonly #receiver: Receiver
  readonly #deadlines: Deadlines
  readonly #silence: Deadline
  readonly #total: Deadline
  readonly #tape: ExchangeTape | undefined
  #socket: WebSocket | undefined
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #bytes = 0
  #isOver = false
  #isPaused = false
  #isClosed = false
  #wasSent = false

  constructor(deadlines: Deadlines, target: Target, receiver: Receiver) {
    this.#target = target
    this.#receiver = receiver
    this.#deadlines = deadlines
    this.#tape = target.recorder?.open(target)
    this.#silence = deadlines.after(target.limits.headersMs, () => this.#finish(new UpstreamFailure('timeout')))
    this.#total = deadlines.after(target.limits.totalMs, () => this.#finish(new UpstreamFailure('timeout')))
  }

  get wasSent(): boolean {
    return this.#wasSent
  }

  get isOver(): boolean {
    return this.#isOver
  }

  start(): void {
    const { url, headers, pool, body, limits } = this.#target
    const { 'content-type': _type, accept: _accept, 'accept-encoding': _encoding, ...own } = headers
    const socket = openSocket(pool.connect, { url, headers: own, handshakeMs: limits.headersMs })
    this.#socket = socket
    socket.onopen = () => {
      if (this.#isOver) return
      this.#wasSent = true
      this.#tape?.sent()
      this.#tape?.begin(101, {})
      this.#guarded(() => this.#receiver.begin({ 'content-type': 'text/event-stream' }))
      socket.send(body.toString('utf8'))
    }
    socket.onmessage = ({ data }: { data: unknown }) => this.#take(data)
    socket.onerror = ({ error }: { error?: unknown }) =>
      this.#finish(new UpstreamFailure(kindOf(error, this.#wasSent), { cause: error }))
    socket.onclose = () => {
      this.#isClosed = true
      if (!this.#isPaused) this.#finish()
    }
  }

  abort(): void {
    if (this.#isOver) return
    this.#close()
    this.#tape?.end('broken off')
  }

  pause(): void {
    if (this.#isOver) return
    this.#isPaused = true
    this.#deadlines.cancel(this.#silence)
  }

  resume(): void {
    if (this.#isOver) return
    this.#isPaused = false
    this.#deadlines.refresh(this.#silence, this.#target.limits.idleMs)
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    for (const event of waiting) this.#deliver(event)
    if (this.#isClosed && !this.#isPaused) this.#finish()
  }

  #take(data: unknown): void {
    if (this.#isOver) return
    const text = typeof data === 'string' ? data.replaceAll(/\r?\n/g, ' ') : ''
    const event = Buffer.from(`data: ${toByteText(text)}\n\n`, 'latin1')
    this.#bytes += event.length
    this.#tape?.add(event)
    if (text === '' || this.#bytes > answerBytesMax) {
      this.#finish(new UpstreamFailure(text === '' ? 'bad-reply' : 'too-large'))
      return
    }
    if (!this.#isPaused) {
      this.#deadlines.refresh(this.#silence, this.#target.limits.idleMs)
      this.#deliver(event)
      return
    }
    this.#waiting.push(event)
    this.#waitingBytes += event.length
    if (this.#waitingBytes > waitingBytesMax) this.#finish(new UpstreamFailure('cut'))
  }

  #deliver(event: Buffer): void {
    if (!this.#isOver) this.#guarded(() => this.#receiver.data(event))
  }

  #guarded(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.#finish(unreadable(error))
    }
  }

  #finish(failure?: UpstreamFailure): void {
    if (this.#isOver) return
    this.#close()
    this.#tape?.end(failure?.reason)
    if (failure) this.#receiver.fail(failure)
    else this.#receiver.end()
  }

  #close(): void {
    this.#isOver = true
    this.#deadlines.cancel(this.#silence)
    this.#deadlines.cancel(this.#total)
    if (!this.#isClosed) this.#socket?.close()
  }
}

/** A message over the limit of the socket is reported as an error of it. */
function kindOf(error: unknown, wasSent: boolean): UpstreamFailure['kind'] {
  const isTooLarge = error instanceof Error && 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
  if (isTooLarge) return 'too-large'
  return wasSent ? 'cut' : 'unreachable'
}

const answerBytesMax = 64 * 1024 * 1024
const waitingBytesMax = 4 * 1024 * 1024
