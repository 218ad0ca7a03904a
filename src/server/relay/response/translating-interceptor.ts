import type { Usage } from '../../../contract/usage.ts'
import { readEvents, toByteText } from '../../lib/sse.ts'
import type { EventReader, EventWriter } from '../../protocols/codec.ts'
import type { ReplyEvent } from '../../protocols/reply-events.ts'
import type { UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { SseInterceptor } from './adapter.ts'
import type { Followed } from './follow-reply.ts'
import type { SealedState } from './sealed-parts.ts'

/** A stream of another format on its way to the caller: event by event, with its end kept back. */
export class TranslatingInterceptor implements SseInterceptor {
  readonly #reader: EventReader
  readonly #writer: EventWriter
  readonly #followed: Followed
  readonly #keep: (state: SealedState) => void
  #end: ReplyEvent | undefined

  constructor(reader: EventReader, writer: EventWriter, followed: Followed, keep: (state: SealedState) => void) {
    this.#reader = reader
    this.#writer = writer
    this.#followed = followed
    this.#keep = keep
  }

  get usage(): Usage | undefined {
    return this.#followed.usage
  }

  get error(): UpstreamErrorFacts | undefined {
    return this.#followed.error
  }

  get hasOutput(): boolean {
    return this.#followed.hasOutput
  }

  get isEnded(): boolean {
    return this.#followed.isEnded
  }

  isComplete(): boolean {
    return this.#followed.isEnded
  }

  text(): string {
    return this.#followed.text
  }

  get unkept(): number {
    return this.#followed.unkept
  }

  take(block: string): string {
    let text = ''
    for (const event of readEvents(block)) text += this.#write(this.#followed.take(this.#reader.push(event)))
    return toByteText(text)
  }

  finish(rest: string): string {
    const before = this.take(rest)
    return before + toByteText(this.#write(this.#followed.take(this.#reader.finish())))
  }

  ending(billed: Usage): string {
    const { state, usage } = this.#followed
    if (state) this.#keep(state)
    const told = usage ? '' : this.#writer.push({ type: 'usage', usage: billed })
    return toByteText(told + this.#writer.push(this.#end ?? { type: 'end' }))
  }

  writeError(error: UpstreamErrorFacts): string {
    return this.#writer.push({ type: 'error', error })
  }

  /** An error is told by the relay, in its own words: what the upstream says may hold the channel's key. */
  #write(events: readonly ReplyEvent[]): string {
    let text = ''
    for (const event of events) {
      if (event.type === 'end') this.#end = event
      else if (event.type !== 'error') text += this.#writer.push(event)
    }
    return text
  }
}
