import type { Socket } from 'node:net'
import type { ErrorCode } from '../../../../contract/errors.ts'
import type { TextParams } from '../../../../contract/text.ts'
import { AppError, messageOf } from '../failure.ts'

/** Returns the answer to a call of the other process, or handles its notice. `link` is the one on which it arrived. */
export type LinkHandler = (value: never, link: Link) => unknown

/** A call has a number above 0, its answer the same number below 0, a notice 0. */
type Message = readonly [number: number, name: string, value: unknown]

interface Failed {
  readonly code?: ErrorCode
  readonly params?: TextParams
  readonly message: string
}

interface Call {
  resolve(value: unknown): void
  reject(error: Error): void
}

/**
 * Calls between two processes of this program, in both directions, over a local socket. A message is a line of JSON, so values are
 * plain data (an absent answer becomes null); messages arrive in the order in which they were sent, and those of one iteration of the event loop leave in one write.
 */
export class Link {
  readonly #socket: Socket
  readonly #handlers: ReadonlyMap<string, LinkHandler>
  readonly #calls = new Map<number, Call>()
  #lastCall = 0
  #unsent = ''
  #received = ''
  #isClosed = false

  /** Handlers may be added later. */
  constructor(socket: Socket, handlers: ReadonlyMap<string, LinkHandler>) {
    this.#socket = socket
    this.#handlers = handlers
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => this.#receive(text))
    socket.on('error', () => {})
    socket.on('close', () => this.#close())
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  onClose(listener: () => void): void {
    this.#socket.on('close', listener)
  }

  /** Rejects with the `AppError` of the other side, and with `database_unavailable` when the link closes before the answer. */
  call<Result = void>(name: string, value: unknown): Promise<Result> {
    if (this.#isClosed) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      const number = ++this.#lastCall
      // The handler of this name returns that type.
      this.#calls.set(number, { resolve: resolve as (value: unknown) => void, reject })
      this.#send([number, name, value])
    })
  }

  /** Sends a notice, which has no answer. On a closed link it is lost. */
  notify(name: string, value: unknown): void {
    if (!this.#isClosed) this.#send([0, name, value])
  }

  close(): void {
    this.#flush()
    this.#socket.end()
  }

  #send(message: Message): void {
    if (this.#unsent === '') setImmediate(() => this.#flush())
    this.#unsent += `${JSON.stringify(message)}\n`
  }

  #flush(): void {
    if (this.#unsent === '' || this.#isClosed) return
    this.#socket.write(this.#unsent)
    this.#unsent = ''
  }

  #receive(text: string): void {
    const lines = (this.#received + text).split('\n')
    this.#received = lines.pop() ?? ''
    for (const line of lines) this.#take(JSON.parse(line) as Message)
  }

  #take([number, name, value]: Message): void {
    const handler = this.#handlers.get(name)
    if (number < 0) this.#answered(-number, name, value)
    else if (number === 0) handler?.(value as never, this)
    else if (handler) this.#answer(number, handler, value)
    else this.#send([-number, 'failed', { message: `Nothing answers ${name}` } satisfies Failed])
  }

  #answer(number: number, handler: LinkHandler, value: unknown): void {
    try {
      const result = handler(value as never, this)
      if (result instanceof Promise)
        result.then(
          (later: unknown) => this.#send([-number, 'ok', later]),
          (error: unknown) => this.#send([-number, 'failed', failedOf(error)]),
        )
      else this.#send([-number, 'ok', result])
    } catch (error) {
      this.#send([-number, 'failed', failedOf(error)])
    }
  }

  #answered(number: number, outcome: string, value: unknown): void {
    const call = this.#calls.get(number)
    this.#calls.delete(number)
    if (outcome === 'ok') call?.resolve(value)
    else call?.reject(errorOf(value as Failed))
  }

  #close(): void {
    this.#isClosed = true
    for (const call of this.#calls.values()) call.reject(closedError())
    this.#calls.clear()
  }
}

function failedOf(error: unknown): Failed {
  if (error instanceof AppError) return { code: error.code, params: error.params, message: String(error.cause ?? error.message) }
  return { message: messageOf(error) }
}

function errorOf({ code, params, message }: Failed): Error {
  return code ? new AppError(code, params, { detail: message }) : new Error(message)
}

function closedError(): AppError {
  return new AppError('database_unavailable', {}, { cause: new Error('The link to the other process is closed') })
}
