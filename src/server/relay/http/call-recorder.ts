import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type {
  CallerSide,
  RecordedBody,
  RecordedPieces,
  RecordedTiming,
  UpstreamExchange,
} from '../../../contract/entities/recording.ts'
import { type Clock, seconds } from '../../lib/clock.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import type { FinishedRecording, Recordings } from '../../usage/recordings.ts'
import { type HeaderMap, Redactor, secretsIn } from './recorded-secrets.ts'

interface RecorderParts {
  readonly now: Clock
  readonly steady: Clock
  readonly recordings: Recordings
}

/** The facts of a call that are recorded from its beginning. */
interface ArrivedCall {
  readonly id: string
  readonly startedMs: number
  readonly request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>
}

interface RecordedChannel {
  readonly id: number
  readonly keyId: number
  readonly key: string
}

interface OutgoingRequest {
  readonly method?: string | undefined
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Records the exchanges of one attempt. */
export interface AttemptRecorder {
  open(request: OutgoingRequest): ExchangeTape
}

/** The recorder of a call that a rule selects or may select; undefined otherwise. */
export function recorderFor(app: RecorderParts, call: ArrivedCall, caller: RelayCaller): CallRecorder | undefined {
  const rule = app.recordings.rules.ruleOf(caller)
  if (rule === undefined || (rule === 'record' && !app.recordings.takesAnother())) return undefined
  return new CallRecorder(app, call, caller.userId, rule === 'record')
}

/**
 * Records one call: heads, times, and copies of the bodies up to the stored size. Until a watched call reaches a recorded channel,
 * nothing is recorded. Redaction, compression and storage follow after the call.
 */
export class CallRecorder implements FinishedRecording {
  readonly requestId: string
  readonly userId: number
  readonly at: number
  readonly #app: RecorderParts
  readonly #call: ArrivedCall
  readonly #account: Account
  readonly #bytesMax: number
  readonly #exchanges: ExchangeTape[] = []
  readonly #channelKeys: string[] = []
  readonly #reply: ReplyTape
  #request: BodyTape
  #requestBytes: Buffer | undefined
  #isActive: boolean
  #timing: RecordedTiming = { queue_ms: 0, hold_ms: 0, commit_ms: 0, first_byte_ms: -1, duration_ms: 0 }

  constructor(app: RecorderParts, call: ArrivedCall, userId: number, isActive: boolean) {
    this.#app = app
    this.#call = call
    this.requestId = call.id
    this.userId = userId
    this.at = seconds(app.now())
    this.#isActive = isActive
    this.#bytesMax = app.recordings.bodyBytesMax
    this.#account = new Account(app.recordings.memory)
    this.#request = this.#newTape()
    this.#reply = new ReplyTape(this.#newTape(), app.steady)
  }

  #newTape(): BodyTape {
    return new BodyTape(this.#bytesMax, this.#account)
  }

  /** The body of the request, as the caller sent it. */
  readRequest(bytes: Buffer): void {
    this.#requestBytes = bytes
    if (this.#isActive) this.#request.push(bytes)
  }

  beginReply(status: number, headers: HeaderMap): void {
    if (this.#isActive) this.#reply.begin(status, headers)
  }

  /** A piece of the reply's body. */
  addToReply(piece: Buffer | string): void {
    if (this.#isActive) this.#reply.add(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
  }

  /** Undefined for a channel whose exchanges are not recorded. */
  attempt(channel: RecordedChannel): AttemptRecorder | undefined {
    const { recordings } = this.#app
    if (!this.#isActive) {
      if (!recordings.rules.recordsChannel(channel.id) || !recordings.takesAnother()) return undefined
      this.#isActive = true
      if (this.#requestBytes) this.#request.push(this.#requestBytes)
    }
    this.#channelKeys.push(channel.key, ...channel.key.split('|'))
    return {
      open: (request) => {
        const body = this.#newTape()
        body.push(request.body)
        const reply = new ReplyTape(this.#newTape(), this.#app.steady)
        const tape = new ExchangeTape({ channel, request, body, reply }, this.#app.steady)
        // The exchanges of a task that is polled for minutes must not grow a recording without bound.
        if (this.#exchanges.length < exchangesMax) this.#exchanges.push(tape)
        return tape
      },
    }
  }

  /** Ends the recording and adds it to the store. */
  finish(timing: RecordedTiming): void {
    this.#timing = timing
    this.#requestBytes = undefined
    if (this.#isActive) this.#app.recordings.add(this)
  }

  sides(): { caller: CallerSide; upstream: UpstreamExchange[] } {
    const { method = '', url = '', headers } = this.#call.request
    const callerSecrets = secretsIn(headers, url)
    const upstreamSecrets = this.#exchanges.flatMap(({ request }) => secretsIn(request.headers, request.url.href))
    const redactor = new Redactor([...callerSecrets, ...upstreamSecrets, ...this.#channelKeys])
    const made = { redactor, bytesMax: this.#bytesMax }
    const request = {
      method,
      url: redactor.url(url),
      headers: redactor.headers(headers),
      body: this.#request.present(made),
    }
    return {
      caller: { request, reply: this.#reply.present(made), timing: this.#timing, pieces: this.#reply.pieces },
      upstream: this.#exchanges.map((exchange) => exchange.present(made, this.#call.startedMs)),
    }
  }

  release(): void {
    this.#account.close()
  }
}

const exchangesMax = 50

/** The memory that one recording uses. */
class Account {
  readonly #memory: { free: number }
  #taken = 0
  #isClosed = false

  constructor(memory: { free: number }) {
    this.#memory = memory
  }

  /** How many of these bytes may be kept. */
  take(bytes: number): number {
    const taken = this.#isClosed ? 0 : Math.max(0, Math.min(bytes, this.#memory.free))
    this.#memory.free -= taken
    this.#taken += taken
    return taken
  }

  close(): void {
    this.#isClosed = true
    this.#memory.free += this.#taken
    this.#taken = 0
  }
}

/** Bytes buffered beyond the limit, so that a secret at the end of a stored body is recognized completely. */
const beyondEnd = 8 * 1024

interface Presenting {
  readonly redactor: Redactor
  readonly bytesMax: number
}

/** The beginning of a body, copied, and its length. */
class BodyTape {
  readonly #bytesMax: number
  readonly #account: Account
  readonly #kept: Buffer[] = []
  #keptBytes = 0
  #bytes = 0
  #isFull = false

  constructor(bytesMax: number, account: Account) {
    this.#bytesMax = bytesMax
    this.#account = account
  }

  push(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#isFull || piece.length === 0) return
    const taken = this.#account.take(Math.min(piece.length, this.#bytesMax + beyondEnd - this.#keptBytes))
    this.#isFull = taken < piece.length
    if (taken === 0) return
    // A chunk of a socket references a larger block of memory; a copy does not.
    this.#kept.push(Buffer.from(piece.subarray(0, taken)))
    this.#keptBytes += taken
  }

  present({ redactor, bytesMax }: Presenting): RecordedBody {
    const kept = Buffer.concat(this.#kept)
    const facts = { bytes: this.#bytes, is_cut: this.#bytes > Math.min(bytesMax, this.#keptBytes) }
    const text = textOf(kept, this.#isFull)
    if (text === undefined) {
      const bytes = Buffer.from(redactor.text(kept.toString('latin1')), 'latin1').subarray(0, bytesMax)
      return { text: bytes.toString('base64'), encoding: 'base64', ...facts }
    }
    const safe = redactor.text(text)
    const cut = Buffer.byteLength(safe) <= bytesMax ? safe : (textOf(Buffer.from(safe).subarray(0, bytesMax), true) ?? '')
    return { text: cut, encoding: 'text', ...facts }
  }
}

/**
 * Bytes decoded as UTF-8, without an incomplete character at the end of a truncated body; undefined for bytes that are not UTF-8.
 */
function textOf(bytes: Buffer, isCut: boolean): string | undefined {
  for (let end = bytes.length; end >= Math.max(0, bytes.length - (isCut ? 3 : 0)); end--) {
    const part = bytes.subarray(0, end)
    if (isUtf8(part)) return part.toString('utf8')
  }
  return undefined
}

/** Records a reply while it passes: head, body, and arrival times of its pieces. */
class ReplyTape {
  readonly #body: BodyTape
  readonly #steady: Clock
  #status = 0
  #headers: HeaderMap = {}
  #count = 0
  #firstMs = 0
  #lastMs = 0
  #longestMs = 0

  constructor(body: BodyTape, steady: Clock) {
    this.#body = body
    this.#steady = steady
  }

  get firstMs(): number {
    return this.#firstMs
  }

  begin(status: number, headers: HeaderMap): void {
    this.#status = status
    this.#headers = headers
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return
    const now = this.#steady()
    if (this.#count++ === 0) this.#firstMs = now
    else this.#longestMs = Math.max(this.#longestMs, now - this.#lastMs)
    this.#lastMs = now
    this.#body.push(piece)
  }

  get pieces(): RecordedPieces {
    const gaps = Math.max(1, this.#count - 1)
    return {
      count: this.#count,
      longest_gap_ms: Math.round(this.#longestMs),
      mean_gap_ms: Math.round((this.#lastMs - this.#firstMs) / gaps),
    }
  }

  present(made: Presenting): CallerSide['reply'] {
    if (this.#status === 0) return null
    return { status: this.#status, headers: made.redactor.headers(this.#headers), body: this.#body.present(made) }
  }
}

/** One exchange with an upstream as it happens. */
export class ExchangeTape {
  readonly request: OutgoingRequest
  readonly #channel: RecordedChannel
  readonly #body: BodyTape
  readonly #reply: ReplyTape
  readonly #steady: Clock
  readonly #startedMs: number
  #sentMs = 0
  #headMs = 0
  #endedMs = 0
  #failure = ''

  constructor(
    made: {
      readonly channel: RecordedChannel
      readonly request: OutgoingRequest
      readonly body: BodyTape
      readonly reply: ReplyTape
    },
    steady: Clock,
  ) {
    this.request = made.request
    this.#channel = made.channel
    this.#body = made.body
    this.#reply = made.reply
    this.#steady = steady
    this.#startedMs = steady()
  }

  /** The request was assigned to a connection. */
  sent(): void {
    this.#sentMs = this.#steady()
  }

  begin(status: number, headers: HeaderMap): void {
    this.#headMs = this.#steady()
    this.#reply.begin(status, headers)
  }

  add(piece: Buffer): void {
    this.#reply.add(piece)
  }

  /** `failure` is '' for an exchange that was answered. */
  end(failure = ''): void {
    if (this.#endedMs > 0) return
    this.#endedMs = this.#steady()
    this.#failure = failure
  }

  present(made: Presenting, arrivedMs: number): UpstreamExchange {
    const since = (ms: number) => (ms === 0 ? -1 : Math.max(0, Math.round(ms - arrivedMs)))
    const { method = 'POST', url, headers } = this.request
    return {
      channel: this.#channel.id,
      key: this.#channel.keyId,
      request: {
        method,
        url: made.redactor.url(url.href),
        headers: made.redactor.headers(headers),
        body: this.#body.present(made),
      },
      reply: this.#reply.present(made),
      started_ms: since(this.#startedMs),
      sent_ms: since(this.#sentMs),
      head_ms: since(this.#headMs),
      first_byte_ms: since(this.#reply.firstMs),
      ended_ms: since(this.#endedMs),
      failure: made.redactor.text(this.#failure),
      pieces: this.#reply.pieces,
    }
  }
}
