import { randomBytes } from 'node:crypto'
import type { Usage } from '../../../../contract/usage.ts'
import { eventsIn, readEvents, toByteText, wholeStream } from '../../../base/lib/bytes/sse.ts'
import { background } from '../../../base/lib/log/logger.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type {
  Codec,
  EventReader,
  EventWriter,
  Inbound,
  ReadContext,
  WriteContext,
  WrittenRequest,
} from '../../protocols/codec.ts'
import type { Dialogue } from '../../protocols/dialogue.ts'
import { formats } from '../../protocols/index.ts'
import { needsRepair, repairReply } from '../../protocols/repair-reply.ts'
import type { OpenEvent, ReplyEvent } from '../../protocols/reply-events.ts'
import { thinkingToContent } from '../../protocols/thinking-to-content.ts'
import { hasBothSides, laterUsage } from '../../protocols/usage-sides.ts'
import type { UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { errorInReply, parseObject, UpstreamFailure } from '../upstream/failure.ts'
import type { ArrivedReply, Replay, ResponseAdapter, SseInterceptor, Whole } from './adapter.ts'
import type { AttemptState } from './attempt-state.ts'
import { plainName } from './losses.ts'
import { replyShapeOf } from './pass-through.ts'
import { SealedParts, type SealedState, type SealedStates } from './sealed-states.ts'
import { OutputBuffer } from './sse-interceptor.ts'

interface Pair {
  readonly codec: Codec
  readonly inbound: Inbound
  readonly dialogue: Dialogue
  readonly written: WrittenRequest
}

/** Adapts a reply of another format: it is read into neutral events and written in the caller's format. */
export function translated(
  app: Pick<GatewayParts, 'logger' | 'now'> & { readonly sealedStates: SealedStates },
  attempt: Pick<AttemptState, 'request' | 'channel' | 'translation'>,
  pair: Pair,
): ResponseAdapter {
  const { request, channel } = attempt
  const { codec, inbound, dialogue, written } = pair
  const lost = new ReplyLosses(attempt)
  const reading: ReadContext = {
    newCallId: () => `call_${randomId()}`,
    quirks: channel.provider.quirks,
    lose: (name) => lost.note(name),
  }
  const writing: WriteContext = { ...writeContextOf(app, request, dialogue), lose: (name) => lost.note(name) }
  const follow = () => new Followed(written, channel.setting.thinking_to_content === true, (event) => lost.noteBlock(event))
  const keep = (state: SealedState) =>
    background(app.logger, 'keep the sealed state of a reply', app.sealedStates.keep(request.caller, state))

  const followAll = (body: Buffer) => {
    const followed = follow()
    const events = followed.take(
      replyShapeOf(body) === 'events' ? readStream(codec.readEvents(reading), body) : codec.readReply(parseObject(body), reading),
    )
    return { followed, events }
  }

  const readAll = (body: Buffer) => {
    const { followed, events } = followAll(body)
    const { error, usage, state } = followed
    if (error) throw errorInReply(error)
    if (!followed.isEnded) throw new UpstreamFailure('cut')
    if (state) keep(state)
    return { usage, text: followed.text(), counted: (billed: Usage) => (isReported(usage) ? events : withUsage(events, billed)) }
  }

  return {
    readWhole(body): Whole {
      const { usage, text, counted } = readAll(body)
      return {
        usage,
        text,
        contentType: 'application/json',
        write: (billed) => Buffer.from(JSON.stringify(inbound.writeReply(counted(billed), writing))),
      }
    },
    readPart(begun) {
      const { followed } = followAll(begun)
      if (followed.error) throw errorInReply(followed.error)
      return { usage: followed.usage, text: followed.text() }
    },
    readReplay(body): Replay {
      const { usage, text, counted } = readAll(body)
      const writer = inbound.writeEvents(writing)
      return {
        usage,
        text,
        write: (billed) =>
          toByteText(
            counted(billed)
              .map((event) => writer.push(event))
              .join(''),
          ),
      }
    },
    openInterceptor: () => new TranslatingInterceptor(codec.readEvents(reading), inbound.writeEvents(writing), follow(), keep),
    heartbeat: request.format.stream?.heartbeat ?? '',
  }
}

/** The context for the writers of the caller's format. Ids inside a reply contain the request id, by which a stored turn is found. */
export function writeContextOf(
  { now }: Pick<GatewayParts, 'now'>,
  { call, facts, inputTokens, toStore }: AdmittedRequest,
  dialogue: Dialogue,
): WriteContext {
  let ids = 0
  return {
    id: call.id,
    createdAt: seconds(call.startedMs),
    completedAt: () => seconds(now()),
    model: facts.model,
    dialogue,
    inputTokensEstimate: inputTokens,
    newId: (prefix) => `${prefix}${call.id}_${ids++}`,
    ...(toStore ? { kept: { previousId: toStore.previousId, isBackground: toStore.isBackground } } : {}),
  }
}

function readStream(reader: EventReader, body: Buffer): ReplyEvent[] {
  const events = eventsIn(wholeStream(body.toString('latin1'))).flatMap((event) => reader.push(event))
  return [...events, ...reader.finish()]
}

function isReported(usage: Usage | undefined): boolean {
  return usage !== undefined && hasBothSides(usage)
}

/** For upstreams that report no usage, or zeros: the caller gets the usage that is charged. */
function withUsage(events: readonly ReplyEvent[], usage: Usage): ReplyEvent[] {
  return events.flatMap((event): ReplyEvent[] => (event.type === 'end' ? [{ type: 'usage', usage }, event] : [event]))
}

function randomId(): string {
  return randomBytes(12).toString('hex')
}

/** Collects, for the log row, the parts of a translated reply that the caller does not get, or gets in another form. */
class ReplyLosses {
  readonly #names: string[]
  readonly #asText: readonly OpenEvent['block'][]

  constructor({ translation, request: { format } }: Pick<AttemptState, 'request' | 'translation'>) {
    this.#names = translation?.replyDropped ?? []
    this.#asText = formats[format.format].mediaAsText ?? []
  }

  note(name: string): void {
    const plain = plainName(name)
    if (plain !== '' && this.#names.length < namesMax && !this.#names.includes(plain)) this.#names.push(plain)
  }

  /** Notes an image or audio that the caller's format cannot carry in a reply. */
  noteBlock({ block }: OpenEvent): void {
    if (this.#asText.includes(block)) this.note(block)
  }
}

const namesMax = 50

/** Follows a reply in neutral events: repairs the events for the caller, and collects usage, text and errors. */
class Followed implements ArrivedReply {
  usage: Usage | undefined
  error: UpstreamErrorFacts | undefined
  hasOutput = false
  isEnded = false
  stopped: 'moderation' | undefined
  readonly #output = new OutputBuffer()
  /** Indexes of blocks whose deltas are bytes. */
  readonly #bytes = new Set<number>()
  readonly #sealed = new SealedParts()
  readonly #tellBlock: ((event: OpenEvent) => void) | undefined
  readonly #steps: readonly ((event: ReplyEvent) => ReplyEvent[])[]

  /** `noteBlock` is called for every block that opens. */
  constructor(written: WrittenRequest, thinksInContent: boolean, noteBlock?: (event: OpenEvent) => void) {
    this.#tellBlock = noteBlock
    this.#steps = [...(needsRepair(written) ? [repairReply(written)] : []), ...(thinksInContent ? [thinkingToContent()] : [])]
  }

  /** The received text, which is counted when the upstream reports no usage. */
  text(): string {
    return this.#output.kept
  }

  get unkept(): number {
    return this.#output.unkept
  }

  isComplete(): boolean {
    return this.isEnded && this.stopped === undefined
  }

  stop(why: 'moderation'): void {
    this.stopped = why
    this.error = undefined
    this.isEnded = true
  }

  /** State of a tool call of this reply that must be restored when the caller continues the conversation. */
  get state(): SealedState | undefined {
    return this.#sealed.state
  }

  /** Returns the events for the caller. Nothing follows the end or an error. */
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
        this.usage = laterUsage(this.usage, event.usage)
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

/** A stream of another format on its way to the caller: translated event by event, with its end withheld. */
class TranslatingInterceptor implements SseInterceptor {
  readonly #reader: EventReader
  readonly #writer: EventWriter
  readonly arrived: Followed
  readonly #keep: (state: SealedState) => void
  #end: ReplyEvent | undefined

  constructor(reader: EventReader, writer: EventWriter, followed: Followed, keep: (state: SealedState) => void) {
    this.#reader = reader
    this.#writer = writer
    this.arrived = followed
    this.#keep = keep
  }

  take(block: string): string {
    let text = ''
    for (const event of readEvents(block)) text += this.#write(this.arrived.take(this.#reader.push(event)))
    return toByteText(text)
  }

  finish(rest: string): string {
    const before = this.take(rest)
    return before + toByteText(this.#write(this.arrived.take(this.#reader.finish())))
  }

  ending(billed: Usage): string {
    const { state, usage } = this.arrived
    if (state) this.#keep(state)
    const usageEvent = isReported(usage) ? '' : this.#writer.push({ type: 'usage', usage: billed })
    return toByteText(usageEvent + this.#writer.push(this.#end ?? { type: 'end' }))
  }

  writeError(error: UpstreamErrorFacts): string {
    return this.#writer.push({ type: 'error', error })
  }

  /** The relay writes errors in its own words: the upstream's text may contain the channel's key. */
  #write(events: readonly ReplyEvent[]): string {
    let text = ''
    for (const event of events) {
      if (event.type === 'end') this.#end = event
      else if (event.type !== 'error') text += this.#writer.push(event)
    }
    return text
  }
}
