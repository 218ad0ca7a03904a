import type { ReadContext } from '../codec.ts'
import { webAddress } from '../media.ts'
import type { Citation, ReplyEvent } from '../reply-events.ts'
import { answerAt, arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

type Kind = 'text' | 'reasoning' | 'tool-call' | 'hidden'

interface Block {
  readonly kind: Kind
  /** The index in the neutral reply; undefined until the block has content. */
  index: number | undefined
  /** The number of characters so far. */
  length: number
  signature: string
  readonly citations: JsonObject[]
  /** The input in the start event of a call, for upstreams that send no deltas. */
  input: JsonObject | undefined
}

/**
 * The blocks of one reply while they are written. A block opens with its first content; calls may be open at the same time, any other
 * block closes the one before it. A delta of another kind than its block, or of a block that never began, begins a new one.
 */
export class ReplyBlocks {
  readonly #context: Pick<ReadContext, 'newCallId' | 'lose'>
  readonly #blocks = new Map<unknown, Block>()
  readonly #open = new Set<Block>()
  /** Citations of empty texts, which wait for the next text. */
  #citations: JsonObject[] = []
  #next = 0
  #calls = 0

  constructor(context: Pick<ReadContext, 'newCallId' | 'lose'>) {
    this.#context = context
  }

  get hasCalls(): boolean {
    return this.#calls > 0
  }

  start(key: unknown, content: JsonObject): ReplyEvent[] {
    const events = this.stop(key)
    switch (content.type) {
      case 'tool_use':
        // A call without a tool name has no meaning.
        if (textAt(content, 'name') === '') break
        return [...events, ...this.#startCall(key, content)]
      case 'text': {
        const block = this.#begin(key, 'text')
        block.citations.push(...arrayAt(content, 'citations').filter(isObject))
        return [...events, ...this.#say(block, answerAt(content, 'text'))]
      }
      case 'thinking': {
        const block = this.#begin(key, 'reasoning')
        block.signature = textAt(content, 'signature')
        return [...events, ...this.#say(block, textAt(content, 'thinking'))]
      }
      case 'redacted_thinking': {
        const block = this.#begin(key, 'reasoning')
        const data = textAt(content, 'data')
        if (data === '') return events
        const opened = this.#show(block)
        const opaque = { family: 'anthropic', kind: 'redacted', value: data } as const
        return [...events, ...opened, { type: 'opaque', index: block.index ?? 0, opaque }]
      }
    }
    this.#context.lose?.(textAt(content, 'type'))
    this.#begin(key, 'hidden')
    return events
  }

  delta(key: unknown, delta: JsonObject): ReplyEvent[] {
    switch (delta.type) {
      case 'text_delta':
        return this.#sayAs(key, 'text', answerAt(delta, 'text'))
      case 'thinking_delta':
        return this.#sayAs(key, 'reasoning', textAt(delta, 'thinking'))
      case 'input_json_delta': {
        const block = this.#blocks.get(key)
        return block?.kind === 'tool-call' && this.#open.has(block) ? this.#say(block, textAt(delta, 'partial_json')) : []
      }
      case 'signature_delta': {
        const block = this.#blocks.get(key)
        if (block?.kind === 'reasoning') block.signature = textAt(delta, 'signature')
        return []
      }
      case 'citations_delta': {
        const citation = objectAt(delta, 'citation')
        if (citation) this.#blocks.get(key)?.citations.push(citation)
        return []
      }
      default:
        return []
    }
  }

  stop(key: unknown): ReplyEvent[] {
    const block = this.#blocks.get(key)
    if (!block) return []
    this.#blocks.delete(key)
    return this.#close(block)
  }

  stopAll(): ReplyEvent[] {
    return [...this.#blocks.keys()].flatMap((key) => this.stop(key))
  }

  /** Writes citations without text into an empty text block. */
  citeRest(): ReplyEvent[] {
    const cites = citationsOf(this.#citations, 0)
    if (cites.length < this.#citations.length) this.#context.lose?.('citations')
    if (cites.length === 0) return []
    const index = this.#next++
    return [
      { type: 'open', index, block: 'text' },
      ...cites.map((citation) => ({ type: 'cite' as const, index, citation })),
      { type: 'close', index },
    ]
  }

  #begin(key: unknown, kind: Kind): Block {
    const block: Block = { kind, index: undefined, length: 0, signature: '', citations: [], input: undefined }
    this.#blocks.set(key, block)
    return block
  }

  #startCall(key: unknown, content: JsonObject): ReplyEvent[] {
    const closed = [...this.#blocks].flatMap(([other, { kind }]) => (kind === 'tool-call' ? [] : this.stop(other)))
    const block = this.#begin(key, 'tool-call')
    block.input = objectAt(content, 'input')
    block.index = this.#next++
    this.#open.add(block)
    this.#calls++
    const callId = textAt(content, 'id') || this.#context.newCallId()
    return [...closed, { type: 'open', index: block.index, block: 'tool-call', callId, name: textAt(content, 'name') }]
  }

  #sayAs(key: unknown, kind: 'text' | 'reasoning', text: string): ReplyEvent[] {
    const block = this.#blocks.get(key)
    if (text === '' || block?.kind === 'hidden') return []
    const continues = block?.kind === kind && (block.index === undefined || this.#open.has(block))
    if (continues) return this.#say(block, text)
    const closed = this.stop(key)
    return [...closed, ...this.#say(this.#begin(key, kind), text)]
  }

  #say(block: Block, text: string): ReplyEvent[] {
    if (text === '') return []
    const opened = this.#show(block)
    block.length += text.length
    return [...opened, { type: 'delta', index: block.index ?? 0, text }]
  }

  /** Opens a block other than a call, after closing everything before it. */
  #show(block: Block): ReplyEvent[] {
    if (block.index !== undefined || block.kind === 'hidden' || block.kind === 'tool-call') return []
    const closed = [...this.#open].flatMap((other) => this.#close(other))
    block.index = this.#next++
    this.#open.add(block)
    return [...closed, { type: 'open', index: block.index, block: block.kind }]
  }

  /** Writes signatures and citations when the block is complete, since only then it is known what they belong to. */
  #close(block: Block): ReplyEvent[] {
    const opened = block.signature !== '' ? this.#show(block) : []
    const { index } = block
    if (index === undefined && block.kind === 'text') this.#citations.push(...block.citations)
    if (index === undefined || !this.#open.delete(block)) return opened
    const events: ReplyEvent[] = [...opened]
    if (block.kind === 'reasoning' && block.signature !== '') {
      events.push({ type: 'opaque', index, opaque: { family: 'anthropic', kind: 'signature', value: block.signature } })
    }
    if (block.kind === 'text') {
      const citations = [...this.#citations, ...block.citations]
      this.#citations = []
      const cited = citationsOf(citations, block.length)
      if (cited.length < citations.length) this.#context.lose?.('citations')
      for (const citation of cited) events.push({ type: 'cite', index, citation })
    }
    if (block.kind === 'tool-call' && block.length === 0) {
      events.push({ type: 'delta', index, text: JSON.stringify(block.input ?? {}) })
    }
    events.push({ type: 'close', index })
    return events
  }
}

/** The citations with a URL, each for the complete block. Those of documents in the request have no URL. */
function citationsOf(citations: readonly JsonObject[], length: number): Citation[] {
  return citations.flatMap((citation) => {
    const url = textAt(citation, 'url') || webAddress(textAt(citation, 'source'))
    return url === '' ? [] : [{ url, title: textAt(citation, 'title'), start: 0, end: length }]
  })
}
