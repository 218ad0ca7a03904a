import type { Usage } from '../../../contract/usage.ts'
import { readEvents, toByteText } from '../../lib/sse.ts'
import type { EventReader, EventWriter, WrittenRequest } from '../../protocols/codec.ts'
import { needsRepair, repairReply } from '../../protocols/repair-reply.ts'
import type { OpenEvent, ReplyEvent } from '../../protocols/reply-events.ts'
import { thinkingToContent } from '../../protocols/thinking-to-content.ts'
import type { UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { SseInterceptor } from './adapter.ts'
import { SealedParts, type SealedState } from './sealed-states.ts'
import { OutputBuffer } from './sse-interceptor.ts'

/** Follows a reply in neutral events: repairs them for the caller, and gathers what is to be known of it. */
export class Followed {
  usage: Usage | undefined
  error: UpstreamErrorFacts | undefined
  hasOutput = false
  isEnded = false
  readonly #output = new OutputBuffer()
  /** Blocks whose deltas are bytes. */
  readonly #bytes = new Set<number>()
  readonly #sealed = new SealedParts()
  readonly #tellBlock: ((event: OpenEvent) => void) | undefined
  readonly #steps: readonly ((event: ReplyEvent) => ReplyEvent[])[]

  /** `noteBlock` is called for every block that opens. */
  constructor(written: WrittenRequest, thinksInContent: boolean, noteBlock?: (event: OpenEvent) => void) {
    this.#tellBlock = noteBlock
    this.#steps = [...(needsRepair(written) ? [repairReply(written)] : []), ...(thinksInContent ? [thinkingToContent()] : [])]
  }

  /** The received text, counted when the upstream reports no usage. */
  get text(): string {
    return this.#output.kept
  }

  get unkept(): number {
    return this.#output.unkept
  }

  /** What belongs to a call of this reply and must be put back when the caller goes on. */
  get state(): SealedState | undefined {
    return this.#sealed.state
  }

  /** The events as the caller is to get them. Nothing comes behind the end or an error. */
  take(events: readonly ReplyEvent[]): ReplyEvent[] {
    const taken: ReplyEvent[] = []
    for (const event of events) {
      if (this.error || this.isEnded) break
      this.#note(event)
      if (this.#steps.length === 0) taken.push(event)
      else taken.push(...this.#steps.reduce<ReplyEvent[]>((repaired, step) => repaired.flatMap(step), [event]))
    }
    return taken
  }

  #note(event: ReplyEvent): void {
    this.#sealed.note(event)
    switch (event.type) {
      case 'usage':
        this.usage = event.usage
        return
      case 'error':
        this.error = event.error
        return
      case 'end':
        this.isEnded = true
        return
      case 'finish':
        this.hasOutput = true
        return
      case 'open':
        this.#noteBlock(event)
        return
      case 'delta':
        if (event.text === '') return
        this.hasOutput = true
        if (!this.#bytes.has(event.index)) this.#output.push(event.text)
        return
      default:
        return
    }
  }

  #noteBlock(event: OpenEvent): void {
    this.#tellBlock?.(event)
    if (event.block === 'image' || event.block === 'audio') this.#bytes.add(event.index)
    if (event.block !== 'tool-call' && event.block !== 'custom-tool-call') return
    this.hasOutput = true
    this.#output.push(event.name)
  }
}

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
    const usageEvent = usage ? '' : this.#writer.push({ type: 'usage', usage: billed })
    return toByteText(usageEvent + this.#writer.push(this.#end ?? { type: 'end' }))
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
