import { background, type Logger } from '../../../base/lib/log/logger.ts'
import type { Deadline, Deadlines } from '../../../base/lib/time/timer-wheel.ts'
import type { StoredError, StoredForm } from '../../protocols/stored-form.ts'
import { type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import { formOf, type LocalResponse, type NumberedEvent, type Owned } from '../conversations/local-response.ts'
import type { LocalResponses } from '../conversations/local-responses.ts'
import { ClientExchange } from '../http/client-exchange.ts'
import { DetachedRequest } from '../http/detached-request.ts'
import { FrameAnswer } from '../http/frame-answer.ts'
import { parse } from '../response/sse-interceptor.ts'

/** The parts that a run uses. */
interface RunParts {
  readonly localResponses: LocalResponses
  readonly deadlines: Deadlines
  readonly logger: Logger
}

/**
 * One response that this node makes without a waiting caller. Its call writes into a list of events, which is stored in the database about
 * every second: other nodes read it there, and see that the response is still running. Its end is published only after it is stored, and it
 * is stored after the charge.
 */
export class BackgroundRun {
  /** The call that the relay answers. */
  readonly call: ClientExchange
  readonly #app: RunParts
  readonly #answer: FrameAnswer
  readonly #own: LocalResponse
  readonly #form: StoredForm
  readonly #events: NumberedEvent[]
  readonly #beat: Deadline
  #bytes = 0
  #written = 0
  #writing: Promise<void> = Promise.resolve()
  /** The last event, withheld until it is stored. */
  #last: NumberedEvent | undefined
  #error: StoredError | undefined
  #isCancelled = false
  #isOver = false
  #news: (() => void)[] = []

  /** `own` must have a row in the database. */
  constructor(app: RunParts, call: ClientExchange, own: LocalResponse, begun: readonly JsonObject[]) {
    this.#app = app
    this.#own = own
    this.#form = formOf(own.id)
    this.#events = begun.map((event, number) => ({ number, data: JSON.stringify(event) }))
    this.#answer = new FrameAnswer(
      { send: (data) => this.#take(data) },
      { event: (data) => data, error: (_status, body) => this.#fail(body) },
    )
    const { id, dialect, language, client, startedMs, request, trace, notes } = call
    const { url = '', headers } = request
    const detached = new DetachedRequest(url, headers, {})
    this.call = new ClientExchange(this.#answer, { id, dialect, language, client, startedMs, request: detached, trace })
    const { caller, asked, group, holdMs } = notes
    Object.assign(this.call.notes, { caller, asked, group, holdMs })
    this.#beat = app.deadlines.after(beatMs, () => this.#writeDown())
  }

  /** Whether its end is stored. */
  get isOver(): boolean {
    return this.#isOver
  }

  eventsAfter(number: number): NumberedEvent[] {
    return this.#events.filter((event) => event.number > number)
  }

  /** Resolves when there are more events. */
  news(): Promise<void> {
    return new Promise((resolve) => this.#news.push(resolve))
  }

  cancel(): void {
    this.#isCancelled = true
    this.call.drop()
  }

  /** Aborts the run, because this node cannot continue it. */
  stop(): void {
    if (!this.#last) this.#error ??= { code: 'server_error', message: 'The server was stopped before the response was complete' }
    this.call.abort()
  }

  /** Stores its end, after the request was answered or aborted. */
  async end(): Promise<void> {
    await this.#answer.over
    this.#app.deadlines.cancel(this.#beat)
    await this.#writing
    const last = (this.#error ? undefined : this.#last) ?? this.#closing()
    const response = this.#form.answerIn(parse(last.data) ?? {}) ?? this.#own.response
    try {
      const events = [...this.#events.slice(this.#written), last]
      await this.#app.localResponses.finish({ ...this.#own, response }, events, this.#bytes + last.data.length)
    } catch (error) {
      // Its lease will expire; the response then counts as failed.
      this.#app.logger.error({ error, response: this.#own.id }, 'the end of a response could not be written down')
    }
    this.#events.push(last)
    this.#isOver = true
    this.#tell()
  }

  #take(data: string): void {
    if (data === '') return
    const event = { number: this.#form.numberOf(data), data }
    if (this.#form.isTerminalEvent(data)) {
      this.#last = event
      return
    }
    this.#bytes += data.length
    if (this.#bytes > bytesMax) {
      this.#error = { code: 'server_error', message: 'The response became too large to be kept' }
      this.stop()
      return
    }
    this.#events.push(event)
    this.#tell()
  }

  /** Records the error of a request that no channel answered. */
  #fail(body: string): string {
    const error = objectAt(parse(body) ?? {}, 'error') ?? {}
    this.#error ??= { code: textAt(error, 'code') || 'server_error', message: textAt(error, 'message') }
    return ''
  }

  #closing(): NumberedEvent {
    const number = (this.#events.at(-1)?.number ?? -1) + 1
    const brokeOff = { code: 'server_error', message: 'The response broke off' }
    const error = this.#error ?? (this.#isCancelled ? undefined : brokeOff)
    const events = this.#events.map(({ data }) => data)
    const response = this.#form.closed(this.#own.response, events, error)
    return { number, data: JSON.stringify(this.#form.closingEvent(response, number)) }
  }

  #writeDown(): void {
    const events = this.#events.slice(this.#written)
    const writing = this.#app.localResponses.advance(this.#own, events).then((goesOn) => {
      this.#written += events.length
      if (!goesOn) this.cancel()
    })
    background(this.#app.logger, 'write down a response in the background', writing)
    this.#writing = writing
      .catch(() => {})
      .then(() => {
        if (!this.#answer.isOver) this.#app.deadlines.refresh(this.#beat, beatMs)
      })
  }

  #tell(): void {
    const waiting = this.#news
    this.#news = []
    for (const resolve of waiting) resolve()
  }
}

const beatMs = 1_500
const bytesMax = 16 * 1024 * 1024

/** The runs of this node, by user. */
export class BackgroundRuns {
  readonly #runs = new Map<string, BackgroundRun>()

  add(owned: Owned, run: BackgroundRun): void {
    this.#runs.set(keyOf(owned), run)
  }

  remove(owned: Owned): void {
    this.#runs.delete(keyOf(owned))
  }

  find(owned: Owned): BackgroundRun | undefined {
    return this.#runs.get(keyOf(owned))
  }

  countOf(userId: number): number {
    return [...this.#runs.keys()].filter((key) => key.startsWith(`${userId} `)).length
  }

  /** The server is stopping, and its grace period is over. */
  stopAll(): void {
    for (const run of this.#runs.values()) run.stop()
  }
}

function keyOf({ userId, id }: Owned): string {
  return `${userId} ${id}`
}
