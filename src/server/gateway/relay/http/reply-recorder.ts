export interface ReplyHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** A complete reply that can be sent again. */
export interface RecordedReply extends ReplyHead {
  /** The request that it was made for. */
  readonly requestId: string
  readonly body: Buffer
}

/** Records the reply of one call while it is written, up to a size. A larger reply is not kept in memory. */
export class ReplyRecorder {
  readonly #requestId: string
  readonly #bytesMax: number
  #status = 0
  #headers: Readonly<Record<string, string>> = {}
  #pieces: Buffer[] = []
  #size = 0
  #isComplete = false
  #isStoredElsewhere = false

  constructor(requestId: string, bytesMax: number) {
    this.#requestId = requestId
    this.#bytesMax = bytesMax
  }

  begin(status: number, headers: Readonly<Record<string, string | number>>): void {
    this.#status = status
    this.#headers = replayedHeaders(headers)
  }

  add(piece: Buffer): void {
    this.#size += piece.length
    if (this.isTooLarge || this.#isStoredElsewhere) this.#pieces = []
    else this.#pieces.push(piece)
  }

  /** Another part stores the bytes of the reply: this one only counts them. */
  countOnly(): void {
    this.#isStoredElsewhere = true
  }

  /** Marks the reply as complete. A reply that ends otherwise, as with an error event in a stream, stays incomplete. */
  complete(): void {
    this.#isComplete = true
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  get isTooLarge(): boolean {
    return this.#size > this.#bytesMax
  }

  get head(): ReplyHead {
    return { status: this.#status, headers: this.#headers }
  }

  get size(): number {
    return this.#size
  }

  /** The recorded reply; undefined when it is incomplete, too large, or stored elsewhere. */
  get reply(): RecordedReply | undefined {
    if (!this.#isComplete || this.isTooLarge || this.#isStoredElsewhere) return undefined
    return { requestId: this.#requestId, status: this.#status, headers: this.#headers, body: Buffer.concat(this.#pieces) }
  }
}

/** Headers that belong to the reply, and not to the exchange that carried it. */
function replayedHeaders(headers: Readonly<Record<string, string | number>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => replayed.has(name) || name.startsWith('x-sluice-'))
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))
}

const replayed: ReadonlySet<string> = new Set([
  'content-type',
  'cache-control',
  'x-accel-buffering',
  'x-should-retry',
  'retry-after',
])
