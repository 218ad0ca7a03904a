import { EventBlocks } from '../lib/sse.ts'
import type { StreamFormat } from '../protocols/wire-format.ts'
import type { Call } from './call.ts'
import type { Exchange, Receiver } from './exchange.ts'
import { UpstreamFailure } from './failure.ts'
import { StreamTap } from './tap.ts'

/**
 * Passes an event stream from the upstream to the caller: chunks that arrive in one tick leave in one write, back-pressure goes both
 * ways, the status line waits for the first real output (until then another channel may take over), the terminal event waits for
 * the charge.
 */
export class StreamReply implements Receiver {
  readonly tap: StreamTap
  readonly #call: Call
  readonly #now: () => number
  readonly #done: (outcome: StreamOutcome) => void
  readonly #blocks = new EventBlocks(eventBytesMax)
  #exchange: Exchange | undefined
  #waiting: Buffer[] = []
  #early: Buffer[] = []
  #earlyBytes = 0
  #isScheduled = false
  #isDone = false
  readonly #resume = () => this.#exchange?.resume()
  #contentType = 'text/event-stream; charset=utf-8'

  constructor(
    call: Call,
    facts: {
      format: StreamFormat
      hideUsage: boolean
      renameTo: string | undefined
      now: () => number
      done: (outcome: StreamOutcome) => void
    },
  ) {
    this.#call = call
    this.#now = facts.now
    this.#done = facts.done
    this.tap = new StreamTap(facts.format, facts)
  }

  attach(exchange: Exchange): void {
    this.#exchange = exchange
  }

  begin(headers: Readonly<Record<string, string | string[] | undefined>>): void {
    const type = String(headers['content-type'] ?? '')
    if (type !== '' && !type.includes('text/event-stream'))
      throw new UpstreamFailure('bad-reply', { facts: { message: `it answered a streaming request with ${type.slice(0, 60)}` } })
    if (type !== '') this.#contentType = type
  }

  data(chunk: Buffer): void {
    this.#waiting.push(chunk)
    if (this.#isScheduled) return
    this.#isScheduled = true
    process.nextTick(flushReply, this)
  }

  end(): void {
    this.flush()
    const rest = this.#blocks.flush()
    if (rest.length > 0) this.#pass(rest)
    this.#finish(this.tap.isComplete() ? 'complete' : new UpstreamFailure('cut'))
  }

  fail(failure: UpstreamFailure): void {
    this.flush()
    this.#finish(this.tap.terminal ? 'complete' : failure)
  }

  /** Opens the answer before the first output, so that proxies between see life. Afterwards no other channel can take over. */
  heartbeat(text: string): void {
    if (this.#isDone) return
    this.#commit()
    this.#call.write(Buffer.from(text), this.#now())
  }

  flush(): void {
    this.#isScheduled = false
    if (this.#waiting.length === 0 || this.#isDone) return
    const bytes = this.#waiting.length === 1 && this.#waiting[0] ? this.#waiting[0] : Buffer.concat(this.#waiting)
    this.#waiting = []
    try {
      const block = this.#blocks.push(bytes)
      if (block.length > 0) this.#pass(block)
    } catch (cause) {
      this.#finish(new UpstreamFailure('cut', { facts: { message: 'an event of the stream is too large' }, cause }))
      this.#exchange?.abort()
    }
  }

  #pass(block: Buffer): void {
    const out = this.tap.take(block)
    const { error, terminal, hasOutput } = this.tap
    if (this.#call.isCommitted || hasOutput || terminal) {
      this.#commit()
      this.#write(out)
    } else {
      this.#hold(out)
    }
    if (terminal) this.#finish('complete')
    if (!error) return
    this.#finish(new UpstreamFailure('status', { status: error.status || 502, facts: error }))
    this.#exchange?.abort()
  }

  #hold(out: Buffer): void {
    this.#early.push(out)
    this.#earlyBytes += out.length
    if (this.#earlyBytes > earlyBytesMax) this.#commit()
  }

  #commit(): void {
    if (!this.#call.isCommitted) {
      this.#call.begin({
        'content-type': this.#contentType,
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      })
    }
    if (this.#early.length === 0) return
    const early = Buffer.concat(this.#early)
    this.#early = []
    this.#write(early)
  }

  #write(out: Buffer): void {
    if (out.length > 0 && !this.#call.write(out, this.#now(), this.#resume)) this.#exchange?.pause()
  }

  #finish(outcome: StreamOutcome): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#done(outcome)
  }
}

/** `complete`: everything but the terminal event has been passed on. Else why the stream ended early. */
export type StreamOutcome = 'complete' | UpstreamFailure

function flushReply(reply: StreamReply): void {
  reply.flush()
}

const eventBytesMax = 10 * 1024 * 1024
const earlyBytesMax = 64 * 1024
