import type { RawData, WebSocket } from 'ws'
import { AppError } from '../../../base/lib/failure.ts'
import type { Deadline, Deadlines } from '../../../base/lib/time/timer-wheel.ts'

interface PeerListener {
  /** Handles one message at a time: the next one waits until this one is done. */
  message(text: string): Promise<void> | void
  /** Called once, after all messages before it were handled. */
  closed(code: number, reason: string): void
  /** `message` threw, or the peer sent a message that is not text. */
  failed(error: unknown): void
}

/**
 * One side of a relayed WebSocket, with back-pressure. Its messages are handled one after the other, and reading pauses meanwhile;
 * sending waits until the peer has read. So neither side can fill the memory. A peer that answers no ping is disconnected.
 */
export class SocketPeer {
  readonly #socket: WebSocket
  readonly #listener: PeerListener
  readonly #deadlines: Deadlines
  readonly #ping: Deadline
  readonly #queue: (string | Closing)[] = []
  #isBusy = false
  #isAlive = true
  #idle: (() => void)[] = []

  constructor(socket: WebSocket, deadlines: Deadlines, listener: PeerListener) {
    this.#socket = socket
    this.#listener = listener
    this.#deadlines = deadlines
    this.#ping = deadlines.after(pingMs, () => this.#beat())
    socket.on('message', (data, isBinary) => this.#take(isBinary ? undefined : textOf(data)))
    socket.on('pong', () => {
      this.#isAlive = true
    })
    // The `close` event that follows is handled below.
    socket.on('error', () => {})
    socket.once('close', (code, reason) => {
      deadlines.cancel(this.#ping)
      this.#push({ code, reason: reason.toString() })
    })
    socket.resume()
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  /** Sends a message. Returns a promise when the peer reads more slowly: await it before the next message. */
  send(text: string): Promise<void> | void {
    if (!this.isOpen) return
    if (this.#socket.bufferedAmount + text.length < bufferedMax) {
      this.#socket.send(text)
      return
    }
    return new Promise((resolve) => this.#socket.send(text, () => resolve()))
  }

  /** Closes the connection with the code and the reason of the other side, if a close frame may contain that code. */
  close(code: number, reason = ''): void {
    if (isSendable(code)) this.#socket.close(code, cut(reason))
    else this.#socket.close()
    // A paused socket would never receive the close frame of the peer.
    this.#socket.resume()
  }

  terminate(): void {
    this.#socket.terminate()
  }

  /** Resolves when all received messages are processed. */
  whenIdle(): Promise<void> {
    if (!this.#isBusy && this.#queue.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  #take(text: string | undefined): void {
    if (text === undefined) this.#listener.failed(new AppError('bad_request', { reason: 'messages must be text' }))
    else this.#push(text)
  }

  #push(next: string | Closing): void {
    this.#queue.push(next)
    if (this.#isBusy) this.#socket.pause()
    else void this.#run()
  }

  async #run(): Promise<void> {
    this.#isBusy = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      try {
        if (typeof next === 'string') {
          const working = this.#listener.message(next)
          if (working) await working
        } else this.#listener.closed(next.code, next.reason)
      } catch (error) {
        this.#listener.failed(error)
      }
    }
    this.#isBusy = false
    this.#socket.resume()
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #beat(): void {
    if (!this.#isAlive) {
      this.#socket.terminate()
      return
    }
    this.#isAlive = false
    if (this.isOpen) this.#socket.ping()
    this.#deadlines.refresh(this.#ping, pingMs)
  }
}

interface Closing {
  readonly code: number
  readonly reason: string
}

const pingMs = 25_000
const bufferedMax = 1024 * 1024
/** The most bytes of a reason in a close frame. */
const reasonBytesMax = 123

/** Codes that a close frame may have. RFC 6455, 7.4. */
function isSendable(code: number): boolean {
  return (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999)
}

function cut(reason: string): string {
  let text = reason
  while (Buffer.byteLength(text) > reasonBytesMax) text = text.slice(0, -1)
  return text
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return Buffer.from(data as Buffer).toString('utf8')
}
