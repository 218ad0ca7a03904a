import type { Text } from '../../../../../contract/text.ts'
import { BudgetExceeded } from '../../bytes/byte-budget.ts'
import { ByteCollector } from '../../bytes/byte-collector.ts'
import { setActiveTimeout } from '../../time/active-time.ts'
import { hasTooManyHeaders } from '../header-limits.ts'
import type { ReplyHandler, RequestController } from './connection.ts'
import type { UpstreamPool } from './pool.ts'

export interface Reply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Bytes of the body. */
  readonly size: number
  /** Joined when it is read for the first time. */
  readonly body: Buffer
  /** Releases the memory of a body that is no longer needed, before the garbage collector would. */
  discard(): void
}

/** Why an outgoing call gave no reply. `text` may be shown; the cause only goes to the log. */
export class CallFailure extends Error {
  readonly kind: keyof typeof callFailures
  readonly text: Text

  constructor(kind: keyof typeof callFailures, cause?: unknown) {
    super(callFailures[kind].en, { cause })
    this.name = 'CallFailure'
    this.kind = kind
    this.text = callFailures[kind]
  }
}

// A refused address is reported like an unreachable one, so that the errors do not reveal the internal network.
const callFailures = {
  bad_url: { zh: '地址无效', en: 'the address is invalid' },
  unreachable: { zh: '无法连接该地址', en: 'the address could not be reached' },
  timeout: { zh: '响应超时', en: 'it did not answer in time' },
  too_large: { zh: '响应过大', en: 'the answer is too large' },
  too_many_redirects: { zh: '重定向次数过多', en: 'it redirected too often' },
} as const satisfies Record<string, Text>

/**
 * Called with the number of bytes before they are stored. Reading continues when the promise is resolved; an error ends the call,
 * which rejects with it.
 */
type CountBytes = (bytes: number) => Promise<void> | undefined

/** A request and the limits of its answer. */
export interface SmallRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** The greatest size of the answer. */
  readonly sizeBytesMax: number
  readonly count?: CountBytes
}

interface BoundedRequest extends SmallRequest {
  /** How long the peer may send nothing; without it, only the signal ends the call. */
  readonly silenceMsMax?: number
}

/**
 * Sends one request and reads the complete answer. The connections of the pool are closed afterwards, with anything unread. Throws
 * `CallFailure`, and a `BudgetExceeded` of `count`.
 */
export async function exchange(pool: UpstreamPool, url: URL, request: BoundedRequest, signal: AbortSignal): Promise<Reply> {
  const cut = () => void pool.destroy()
  signal.addEventListener('abort', cut)
  try {
    if (signal.aborted) throw new CallFailure('timeout')
    const { method = 'GET', headers, body = null } = request
    const options = { method, path: `${url.pathname}${url.search}`, headers: { 'accept-encoding': 'identity', ...headers }, body }
    return await new Promise<Reply>((resolve, reject) => pool.dispatch(options, new ReplyReader(request, { resolve, reject })))
  } catch (error) {
    if (signal.aborted) throw new CallFailure('timeout')
    if (error instanceof CallFailure || error instanceof BudgetExceeded) throw error
    throw new CallFailure('unreachable', error)
  } finally {
    signal.removeEventListener('abort', cut)
    void pool.destroy()
  }
}

interface ReplyOutcome {
  resolve(reply: Reply): void
  reject(error: unknown): void
}

/** Reads one answer within the limits of its call. An error that it throws becomes the error of the request. */
class ReplyReader implements ReplyHandler {
  readonly #request: BoundedRequest
  readonly #outcome: ReplyOutcome
  #status = 0
  #headers: Reply['headers'] = {}
  #collected = new ByteCollector()
  /** Resolves when the last piece is counted and stored. */
  #counting: Promise<void> | undefined
  #cancelSilence = () => {}

  constructor(request: BoundedRequest, outcome: ReplyOutcome) {
    this.#request = request
    this.#outcome = outcome
  }

  onRequestStart(controller: RequestController): void {
    this.#limitSilence(controller)
  }

  onResponseStart(controller: RequestController, status: number, headers: Reply['headers']): void {
    if (hasTooManyHeaders(headers)) throw new CallFailure('too_large')
    const announced = Number(headers['content-length'] ?? 0)
    if (announced > this.#request.sizeBytesMax) throw new CallFailure('too_large')
    this.#status = status
    this.#headers = headers
    this.#collected = new ByteCollector(this.#request.count ? 0 : announced)
    this.#limitSilence(controller)
  }

  onResponseData(controller: RequestController, piece: Buffer): void {
    if (this.#collected.size + piece.length > this.#request.sizeBytesMax) throw new CallFailure('too_large')
    const counted = this.#request.count?.(piece.length)
    if (!counted) {
      this.#collected.push(piece)
      this.#limitSilence(controller)
      return
    }
    this.#cancelSilence()
    controller.pause()
    this.#counting = counted.then(() => {
      this.#collected.push(piece)
      controller.resume()
      this.#limitSilence(controller)
    })
    this.#counting.catch((error) => controller.abort(error))
  }

  onResponseEnd(): void {
    const end = () => {
      this.#cancelSilence()
      this.#outcome.resolve(this.#reply())
    }
    if (this.#counting) this.#counting.then(end, (error) => this.#fail(error))
    else end()
  }

  onResponseError(_controller: RequestController, error: Error): void {
    this.#fail(error)
  }

  #fail(error: unknown): void {
    this.#cancelSilence()
    this.#collected.discard()
    this.#outcome.reject(error)
  }

  #limitSilence(controller: RequestController): void {
    const { silenceMsMax } = this.#request
    if (silenceMsMax === undefined) return
    this.#cancelSilence()
    this.#cancelSilence = setActiveTimeout(silenceMsMax, () => controller.abort(new CallFailure('timeout')))
  }

  #reply(): Reply {
    const whole = this.#collected
    return {
      status: this.#status,
      headers: this.#headers,
      size: whole.size,
      get body() {
        return whole.bytes()
      },
      discard: () => whole.discard(),
    }
  }
}
