/**
 * Server-sent events as bytes. `EventBlocks` cuts a byte stream at event borders without decoding it; `eventsIn` reads the events of
 * a block. A border is a blank line, with LF or CRLF; bytes are never changed.
 */
const lineFeed = 0x0a
const carriageReturn = 0x0d
const noBytes = Buffer.alloc(0)
/** A border is at most this long before its last line feed. */
const borderReach = 3
/** That many small pieces of one event are kept before they are joined. */
const piecesMax = 1000

export class EventBlocks {
  readonly #limitBytes: number
  #rest: Buffer[] = []
  #restBytes = 0
  #ending: Buffer = noBytes

  /** A single event may have at most `limitBytes`. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** All events that are complete with this chunk, as one run of bytes; empty when none is. Throws RangeError over the limit. */
  push(chunk: Buffer): Buffer {
    const border = lastBorder(chunk, this.#ending)
    if (border < 0) {
      this.#keep(chunk)
      return noBytes
    }

    const head = border === chunk.length ? chunk : chunk.subarray(0, border)
    const complete = this.#restBytes === 0 ? head : Buffer.concat([...this.#rest, head])
    this.#forget()
    if (border < chunk.length) this.#keep(chunk.subarray(border))
    return complete
  }

  /** What came behind the last border. */
  flush(): Buffer {
    const rest = Buffer.concat(this.#rest)
    this.#forget()
    return rest
  }

  #forget(): void {
    this.#rest = []
    this.#restBytes = 0
    this.#ending = noBytes
  }

  #keep(bytes: Buffer): void {
    this.#restBytes += bytes.length
    if (this.#restBytes > this.#limitBytes)
      throw new RangeError(`An event of the stream is larger than ${this.#limitBytes} bytes`)
    this.#ending =
      bytes.length >= borderReach ? bytes.subarray(-borderReach) : Buffer.concat([this.#ending, bytes]).subarray(-borderReach)
    if (this.#rest.length < piecesMax) this.#rest.push(bytes)
    else this.#rest = [Buffer.concat([...this.#rest, bytes])]
  }
}

/** Behind the last blank line that ends in `chunk`, or -1. A blank line may have begun in the bytes before. */
function lastBorder(chunk: Buffer, ending: Buffer): number {
  for (let at = chunk.lastIndexOf(lineFeed); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(lineFeed, at - 1)) {
    const before = byteBefore(chunk, ending, at, 1)
    if (before === lineFeed) return at + 1
    if (before === carriageReturn && byteBefore(chunk, ending, at, 2) === lineFeed) return at + 1
  }
  return -1
}

function byteBefore(chunk: Buffer, ending: Buffer, at: number, distance: number): number | undefined {
  const index = at - distance
  return index >= 0 ? chunk[index] : ending.at(index)
}

export interface EventBytes {
  readonly name: string
  readonly data: string
  /** Where the event stands in the block, its blank line included. */
  readonly start: number
  readonly end: number
}

/** All events of a block in order. */
export function eventsIn(block: Buffer): EventBytes[] {
  return [...readEvents(block)]
}

/** The events of a block, read as far as they are taken. Comments and unknown fields are skipped; without data, `data` is ''. */
export function* readEvents(block: Buffer): Generator<EventBytes> {
  let start = 0
  let name = ''
  let data: string | undefined
  let at = 0

  while (at < block.length) {
    const feed = block.indexOf(lineFeed, at)
    const lineEnd = feed < 0 ? block.length : feed
    const next = feed < 0 ? block.length : feed + 1
    const textEnd = lineEnd > at && block[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd
    if (textEnd === at && feed >= 0) {
      if (data !== undefined || name !== '') yield { name, data: data ?? '', start, end: next }
      start = next
      name = ''
      data = undefined
    } else {
      const line = block.toString('utf8', at, textEnd)
      const value = fieldValue(line, 'data')
      if (value !== undefined) data = data === undefined ? value : `${data}\n${value}`
      else name = fieldValue(line, 'event') ?? name
    }
    at = next
  }
  if (data !== undefined || name !== '') yield { name, data: data ?? '', start, end: block.length }
}

/** The event of a block that has a byte at `place`; undefined when only a comment stands there. */
export function eventAround(block: Buffer, place: number): EventBytes | undefined {
  const start = borderBefore(block, place)
  const event = eventsIn(block.subarray(start, borderBehind(block, place)))[0]
  return event && { ...event, start: start + event.start, end: start + event.end }
}

/** Behind the last blank line that ends at or before `place`. */
function borderBefore(block: Buffer, place: number): number {
  for (let feed = block.lastIndexOf(lineFeed, place - 1); feed > 0; feed = block.lastIndexOf(lineFeed, feed - 1)) {
    if (isBorder(block, feed)) return feed + 1
  }
  return 0
}

/** Behind the first blank line that ends behind `place`. */
function borderBehind(block: Buffer, place: number): number {
  for (let feed = block.indexOf(lineFeed, place); feed >= 0; feed = block.indexOf(lineFeed, feed + 1)) {
    if (isBorder(block, feed)) return feed + 1
  }
  return block.length
}

/** Whether the line feed at `feed` ends a blank line. */
function isBorder(block: Buffer, feed: number): boolean {
  const before = block[feed - 1]
  return before === lineFeed || (before === carriageReturn && block[feed - 2] === lineFeed)
}

function fieldValue(rawLine: string, field: string): string | undefined {
  const line = rawLine.charCodeAt(0) === 0xfeff ? rawLine.slice(1) : rawLine
  if (!line.startsWith(field) || line[field.length] !== ':') return undefined
  return line[field.length + 1] === ' ' ? line.slice(field.length + 2) : line.slice(field.length + 1)
}
