import type { Usage } from '../../contract/usage.ts'
import { eventsIn, type EventBytes } from '../lib/sse.ts'
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
  #kept: Buffer[] = []
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
    const mayEnd = block.includes(this.#format.terminalMark)
    const mayHaveUsage = usageMarks.some((mark) => block.includes(mark))
    const mayHaveError = block.includes('"error"')
    if (!mayEnd && !mayHaveUsage && !mayHaveError && this.hasOutput && this.#renameTo === undefined) {
      this.#keep(block)
      return block
    }
    return this.#takeEvents(block)
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

  #takeEvents(block: Buffer): Buffer {
    const parts: Buffer[] = []
    let from = 0

    for (const event of eventsIn(block)) {
      if (this.#format.isTerminal(event)) {
        parts.push(block.subarray(from, event.start))
        this.terminal = block.subarray(event.start, event.end)
        from = block.length
        break
      }
      const data = parse(event.data)
      if (!data) continue
      this.#read(data)
      if (this.error) {
        // The upstream's error is told in our own words: what it says may hold the channel's key.
        parts.push(block.subarray(from, event.start))
        from = block.length
        break
      }
      const replaced = this.#replacement(event, data)
      if (replaced === undefined) continue
      parts.push(block.subarray(from, event.start), replaced)
      from = event.end
    }

    const passed = parts.length === 0 ? block : Buffer.concat([...parts, block.subarray(from)])
    this.#keep(passed)
    return passed
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

  /** Keeps what passed, as it is, until it is asked for or too much; then only its text is kept. */
  #keep(block: Buffer): void {
    if (block.length === 0) return
    this.#kept.push(block)
    this.#keptBytes += block.length
    if (this.#keptBytes > keptBytesMax) this.#readKept()
  }

  #readKept(): void {
    if (this.#keptBytes === 0) return
    const block = this.#kept.length === 1 && this.#kept[0] ? this.#kept[0] : Buffer.concat(this.#kept)
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
const usageMarks = ['"usage":{', '"usage": {']
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
