import type { Opaque, ReasoningPart } from '../../protocols/dialogue.ts'
import type { ReplyEvent } from '../../protocols/reply-events.ts'

/** What a model wants back with the calls of a reply: its reasoning before the first call, and what is sealed in each call. */
export interface SealedState {
  /** The first call of the reply, which the reasoning belongs to. */
  readonly callId: string
  readonly reasoning: readonly ReasoningPart[]
  readonly calls: ReadonlyMap<string, Opaque>
}

/** Gathers the sealed state of one reply from its events. */
export class SealedParts {
  readonly #reasoning = new Map<number, { text: string; opaque?: Opaque }>()
  readonly #callIds = new Map<number, string>()
  readonly #calls = new Map<string, Opaque>()

  /** Undefined for a reply without calls, or with nothing sealed. */
  get state(): SealedState | undefined {
    const [callId] = this.#callIds.values()
    const reasoning = [...this.#reasoning.values()].filter((part) => part.opaque !== undefined)
    if (callId === undefined || (reasoning.length === 0 && this.#calls.size === 0)) return undefined
    return { callId, reasoning: reasoning.map((part) => ({ kind: 'reasoning', ...part })), calls: this.#calls }
  }

  note(event: ReplyEvent): void {
    switch (event.type) {
      case 'open':
        if (event.block === 'reasoning') this.#reasoning.set(event.index, { text: '' })
        if (event.block === 'tool-call' || event.block === 'custom-tool-call') this.#callIds.set(event.index, event.callId)
        return
      case 'delta': {
        const thought = this.#reasoning.get(event.index)
        if (thought) thought.text += event.text
        return
      }
      case 'opaque': {
        const thought = this.#reasoning.get(event.index)
        if (thought) thought.opaque = event.opaque
        const callId = this.#callIds.get(event.index)
        if (callId !== undefined) this.#calls.set(callId, event.opaque)
        return
      }
      default:
        return
    }
  }
}
