import type { Opaque } from '../dialogue.ts'
import type { Citation, OpenEvent, ReplyEvent, TokenLogprob } from '../reply-events.ts'

/** A block without its index. */
export type BlockKind =
  | { readonly block: 'text' | 'reasoning' | 'refusal' }
  | { readonly block: 'tool-call' | 'custom-tool-call'; readonly callId: string; readonly name: string }
  | { readonly block: 'image'; readonly mediaType: string }

/**
 * Keeps the order of neutral events valid for any order of an upstream's items: while a call is open only other calls open, and
 * everything else waits until the calls are closed; a block that was closed for another continues in a new one. Nothing is lost.
 */
export class Blocks {
  #made: ReplyEvent[] = []
  #next = 0
  /** The open block other than a call, and whether it has any content. */
  #single: { readonly key: string; readonly index: number; says: boolean } | undefined
  /** Sources received before their text. */
  #citations: Citation[] = []
  readonly #calls = new Map<string, number>()
  #waiting: (() => void)[] = []

  /** Whether no block was opened yet. */
  get isEmpty(): boolean {
    return this.#next === 0
  }

  /** The events since the last call. */
  take(): ReplyEvent[] {
    const made = this.#made
    this.#made = []
    return made
  }

  add(event: ReplyEvent): void {
    this.#made.push(event)
  }

  /** Adds text to a block other than a call, and opens it if it is not open. */
  say(key: string, kind: BlockKind, text: string): void {
    if (text === '') return
    this.#inBlock(key, kind, (index) => {
      this.add({ type: 'delta', index, text })
      if (this.#single) this.#single.says = true
      if (kind.block === 'text') this.#citeWaiting(index)
    })
  }

  /** Adds log probabilities of the text that comes next. */
  probe(key: string, tokens: readonly TokenLogprob[]): void {
    if (tokens.length > 0) this.#inBlock(key, { block: 'text' }, (index) => this.add({ type: 'logprobs', index, tokens }))
  }

  /** Adds a citation to the open text if it has content, or else to the next one. */
  cite(key: string, citation: Citation): void {
    this.#whenNoCall(() => {
      if (this.#single?.key === key && this.#single.says) this.add({ type: 'cite', index: this.#single.index, citation })
      else this.#citations.push(citation)
    })
  }

  seal(key: string, kind: BlockKind, opaque: Opaque): void {
    this.#inBlock(key, kind, (index) => this.add({ type: 'opaque', index, opaque }))
  }

  close(key: string): void {
    this.#whenNoCall(() => {
      if (this.#single?.key === key) this.#closeSingle()
    })
  }

  openCall(key: string, kind: BlockKind): void {
    this.#closeSingle()
    this.#calls.set(key, this.#open(kind))
  }

  callInput(key: string, text: string): void {
    const index = this.#calls.get(key)
    if (index !== undefined && text !== '') this.add({ type: 'delta', index, text })
  }

  closeCall(key: string): void {
    const index = this.#calls.get(key)
    if (index === undefined) return
    this.#calls.delete(key)
    this.add({ type: 'close', index })
    if (this.#calls.size > 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const step of waiting) step()
  }

  closeAll(): void {
    for (const key of [...this.#calls.keys()]) this.closeCall(key)
    if (this.#citations.length > 0) this.#inBlock('sources', { block: 'text' }, (index) => this.#citeWaiting(index))
    this.#closeSingle()
  }

  #citeWaiting(index: number): void {
    for (const citation of this.#citations) this.add({ type: 'cite', index, citation })
    this.#citations = []
  }

  #inBlock(key: string, kind: BlockKind, step: (index: number) => void): void {
    this.#whenNoCall(() => {
      if (this.#single?.key !== key) {
        this.#closeSingle()
        this.#single = { key, index: this.#open(kind), says: false }
      }
      step(this.#single.index)
    })
  }

  #whenNoCall(step: () => void): void {
    if (this.#calls.size > 0) this.#waiting.push(step)
    else step()
  }

  #open(kind: BlockKind): number {
    const index = this.#next++
    const event: OpenEvent = { type: 'open', index, ...kind }
    this.add(event)
    return index
  }

  #closeSingle(): void {
    if (this.#single) this.add({ type: 'close', index: this.#single.index })
    this.#single = undefined
  }
}
