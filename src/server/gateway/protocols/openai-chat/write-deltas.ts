import type { WriteContext } from '../codec.ts'
import type { Opaque } from '../dialogue.ts'
import type { Citation, FinishReason, OpenEvent, ReplyEvent, TokenLogprob } from '../reply-events.ts'
import { writeLogprobs } from '../token-logprobs.ts'
import type { JsonObject } from '../wire-format.ts'
import { writeThinkingBlock } from './write-assistant.ts'

/** The content of a block so far. */
interface Block {
  readonly open: OpenEvent
  /** The index of a call, since Chat numbers calls separately. */
  readonly call: number
  /** The offset of this block's text in the complete text. */
  readonly start: number
  /** The content so far of images and reasoning, which are also written in one piece. */
  text: string
  isEmpty: boolean
  /** The opaque state of reasoning, written when the signed text is complete. */
  seals: readonly Opaque[]
}

/**
 * Writes each event of a reply as a Chat delta; undefined when it has no content yet. Complete replies are assembled from these
 * deltas. The older form can contain only one call. Source: protocols notes 3.7 and 3.14.
 */
export class ChatDeltas {
  readonly #usesFunctions: boolean
  readonly #blocks = new Map<number, Block>()
  #calls = 0
  #textLength = 0
  #hasRefused = false
  #logprobs: TokenLogprob[] = []

  readonly #lose: WriteContext['lose']

  constructor(usesFunctions: boolean, lose?: WriteContext['lose']) {
    this.#usesFunctions = usesFunctions
    this.#lose = lose
  }

  read(event: ReplyEvent): JsonObject | undefined {
    if (event.type === 'open') return this.#open(event)
    const block = 'index' in event ? this.#blocks.get(event.index) : undefined
    if (!block) return undefined
    switch (event.type) {
      case 'delta':
        return event.text === '' ? undefined : this.#more(block, event.text)
      case 'logprobs':
        this.#logprobs.push(...event.tokens)
        return undefined
      case 'opaque':
        return this.#state(block, event.opaque)
      case 'cite':
        return { annotations: [writeCitation(event.citation, block.start)] }
      case 'close':
        this.#blocks.delete(event.index)
        return this.#close(block, event.isCut === true)
      default:
        return undefined
    }
  }

  /** The log probabilities since the last call; null when there are none. */
  takeLogprobs(): JsonObject | null {
    const tokens = this.#logprobs
    this.#logprobs = []
    return tokens.length === 0 ? null : { content: writeLogprobs(tokens), refusal: null }
  }

  /** A vendor's explanation replaces the missing text of a refusal. */
  explain(explanation: string | undefined): JsonObject | undefined {
    return explanation && !this.#hasRefused ? { refusal: explanation } : undefined
  }

  finishWord(reason: FinishReason): string {
    return reason === 'tool-calls' && this.#usesFunctions ? 'function_call' : finishWords[reason]
  }

  #open(open: OpenEvent): JsonObject | undefined {
    const isCall = open.block === 'tool-call' || open.block === 'custom-tool-call'
    const block: Block = { open, call: isCall ? this.#calls++ : 0, start: this.#textLength, text: '', isEmpty: true, seals: [] }
    this.#blocks.set(open.index, block)
    if (block.call > 0 && this.#usesFunctions) this.#lose?.(open.block)
    return isCall ? this.#call(block, '') : undefined
  }

  #more(block: Block, text: string): JsonObject | undefined {
    const kind = block.open.block
    block.isEmpty = false
    if (kind === 'image' || kind === 'reasoning') block.text += text
    switch (kind) {
      case 'text':
        this.#textLength += text.length
        return { content: text }
      case 'reasoning':
        return { reasoning_content: text }
      case 'refusal':
        this.#hasRefused = true
        return { refusal: text }
      case 'image':
        return undefined
      case 'audio':
        return { audio: { data: text } }
      default:
        return this.#call(block, text)
    }
  }

  #close(block: Block, isCut: boolean): JsonObject | undefined {
    const { open, text, isEmpty } = block
    if (open.block === 'tool-call' && isEmpty && !isCut) return this.#call(block, '{}')
    if (block.seals.length > 0) return { thinking_blocks: block.seals.map((seal) => writeThinkingBlock(text, seal)) }
    if (open.block !== 'image' || isEmpty) return undefined
    return { images: [{ type: 'image_url', image_url: { url: `data:${open.mediaType};base64,${text}` } }] }
  }

  /** Id and name are sent once, in the first piece. */
  #call({ open, call }: Block, input: string): JsonObject | undefined {
    if (open.block !== 'tool-call' && open.block !== 'custom-tool-call') return undefined
    const isCustom = open.block === 'custom-tool-call'
    const named = input === '' ? { name: open.name } : {}
    if (this.#usesFunctions) return call === 0 ? { function_call: { ...named, arguments: input } } : undefined
    const head = input === '' ? { id: open.callId, type: isCustom ? 'custom' : 'function' } : {}
    const piece = isCustom ? { custom: { ...named, input } } : { function: { ...named, arguments: input } }
    return { tool_calls: [{ index: call, ...head, ...piece }] }
  }

  /** Writes only opaque state that clients of this format send back; the rest is stored for them. */
  #state(block: Block, opaque: Opaque): JsonObject | undefined {
    const { open, call } = block
    if (open.block === 'reasoning') {
      // A later signature covers the complete text, and replaces an earlier one.
      const redacted = block.seals.filter(({ kind }) => kind === 'redacted')
      const signed = block.seals.filter(({ kind }) => kind !== 'redacted')
      if (opaque.family === 'anthropic')
        block.seals = opaque.kind === 'redacted' ? [...signed, ...redacted, opaque] : [opaque, ...redacted]
      return undefined
    }
    if (opaque.family !== 'google') return undefined
    const signature = { extra_content: { google: { thought_signature: opaque.value } } }
    if (open.block === 'text') return signature
    if (open.block !== 'tool-call' || this.#usesFunctions) return undefined
    // Strict clients require the `function` member in every piece of a call.
    return { tool_calls: [{ index: call, function: { arguments: '' }, ...signature }] }
  }
}

function writeCitation({ url, title, start, end }: Citation, base: number): JsonObject {
  return { type: 'url_citation', url_citation: { start_index: base + start, end_index: base + end, title, url } }
}

const finishWords: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'context-full': 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  pause: 'length',
  other: 'length',
}
