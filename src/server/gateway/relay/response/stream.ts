import { EventBlocks, streamLineBytesMax } from '../../../base/lib/bytes/sse.ts'
import type { AnsweredModel } from '../../protocols/answered-model.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { errorInReply, tryReading, UpstreamFailure, unreadable } from '../upstream/failure.ts'
import type { Receiver, Running } from '../upstream/http-exchange.ts'
import type { Replay, ResponseAdapter, SseInterceptor, StreamObserver } from './adapter.ts'
import { type Form, replyShapeOf } from './pass-through.ts'
import { BytesReply } from './whole.ts'

/**
 * Passes an event stream from the upstream to the caller: chunks that arrive in one tick are sent in one write, back-pressure is
 * applied to both sides, the status line waits for the first real output (until then another channel may take over), the terminal
 * event waits for the charge. A non-streamed completion is converted to a stream; a file in place of events that contain one is passed
 * on as a file. While an observer stores a record, the stream waits.
 */
export class StreamReply implements Receiver {
  readonly interceptor: SseInterceptor
  readonly #call: ClientExchange
  readonly #facts: StreamFacts
  readonly #observe: StreamObserver | undefined
  readonly #blocks = new EventBlocks(streamLineBytesMax)
  #exchange: Running | undefined
  #waiting = ''
  #early = ''
  #isScheduled = false
  #isDone = false
  #isWaiting = false
  /** The step that is run when the wait ends: the upstream's stream ended meanwhile. */
  #onward: (() => void) | undefined
  readonly #resume = () => this.#exchange?.resume()
  #type = ''
  #form: Form | undefined
  #file: BytesReply | undefined

  constructor(call: ClientExchange, facts: StreamFacts) {
    this.#call = call
    this.#facts = facts
    this.interceptor = facts.adapter.openInterceptor()
    this.#observe = facts.adapter.openObserver?.()
  }

  attach(exchange: Running): void {
    this.#exchange = exchange
  }

  begin(headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.#type = String(headers['content-type'] ?? '')
    this.#facts.adapter.readHeaders?.(headers)
    if (!this.#facts.mayBeFile || this.#call.isCommitted || !fileType.test(this.#type)) return
    this.#file = new BytesReply(this.#call, { now: this.#facts.now, done: (outcome) => this.#finish(outcome) })
    if (this.#exchange) this.#file.attach(this.#exchange)
    this.#file.begin(headers)
  }

  /** The upstream answers with a file although events were requested. */
  get isFile(): boolean {
    return this.#file !== undefined
  }

  data(chunk: Buffer): void {
    if (this.#isDone) return
    if (this.#file) {
      this.#file.data(chunk)
      return
    }
    this.#form ??= replyShapeOf(chunk)
    if (this.#form === 'other' && !this.#type.includes('event-stream'))
      throw new UpstreamFailure('bad-reply', {
        facts: { message: `it answered a streaming request with ${this.#type.slice(0, 60)}` },
      })
    this.#waiting += chunk.toString('latin1')
    if (this.#isScheduled || this.#form === 'json') return
    this.#isScheduled = true
    process.nextTick(flushReply, this)
  }

  end(): void {
    if (this.#file) {
      this.#file.end()
      return
    }
    if (this.#form === 'json') {
      const body = Buffer.from(this.#waiting, 'latin1')
      this.#finish(
        tryReading(() => {
          const replay = this.#facts.adapter.readReplay(body)
          this.#facts.answered?.readBody(body)
          return replay
        }),
      )
      return
    }
    this.flush()
    this.#whenWritten(() => {
      this.#pass(this.interceptor.finish(this.#blocks.flush()))
      this.#whenWritten(() => this.#finish(this.interceptor.arrived.isComplete() ? 'complete' : new UpstreamFailure('cut')))
    })
  }

  fail(failure: UpstreamFailure): void {
    this.flush()
    this.#whenWritten(() => this.#finish(this.interceptor.arrived.isComplete() ? 'complete' : failure))
  }

  /** No output has arrived in time: another channel may take over, unless the answer was committed. */
  giveUp(): void {
    if (this.#isDone || this.#file || this.interceptor.arrived.hasOutput || this.#call.isCommitted) return
    this.#refuse(new UpstreamFailure('timeout', { facts: { message: 'it gave no output in time' } }))
  }

  /**
   * Commits the answer before the first output, so that proxies in between do not time out. Afterwards no other channel can take
   * over.
   */
  heartbeat(text: string): void {
    if (this.#isDone || this.#file) return
    this.#commit()
    this.#call.write(text, this.#facts.now())
  }

  /** Writes the terminal event and ends the response. */
  close(last: string): void {
    if (this.#file) {
      this.#file.close()
      return
    }
    this.#commit()
    this.#call.end(last)
  }

  /** Stops the stream: no further output is written. */
  abandon(): void {
    this.#isDone = true
  }

  flush(): void {
    this.#isScheduled = false
    if (this.#waiting === '' || this.#isDone || this.#isWaiting || this.#form === 'json') return
    const piece = this.#waiting
    this.#waiting = ''
    this.#guarded(() => {
      const block = this.#blocks.push(piece)
      if (block === '') return
      this.#facts.answered?.readBlock(block)
      const writing = this.#observe?.(block)
      const out = this.interceptor.take(block)
      if (writing) this.#wait(writing, out)
      else this.#pass(out)
    })
  }

  /** Every error ends the exchange: an answer without an end would keep its hold for ever. */
  #guarded(step: () => void): void {
    try {
      step()
    } catch (cause) {
      this.#refuse(unreadable(cause, 'its stream could not be read'))
    }
  }

  /** Continues at once, or when the observer has stored its record. */
  #whenWritten(step: () => void): void {
    if (this.#isWaiting) this.#onward = step
    else this.#guarded(step)
  }

  #wait(writing: Promise<void>, out: string): void {
    this.#isWaiting = true
    this.#exchange?.pause()
    const unwritten = (error: unknown) => {
      if (this.#isDone) return
      this.#isDone = true
      this.#exchange?.abort()
      this.#facts.unwritten(error)
    }
    writing.then(() => this.#goOn(out), unwritten)
  }

  #goOn(out: string): void {
    this.#isWaiting = false
    if (this.#isDone) return
    this.#exchange?.resume()
    this.#guarded(() => {
      this.#pass(out)
      this.flush()
      this.#onward?.()
    })
  }

  #pass(out: string): void {
    const { error, isEnded, hasOutput } = this.interceptor.arrived
    if (this.#call.isCommitted || hasOutput) {
      this.#commit()
      this.#write(out)
    } else {
      this.#hold(out)
    }
    if (error) this.#refuse(errorInReply(error))
    else if (isEnded && hasOutput) this.#finish('complete')
    else if (isEnded) this.#refuse(new UpstreamFailure('bad-reply', { facts: { message: 'its stream was empty' } }))
  }

  #refuse(failure: UpstreamFailure): void {
    this.#finish(failure)
    this.#exchange?.abort()
  }

  #hold(out: string): void {
    this.#early += out
    if (this.#early.length > earlyBytesMax) this.#commit()
  }

  #commit(): void {
    if (!this.#call.isCommitted) this.#call.begin(eventStreamHeaders, this.#facts.adapter.heartbeat)
    const early = this.#early
    this.#early = ''
    this.#write(early)
  }

  #write(out: string): void {
    if (out === '' || this.#call.write(out, this.#facts.now())) return
    this.#exchange?.pause()
    this.#call.whenDrained(this.#resume)
  }

  #finish(outcome: StreamOutcome): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#facts.done(outcome)
  }
}

/** The headers of a stream of events, which no proxy between may change or collect. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

interface StreamFacts {
  readonly adapter: ResponseAdapter
  /** Absent for a stream that is not charged by its end. */
  readonly answered?: AnsweredModel
  /** Hosts that know no events answer with a file. */
  readonly mayBeFile?: boolean
  now(): number
  done(outcome: StreamOutcome): void
  /** The record that must be durable before the caller gets the stream could not be stored. */
  unwritten(error: unknown): void
}

/**
 * `complete`: all but the terminal event has been passed on. Otherwise a whole answer to send, or the reason why the stream ended
 * early.
 */
export type StreamOutcome = 'complete' | Replay | UpstreamFailure

function flushReply(reply: StreamReply): void {
  reply.flush()
}

const fileType = /^(audio\/|application\/octet-stream)/i

const earlyBytesMax = 64 * 1024
