import { EventBlocks, eventsIn, streamLineBytesMax } from '../../../base/lib/bytes/sse.ts'
import { objectAt, type Reframing, textAt } from '../../protocols/wire-format.ts'
import { parse } from '../response/sse-interceptor.ts'

/** Some events of a stream as the caller gets them, as byte text: each begins with its id. */
export interface Events {
  /** The numbers of the first and the last of them. */
  readonly first: number
  readonly last: number
  readonly text: string
}

/** Who may read a reply: the token that asked for it; token id 0 is the playground. */
export interface Owner {
  readonly userId: number
  readonly tokenId: number
}

/** `done`: it has its end, which may be an error event. `cut`: it broke off, or its node is gone. */
export type ReplyState = 'running' | 'done' | 'cut'

interface ReplyFacts extends Owner {
  /** The request that it answers. */
  readonly requestId: string
  /** Of the request: a repeat has the same. */
  readonly fingerprint: string
  /** SHA-256 of its idempotency key; '' without one. */
  readonly keyHash: string
  readonly model: string
  /** A follower has come, or the last one has gone. */
  readonly onFollowers: () => void
}

/**
 * The events of one streamed answer, numbered from 1, from the first that left to the last that arrived: the caller that asked gets them
 * as they come, and whoever follows gets them from any number. Events that are stored may be forgotten, and are read from the store then.
 */
export class ResumableReply implements Reframing {
  readonly contentType = 'text/event-stream; charset=utf-8'
  readonly facts: ReplyFacts
  readonly #blocks = new EventBlocks(streamLineBytesMax)
  #events: Events[] = []
  #count = 0
  #responseId = ''
  #stored = 0
  #bytes = 0
  #followers = 1
  #state: ReplyState = 'running'
  #waiting: (() => void)[] = []

  constructor(facts: ReplyFacts) {
    this.facts = facts
  }

  push(byteText: string): string {
    return this.#take(this.#blocks.push(byteText))
  }

  end(): string {
    const last = this.#take(this.#blocks.flush())
    this.#state = 'done'
    this.#tell()
    return last
  }

  /** No events will follow; the answer broke off unless it has ended. */
  close(): void {
    if (this.#state === 'running') this.#state = 'cut'
    this.#tell()
  }

  get state(): ReplyState {
    return this.#state
  }

  /** The id of the response that the events are about; '' in other formats. */
  get responseId(): string {
    return this.#responseId
  }

  /** The number of events so far. */
  get count(): number {
    return this.#count
  }

  /** Bytes of the events in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** The events in memory after this number. Those before `first` of the first are in the store. */
  after(number: number): readonly Events[] {
    return this.#events.filter(({ last }) => last > number)
  }

  /** The events that are not stored yet. */
  get unstored(): readonly Events[] {
    return this.after(this.#stored)
  }

  /** Events up to this number are stored. */
  noteStored(number: number): void {
    this.#stored = number
  }

  /** Forgets what is stored. */
  forget(): void {
    this.#events = this.#events.filter(({ last }) => last > this.#stored)
    this.#bytes = this.#events.reduce((sum, { text }) => sum + text.length, 0)
  }

  /** Resolves when there are events after this number, or the reply is over. */
  news(number: number): Promise<void> {
    return this.#count > number || this.#state !== 'running'
      ? Promise.resolve()
      : new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Whether somebody reads it: the caller that asked, or one that follows. */
  get isFollowed(): boolean {
    return this.#followers > 0
  }

  join(): void {
    this.#followers++
    this.facts.onFollowers()
  }

  leave(): void {
    this.#followers--
    this.facts.onFollowers()
  }

  /** Gives each event its id. A comment, which only keeps a connection open, is no event. */
  #take(block: string): string {
    if (block === '') return ''
    const first = this.#count + 1
    const shown: string[] = []
    const kept: string[] = []
    for (const event of block.split(border)) {
      const numbered = dataLine.test(event) ? `id: ${this.facts.requestId}.${++this.#count}\n${event}` : event
      shown.push(numbered)
      if (numbered !== event) kept.push(numbered)
    }
    if (first === 1 && kept[0] !== undefined) this.#responseId = responseIdIn(kept[0])
    if (kept.length > 0) this.#keep({ first, last: this.#count, text: kept.join('') })
    return shown.join('')
  }

  #keep(events: Events): void {
    this.#events.push(events)
    this.#bytes += events.text.length
    this.#tell()
  }

  #tell(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

/** Where one event ends and the next begins. */
const border = /(?<=\n\n|\r\n\r\n)/
const dataLine = /^data:/m

/** The events behind a number among those in order: of a piece that contains it, only those after it. */
export function textAfter(events: readonly Events[], number: number): string {
  return events
    .filter(({ last }) => last > number)
    .map(({ first, text }) =>
      first > number
        ? text
        : text
            .split(border)
            .slice(number - first + 1)
            .join(''),
    )
    .join('')
}

/** The id of the response that the first event of a stream of Responses is about. */
function responseIdIn(event: string): string {
  const [first] = eventsIn(event)
  if (!first?.data.includes('response.created')) return ''
  return textAt(objectAt(parse(first.data) ?? {}, 'response') ?? {}, 'id')
}
