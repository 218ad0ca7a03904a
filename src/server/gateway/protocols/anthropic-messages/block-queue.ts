import type { Opaque } from '../dialogue.ts'
import type { Citation, OpenEvent } from '../reply-events.ts'
import type { JsonObject } from '../wire-format.ts'
import { sealFor } from './seals.ts'

/** A block that cannot be written yet, because another one is open. */
interface Waiting {
  readonly opened: OpenEvent
  text: string
  readonly citations: Citation[]
  isClosed: boolean
  isCut: boolean
}

/**
 * The blocks of a reply as events of Messages, strictly one after another: parts of a block wait while another is open. Thinking is
 * written as soon as it is known whether it has a text or is only encrypted; empty blocks are left out, except calls.
 */
export class BlockQueue {
  readonly #waiting = new Map<number, Waiting>()
  /** Citations that wait for a text. */
  readonly #citations: Citation[] = []
  #current: OpenBlock | undefined
  #next = 0

  /** Whether citations are left that no text could take. */
  get hasUncited(): boolean {
    return this.#citations.length > 0
  }

  open(opened: OpenEvent): JsonObject[] {
    if (this.#current) {
      this.#waiting.set(opened.index, { opened, text: '', citations: [], isClosed: false, isCut: false })
      return []
    }
    this.#current = new OpenBlock(opened, () => this.#next++, this.#citations)
    return this.#current.begin()
  }

  delta(index: number, text: string): JsonObject[] {
    if (this.#current?.index === index) return this.#current.say(text)
    const waiting = this.#waiting.get(index)
    if (waiting) waiting.text += text
    return []
  }

  /** In Messages only thinking blocks have opaque state, and those are never held back. */
  seal(index: number, opaque: Opaque): JsonObject[] {
    return this.#current?.index === index ? this.#current.seal(opaque) : []
  }

  cite(index: number, citation: Citation): JsonObject[] {
    if (this.#current?.index === index) return this.#current.cite(citation)
    this.#waiting.get(index)?.citations.push(citation)
    return []
  }

  /** `isCut`: the input of a call was cut off, and must not be completed. */
  close(index: number, isCut: boolean): JsonObject[] {
    const waiting = this.#waiting.get(index)
    if (waiting) {
      waiting.isClosed = true
      waiting.isCut = isCut
      return []
    }
    if (this.#current?.index !== index) return []
    const events = this.#current.end(isCut)
    this.#current = undefined
    for (const [at, { opened, text, citations, isClosed, isCut: isWaitingCut }] of this.#waiting) {
      this.#waiting.delete(at)
      const block = new OpenBlock(opened, () => this.#next++, this.#citations)
      events.push(...block.begin(), ...block.say(text), ...citations.flatMap((citation) => block.cite(citation)))
      if (!isClosed) {
        this.#current = block
        break
      }
      events.push(...block.end(isWaitingCut))
    }
    return events
  }
}

/** The model makes the calls directly, not from code that it has written. */
const caller: JsonObject = { type: 'direct' }

/** The open block. It gets its index when its first event is written. */
class OpenBlock {
  readonly #opened: OpenEvent
  readonly #number: () => number
  #open: { readonly index: number; readonly kind: 'text' | 'thinking' | 'tool_use' } | undefined
  #hasSpoken = false
  readonly #citations: Citation[]

  constructor(opened: OpenEvent, number: () => number, citations: Citation[]) {
    this.#opened = opened
    this.#number = number
    this.#citations = citations
  }

  get index(): number {
    return this.#opened.index
  }

  begin(): JsonObject[] {
    const opened = this.#opened
    switch (opened.block) {
      case 'tool-call':
      case 'custom-tool-call':
        return this.#start('tool_use', { type: 'tool_use', id: opened.callId, name: opened.name, input: {}, caller })
      case 'image':
      case 'audio':
        return this.#text(`[${opened.block}: ${opened.mediaType}]`)
      default:
        return []
    }
  }

  say(text: string): JsonObject[] {
    if (text === '') return []
    switch (this.#opened.block) {
      case 'text':
      case 'refusal':
        return this.#text(text)
      case 'reasoning':
        return [...this.#startThinking(), this.#delta({ type: 'thinking_delta', thinking: text })]
      case 'tool-call':
        return [this.#json(text)]
      case 'custom-tool-call':
        return [this.#json(`${this.#hasSpoken ? '' : '{"input":"'}${JSON.stringify(text).slice(1, -1)}`)]
      default:
        // This format has no blocks for images and audio: `begin` has written a placeholder text.
        return []
    }
  }

  seal(opaque: Opaque): JsonObject[] {
    if (this.#opened.block !== 'reasoning') return []
    if (opaque.family === 'anthropic' && opaque.kind === 'signature') {
      return [...this.#startThinking(), this.#delta({ type: 'signature_delta', signature: opaque.value })]
    }
    // The gateway stores Gemini's signatures, because a client would not send them back at their position.
    if (opaque.family === 'google') return []
    const stopped = this.#stop()
    const index = this.#number()
    const block = { type: 'redacted_thinking', data: sealFor(opaque) }
    return [...stopped, { type: 'content_block_start', index, content_block: block }, { type: 'content_block_stop', index }]
  }

  cite(citation: Citation): JsonObject[] {
    if (this.#opened.block !== 'text') return []
    this.#citations.push(citation)
    return this.#open ? this.#citeWaiting() : []
  }

  #citeWaiting(): JsonObject[] {
    return this.#citations.splice(0).map(({ url, title }) => {
      const citation = { type: 'web_search_result_location', cited_text: '', url, title, encrypted_index: '' }
      return this.#delta({ type: 'citations_delta', citation })
    })
  }

  /** A call gets at least one piece of input, since clients read the input only from deltas. */
  end(isCut: boolean): JsonObject[] {
    if (isCut) return this.#stop()
    const isCustom = this.#opened.block === 'custom-tool-call'
    const rest = isCustom ? (this.#hasSpoken ? '"}' : '{"input":""}') : this.#hasSpoken ? '' : '{}'
    const last = this.#open?.kind === 'tool_use' && rest !== '' ? [this.#json(rest)] : []
    return [...last, ...this.#stop()]
  }

  #text(text: string): JsonObject[] {
    const started = this.#open ? [] : this.#start('text', { type: 'text', text: '' })
    return [...started, this.#delta({ type: 'text_delta', text }), ...this.#citeWaiting()]
  }

  #startThinking(): JsonObject[] {
    return this.#open ? [] : this.#start('thinking', { type: 'thinking', thinking: '', signature: '' })
  }

  #json(text: string): JsonObject {
    this.#hasSpoken = true
    return this.#delta({ type: 'input_json_delta', partial_json: text })
  }

  #start(kind: 'text' | 'thinking' | 'tool_use', block: JsonObject): JsonObject[] {
    this.#open = { index: this.#number(), kind }
    return [{ type: 'content_block_start', index: this.#open.index, content_block: block }]
  }

  #delta(delta: JsonObject): JsonObject {
    return { type: 'content_block_delta', index: this.#open?.index, delta }
  }

  #stop(): JsonObject[] {
    if (!this.#open) return []
    const { index } = this.#open
    this.#open = undefined
    return [{ type: 'content_block_stop', index }]
  }
}
