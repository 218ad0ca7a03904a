import type { Opaque } from '../dialogue.ts'
import type { Citation, OpenEvent, ReplyEvent } from '../reply-events.ts'

/** A block before it has its number. */
export type BlockKind =
  | { readonly block: 'text' | 'reasoning' | 'refusal' }
  | { readonly block: 'tool-call' | 'custom-tool-call'; readonly callId: string; readonly name: string }
  | { readonly block: 'image'; readonly mediaType: string }

/**
 * Keeps the order that neutral events have, whatever the order in which an upstream tells its items: beside an open call only other calls
 * open, everything else waits until the calls are closed; what was closed for another block goes on in a new one. Nothing is lost.
 */
export class Blocks {
  #made: ReplyEvent[] = []
  #next = 0
  /** The open block that is no call. */
  #single: { readonly key: string; readonly index: number } | undefined
  readonly #calls = new Map<string, number>()
  #waiting: (() => void)[] = []

  /** What was made since the last time. */
  take(): ReplyEvent[] {
    const made = this.#made
    this.#made = []
    return made
  }

  add(event: ReplyEvent): void {
    this.#made.push(event)
  }

  /** More text of a block that is no call; opens it when it is not open. */
  say(key: string, kind: BlockKind, text: string): void {
    if (text !== '') this.#inBlock(key, kind, (index) => this.add({ type: 'delta', index, text }))
  }

  cite(key: string, kind: BlockKind, citation: Citation): void {
    this.#inBlock(key, kind, (index) => this.add({ type: 'cite', index, citation }))
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
    this.#closeSingle()
  }

  #inBlock(key: string, kind: BlockKind, step: (index: number) => void): void {
    this.#whenNoCall(() => {
      if (this.#single?.key !== key) {
        this.#closeSingle()
        this.#single = { key, index: this.#open(kind) }
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
