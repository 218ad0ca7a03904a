import type { Usage } from '../../contract/usage.ts'
import { type EventBytes, eventAround, eventsIn, readEvents } from '../lib/sse.ts'
import { isObject, type JsonObject, type StreamFormat, type UpstreamErrorFacts } from '../protocols/wire-format.ts'

/**
 * Looks at a stream that passes through: usage, first output, errors, the end. Bytes go on as they came, except that the terminal
 * event is kept back until the charge is durable, a usage event that the caller did not ask for is taken out, and the model name is
 * the one that the caller used. Events are only parsed where a search of the bytes says that it matters.
 */
export class StreamTap {
  usage: Usage | undefined
  error: UpstreamErrorFacts | undefined
  hasOutput = false
  /** Bytes kept back until the charge is durable; set once the terminal event has come. */
  terminal: Buffer | undefined
  readonly #format: StreamFormat
  readonly #hideUsage: boolean
  readonly #renameTo: string | undefined
  #kept: string[] = []
  #keptBytes = 0
  #text = ''
  #isFinished = false

  constructor(format: StreamFormat, more: { hideUsage: boolean; renameTo: string | undefined }) {
    this.#format = format
    this.#hideUsage = more.hideUsage
    this.#renameTo = more.renameTo
  }

  /** Takes whole events and gives the bytes that may go to the caller now. Nothing passes behind the terminal event or an error. */
  take(block: Buffer): Buffer {
    if (this.terminal || this.error) return nothing
    // As Latin-1 text a block is searched several times faster, and kept in half the memory, than as a buffer.
    const text = block.toString('latin1')
    this.#keep(text)
    return this.#edit(block, this.#renameTo === undefined ? this.#eventsThatMatter(block, text) : eventsIn(block))
  }

  /** Whether the upstream said that the reply is complete, by a terminal event or by a finish reason. */
  isComplete(): boolean {
    if (this.terminal) return true
    this.#readKept()
    return this.#isFinished && this.error === undefined
  }

  /** All text that came so far, for a count when there is no usage. */
  text(): string {
    this.#readKept()
    return this.#text
  }

  /** The events from which something is to be learnt, in order: the first ones, and those in which a mark stands. */
  #eventsThatMatter(block: Buffer, text: string): EventBytes[] {
    const events = this.hasOutput ? [] : this.#firstEvents(block)
    for (const { index: place } of text.matchAll(this.#format.marks)) {
      if (place < (events.at(-1)?.end ?? 0)) continue
      const event = eventAround(block, place)
      if (event) events.push(event)
    }
    return events
  }

  /** Up to the first event that gives the caller something. */
  #firstEvents(block: Buffer): EventBytes[] {
    const events: EventBytes[] = []
    for (const event of readEvents(block)) {
      events.push(event)
      const data = parse(event.data)
      if (data && this.#format.hasOutput(data)) break
    }
    return events
  }

  #edit(block: Buffer, events: readonly EventBytes[]): Buffer {
    const parts: Buffer[] = []
    let from = 0
    for (const event of events) {
      const isEnd = this.#format.isTerminal(event)
      const data = isEnd ? undefined : parse(event.data)
      if (data) this.#read(data)
      if (isEnd || this.error) {
        // An error of the upstream is told in our own words: what it says may hold the channel's key.
        if (isEnd) this.terminal = block.subarray(event.start, event.end)
        parts.push(block.subarray(from, event.start))
        from = block.length
        break
      }
      const replaced = data && this.#replacement(event, data)
      if (replaced === undefined) continue
      parts.push(block.subarray(from, event.start), replaced)
      from = event.end
    }
    return parts.length === 0 ? block : Buffer.concat([...parts, block.subarray(from)])
  }

  #read(data: JsonObject): void {
    this.usage = this.#format.readUsage(data, this.usage)
    this.error ??= this.#format.readError(data)
    this.hasOutput ||= this.#format.hasOutput(data)
  }

  #replacement(event: EventBytes, data: JsonObject): Buffer | undefined {
    if (this.#hideUsage && this.#format.isUsageOnly(data)) return nothing
    if (this.#renameTo === undefined) return undefined
    const renamed = this.#format.renameModel(Buffer.from(event.data), this.#renameTo)
    if (!renamed) return undefined
    const head = event.name === '' ? 'data: ' : `event: ${event.name}\ndata: `
    return Buffer.concat([Buffer.from(head), renamed, Buffer.from('\n\n')])
  }

  /** Keeps what came, as it is, until it is asked for or too much; then only what it says is kept. */
  #keep(text: string): void {
    this.#kept.push(text)
    this.#keptBytes += text.length
    if (this.#keptBytes > keptBytesMax) this.#readKept()
  }

  #readKept(): void {
    if (this.#keptBytes === 0) return
    const block = Buffer.from(this.#kept.join(''), 'latin1')
    this.#kept = []
    this.#keptBytes = 0
    for (const event of eventsIn(block)) {
      const data = parse(event.data)
      if (!data) continue
      this.#text += this.#format.deltaText(data)
      this.#isFinished ||= this.#format.isFinish(data)
    }
  }
}

const nothing = Buffer.alloc(0)
const keptBytesMax = 32 * 1024

function parse(text: string): JsonObject | undefined {
  if (text.charCodeAt(0) !== 0x7b) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
