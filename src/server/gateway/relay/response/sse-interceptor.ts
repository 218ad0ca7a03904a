import type { Usage } from '../../../../contract/usage.ts'
import { readJson } from '../../../base/lib/bytes/read-json.ts'
import { type EventText, eventAround, eventsIn, readEvents, toByteText } from '../../../base/lib/bytes/sse.ts'
import type { PaidCall } from '../../protocols/paid-calls.ts'
import { errorFacts } from '../../protocols/reply-builder.ts'
import { laterUsage } from '../../protocols/usage-sides.ts'
import {
  type FinishMender,
  isObject,
  type JsonObject,
  type StreamFormat,
  type UpstreamErrorFacts,
} from '../../protocols/wire-format.ts'
import type { ArrivedReply, SseInterceptor } from './adapter.ts'

interface InterceptorEdit {
  readonly hideUsage: boolean
  readonly renameTo: string | undefined
  readonly finish?: FinishMender | undefined
}

/**
 * Observes a stream of byte text that passes through: usage, first output, errors and the end. Bytes pass unchanged with four exceptions:
 * the terminal event is withheld until the charge is durable, a usage event that the caller did not request is removed, so is a repeated
 * beginning, the model name is replaced by the one that the caller used, and a finish reason agrees with the calls before it. An event is
 * parsed only when a text search finds a marker in it.
 */
export class StreamInterceptor implements SseInterceptor {
  readonly arrived: PassedReply
  /** For a stream without a terminal event: the events that may be the end of the reply. */
  #heldEnd = ''
  readonly #format: StreamFormat
  readonly #hideUsage: boolean
  readonly #renameTo: string | undefined
  readonly #finish: FinishMender | undefined

  constructor(format: StreamFormat, { hideUsage, renameTo, finish }: InterceptorEdit) {
    this.arrived = new PassedReply(format)
    this.#format = format
    this.#hideUsage = hideUsage
    this.#renameTo = renameTo
    this.#finish = finish
  }

  /** Accepts whole events and returns the bytes that may be sent to the caller now. Nothing passes after the terminal event or an error. */
  take(block: string): string {
    if (this.arrived.terminal || this.arrived.error) return ''
    this.arrived.keep(block)
    this.#finish?.see(block)
    if (this.#format.endsWithBody) return this.#passButEnd(block)
    const mayHaveEmpty = this.#format.hasNamedEvents ? emptyNamed : emptyOrNamed
    const needsAll = this.#renameTo !== undefined || mayHaveEmpty.test(block)
    return this.#edit(block, needsAll ? eventsIn(block) : this.#eventsThatMatter(block))
  }

  ending(): string {
    return this.arrived.terminal ?? (this.#heldEnd || this.#format.terminalText)
  }

  writeError(error: UpstreamErrorFacts): string | undefined {
    return this.#format.errorEvent?.(error)
  }

  /** Handles bytes after the last blank line as a whole event, unless they are only a part of one. */
  finish(rest: string): string {
    const isWhole = eventsIn(rest).every((event) => this.#format.isTerminal(event) || parse(event.data) !== undefined)
    return rest !== '' && isWhole ? this.take(`${rest}\n\n`) : ''
  }

  /** The events to parse, in order: the first ones, and those that contain a marker. */
  #eventsThatMatter(block: string): EventText[] {
    const events = this.arrived.hasOutput ? [] : this.#firstEvents(block)
    const { marks } = this.#finish ?? this.#format
    // Most blocks have none, and matchAll copies the expression for each.
    if (block.search(marks) < 0) return events
    for (const { index: place } of block.matchAll(marks)) {
      if (place < (events.at(-1)?.end ?? 0)) continue
      const event = eventAround(block, place)
      if (event) events.push(event)
    }
    return events
  }

  /** Parses events until one has output for the caller. */
  #firstEvents(block: string): EventText[] {
    const events: EventText[] = []
    for (const event of readEvents(block)) {
      events.push(event)
      const data = parse(event.data)
      if (data && this.#format.hasOutput(data)) break
    }
    return events
  }

  #edit(block: string, events: readonly EventText[]): string {
    let passed = ''
    let from = 0
    for (const event of events) {
      const isEnd = this.#format.isTerminal(event)
      const data = parse(event.data)
      const isRepeated = data !== undefined && this.arrived.beginsAgain(data)
      if (data && !isRepeated && !this.#isEmpty(event)) this.arrived.note(data)
      const replaced = isRepeated || this.#isEmpty(event) ? '' : data && this.#replacement(event, data)
      if (isEnd || this.arrived.error) {
        // The relay writes errors of the upstream in its own words: the original text may contain the channel's key.
        if (isEnd) this.arrived.terminal = replaced ?? this.#terminalOf(event, block)
        return passed + block.slice(from, event.start)
      }
      if (replaced === undefined) continue
      passed += block.slice(from, event.start) + replaced
      from = event.end
    }
    return from === 0 ? block : passed + block.slice(from)
  }

  /** Passes only whole JSON events, one at a time, and a terminal event after the finish: clients of such streams accept nothing else. */
  #passButEnd(block: string): string {
    let passed = ''
    for (const event of eventsIn(block)) {
      const data = parse(event.data)
      const raw = block.slice(event.start, event.end)
      if (!data) {
        if (this.#heldEnd !== '' && this.#format.isTerminal(event)) this.#heldEnd += raw
        continue
      }
      if (this.#isEmpty(event)) continue
      this.arrived.note(data)
      if (this.arrived.error) return passed
      const isPlain = (this.#format.hasNamedEvents ? namedEvent : oneLineEvent).test(raw)
      passed += this.#holdEnd(this.#replacement(event, data) ?? (isPlain ? raw : this.#eventText(event)), data)
    }
    return passed
  }

  /** Withholds a finish and the events after it. Further output shows that it was not the end. */
  #holdEnd(text: string, data: JsonObject): string {
    const isFinish = this.#format.isFinish(data)
    if ((isFinish || this.#heldEnd !== '') && this.#format.deltaText(data) === '') {
      this.#heldEnd += text
      return ''
    }
    const before = this.#heldEnd
    this.#heldEnd = isFinish ? text : ''
    return isFinish ? before : before + text
  }

  #eventText({ name, data }: Pick<EventText, 'name' | 'data'>): string {
    const { hasNamedEvents, endsWithBody, eventEnd = '\n\n' } = this.#format
    const head = name === '' || (endsWithBody && !hasNamedEvents) ? '' : `event: ${toByteText(name)}\n`
    return `${head}data: ${toByteText(data)}${eventEnd}`
  }

  /** The terminal event as the upstream sent it, or the one that the format requires: clients are strict about it. */
  #terminalOf(event: EventText, block: string): string {
    const isExact = event.data === event.data.trim() && block[event.end - 1] === '\n'
    return isExact || this.#format.terminalText === '' ? block.slice(event.start, event.end) : this.#format.terminalText
  }

  /**
   * Some hosts send events to keep the connection alive, empty ones or those of another protocol, which clients of a format without
   * named events would parse as pieces of the reply.
   */
  #isEmpty({ name, data }: EventText): boolean {
    return data === '' || (name === 'ping' && !this.#format.hasNamedEvents)
  }

  #replacement(event: EventText, data: JsonObject): string | undefined {
    if (this.#hideUsage && this.#format.isUsageOnly(data)) return ''
    if (this.#renameTo === undefined && !this.#finish) return undefined
    const bytes = Buffer.from(event.data)
    const mended = this.#finish?.mend(bytes, data)
    const renamed = this.#renameTo === undefined ? undefined : this.#format.renameModel(mended ?? bytes, this.#renameTo)
    const written = renamed ?? mended
    return written && this.#eventText({ name: event.name, data: written.toString() })
  }
}

/** What has arrived of a stream that passes through. Its text is read when somebody asks for it, or when much has arrived. */
class PassedReply implements ArrivedReply {
  usage: Usage | undefined
  error: UpstreamErrorFacts | undefined
  hasOutput = false
  stopped: 'moderation' | undefined
  /** The terminal event, withheld until the charge is durable. */
  terminal: string | undefined
  readonly #format: StreamFormat
  #kept: string[] = []
  #keptBytes = 0
  readonly #output = new OutputBuffer()
  readonly #paidCalls: PaidCall[] = []
  #isFinished = false
  /** The id of the reply; undefined before its beginning. */
  #begunId: string | undefined

  constructor(format: StreamFormat) {
    this.#format = format
  }

  get isEnded(): boolean {
    return this.stopped !== undefined || this.terminal !== undefined
  }

  /** Whether the upstream reported that the reply is complete, with a terminal event or a finish reason. */
  isComplete(): boolean {
    if (this.stopped) return false
    if (this.terminal) return true
    this.#readKept()
    return this.#isFinished && this.error === undefined
  }

  /** The text received so far, which is counted when the upstream reports no usage. */
  text(): string {
    this.#readKept()
    return this.#output.kept
  }

  paidCalls(): readonly PaidCall[] {
    this.#readKept()
    return this.#paidCalls
  }

  get unkept(): number {
    return this.#output.unkept
  }

  stop(why: 'moderation'): void {
    this.stopped = why
    this.error = undefined
  }

  /** Notes what an event says about the whole reply. */
  note(data: JsonObject): void {
    this.usage = laterUsage(this.usage, this.#format.readUsage(data, this.usage))
    this.error ??= this.#format.readError(data)
    this.hasOutput ||= this.#format.hasOutput(data)
  }

  /** Whether the event repeats the beginning of the reply, which clients refuse. The beginning of another reply is an error. */
  beginsAgain(data: JsonObject): boolean {
    const id = this.#format.begins?.(data)
    if (id === undefined) return false
    const first = this.#begunId
    this.#begunId ??= id
    if (first === undefined) return false
    if (id !== '' && id === first) return true
    this.error ??= errorFacts('the upstream began a second message in one reply', { status: 502 })
    return false
  }

  /** Buffers the raw events until they are read or too large; after that it keeps only their text. */
  keep(text: string): void {
    this.#kept.push(text)
    this.#keptBytes += text.length
    if (this.#keptBytes > keptBytesMax) this.#readKept()
  }

  #readKept(): void {
    if (this.#keptBytes === 0) return
    const block = this.#kept.join('')
    this.#kept = []
    this.#keptBytes = 0
    for (const event of eventsIn(block)) {
      const data = parse(event.data)
      if (!data) continue
      this.#output.push(this.#format.deltaText(data))
      this.#isFinished ||= this.#format.isFinish(data)
      const call = this.#format.paidCall?.(data)
      if (call) this.#paidCalls.push(call)
    }
  }
}

const namedEvent = /^event:[^\n]*\ndata:[^\n]*\n\r?\n$/
const emptyOrNamed = /(?:^|\n)(?:event:|data: ?\r?\n)/
const emptyNamed = /(?:^|\n)(?:data: ?\r?\n|event:[^\n]*\n\r?\n)/
const oneLineEvent = /^data:[^\n]*\n\r?\n$/
const keptBytesMax = 32 * 1024

export function parse(text: string): JsonObject | undefined {
  if (text.charCodeAt(0) !== 0x7b) return undefined
  const value = readJson(text)
  return isObject(value) ? value : undefined
}

/**
 * The output of a reply so far, to be counted when the upstream reports no usage. Of a long reply only the beginning is kept, with the
 * number of further characters: thousands of streams must not keep their whole texts in memory.
 */
export class OutputBuffer {
  #kept = ''
  /** Number of characters that were not kept. */
  unkept = 0

  get kept(): string {
    return this.#kept
  }

  push(text: string): void {
    const room = keptMax - this.#kept.length
    this.#kept += room >= text.length ? text : text.slice(0, Math.max(0, room))
    this.unkept += Math.max(0, text.length - room)
  }
}

/** About sixteen thousand tokens, more than most replies have. The rest of a longer reply is estimated in proportion to its beginning. */
const keptMax = 64 * 1024

/** Tokens of the whole output, when `tokens` is the count of the kept part. */
export function withUnkept(tokens: number, { kept, unkept = 0 }: { readonly kept: string; readonly unkept?: number }): number {
  return unkept > 0 && kept.length > 0 ? Math.ceil(tokens * (1 + unkept / kept.length)) : tokens
}
