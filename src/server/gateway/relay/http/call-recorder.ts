import type { IncomingMessage } from 'node:http'
import type { CallerSide, RecordedPieces, RecordedTiming, UpstreamExchange } from '../../../../contract/entities/recording.ts'
import { type Clock, seconds } from '../../../base/lib/time/clock.ts'
import { yieldToEventLoop } from '../../../base/lib/time/yield-to-event-loop.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { FinishedRecording, Recordings } from '../../../usage/recordings/recordings.ts'
import { Account, BodyTape } from './body-tape.ts'
import { type HeaderMap, Redactor, secretsOfChannelIn, secretsOfKey } from './recorded-secrets.ts'

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
  /** What the caller was identified by. */
  readonly notes: { readonly credential: string }
}

interface RecordedChannel {
  readonly id: number
  readonly keyId: number
  readonly key: string
}

interface OutgoingRequest {
  /** The key of the channel, or the access token in its place. */
  readonly key: string
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
  /** The recorded bodies of requests. Attempts that send the same bytes share one. */
  readonly #requests = new WeakMap<Buffer, BodyTape>()
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

  #requestTape(bytes: Buffer): BodyTape {
    const known = this.#requests.get(bytes)
    if (known) return known
    const tape = this.#newTape()
    tape.push(bytes)
    this.#requests.set(bytes, tape)
    return tape
  }

  /** The body of the request, as the caller sent it. */
  readRequest(bytes: Buffer): void {
    this.#requestBytes = bytes
    if (this.#isActive) this.#request = this.#requestTape(bytes)
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
      if (this.#requestBytes) this.#request = this.#requestTape(this.#requestBytes)
    }
    this.#channelKeys.push(...secretsOfKey(channel.key))
    return {
      open: (request) => {
        const body = this.#requestTape(request.body)
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

  async sides(): Promise<{ caller: CallerSide; upstream: UpstreamExchange[] }> {
    const { method = '', url = '', headers } = this.#call.request
    await yieldToEventLoop()
    const redactor = new Redactor(this.#secrets())
    const request = {
      method,
      url: redactor.url(url),
      headers: redactor.headers(headers),
      body: await this.#request.present(redactor),
    }
    const reply = await this.#reply.present(redactor)
    const upstream: UpstreamExchange[] = []
    for (const exchange of this.#exchanges) upstream.push(await exchange.present(redactor, this.#call.startedMs))
    return { caller: { request, reply, timing: this.#timing, pieces: this.#reply.pieces }, upstream }
  }

  /** The secrets of this call that the server knows. */
  #secrets(): string[] {
    const { notes, request } = this.#call
    const { credential } = notes
    const ofChannels = this.#exchanges.flatMap(({ request: sent }) => [
      ...secretsOfKey(sent.key),
      ...secretsOfChannelIn(sent.headers, request.headers),
    ])
    return [credential, `sk-${credential}`, ...this.#channelKeys, ...ofChannels]
  }

  release(): void {
    this.#account.close()
  }
}

const exchangesMax = 50

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

  async present(redactor: Redactor): Promise<CallerSide['reply']> {
    if (this.#status === 0) return null
    return { status: this.#status, headers: redactor.headers(this.#headers), body: await this.#body.present(redactor) }
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

  async present(redactor: Redactor, arrivedMs: number): Promise<UpstreamExchange> {
    const since = (ms: number) => (ms === 0 ? -1 : Math.max(0, Math.round(ms - arrivedMs)))
    const { method = 'POST', url, headers } = this.request
    await yieldToEventLoop()
    return {
      channel: this.#channel.id,
      key: this.#channel.keyId,
      request: {
        method,
        url: redactor.url(url.href),
        headers: redactor.headers(headers),
        body: await this.#body.present(redactor),
      },
      reply: await this.#reply.present(redactor),
      started_ms: since(this.#startedMs),
      sent_ms: since(this.#sentMs),
      head_ms: since(this.#headMs),
      first_byte_ms: since(this.#reply.firstMs),
      ended_ms: since(this.#endedMs),
      failure: redactor.text(this.#failure),
      pieces: this.#reply.pieces,
    }
  }
}
