import type { Usage } from '../../../../contract/usage.ts'
import type { WriteContext } from '../codec.ts'
import type { Opaque } from '../dialogue.ts'
import type { Citation, OpenEvent, ReplyEvent, TokenLogprob } from '../reply-events.ts'
import { inputObject } from '../tool-input.ts'
import type { JsonObject } from '../wire-format.ts'
import { writeFinishReason } from './finish-reasons.ts'
import { writeGrounding } from './grounding.ts'
import { writeLogprobsResult } from './logprobs.ts'
import { writeGeminiUsage } from './usage.ts'

/**
 * Builds the parts of a Gemini reply from its events: text immediately; calls and media when they are complete, since they cannot
 * be split into several parts. What is known only at the end is written with the last candidate. Source: protocols notes 3.14.
 */
export class PartWriter {
  /** Callers receive thoughts and log probabilities only when they request them. */
  readonly #showsThoughts: boolean
  readonly #tellsLogprobs: boolean
  readonly #lose: WriteContext['lose']
  readonly #blocks = new Map<number, Block>()
  /** Calls whose input is not valid JSON: they were cut off if the reply turns out to have reached its limit. */
  readonly #doubtful: JsonObject[] = []
  readonly #citations: Citation[] = []
  #logprobs: TokenLogprob[] = []
  #text = ''
  #usage: Usage | undefined
  #finish: Extract<ReplyEvent, { type: 'finish' }> | undefined

  constructor({ dialogue, lose }: Pick<WriteContext, 'dialogue' | 'lose'>) {
    const show = dialogue.reasoning?.show
    this.#showsThoughts = show === 'summary' || show === 'full'
    this.#tellsLogprobs = dialogue.logprobs !== undefined
    this.#lose = lose
  }

  /** The parts that this event completes. */
  take(event: ReplyEvent): JsonObject[] {
    switch (event.type) {
      case 'open':
        this.#blocks.set(event.index, { event, content: '', textStart: this.#text.length })
        return []
      case 'delta':
        return this.#more(event.index, event.text)
      case 'logprobs':
        this.#logprobs.push(...event.tokens)
        return []
      case 'opaque':
        return this.#seal(event.index, event.opaque)
      case 'cite':
        this.#note(event.index, event.citation)
        return []
      case 'close':
        return this.#close(event.index)
      case 'usage':
        this.#usage = event.usage
        return []
      case 'finish':
        this.#finish = event
        return []
      default:
        return []
    }
  }

  /** The parts that were held back until the end. */
  lastParts(): JsonObject[] {
    const isCut = this.#finish?.reason === 'length' || this.#finish?.reason === 'context-full'
    if (!isCut) return this.#doubtful
    if (this.#doubtful.length > 0) this.#lose?.('tool-call')
    return []
  }

  lastCandidate(parts: readonly JsonObject[]): JsonObject {
    const grounding = writeGrounding(this.#citations, this.#text)
    const { reason = 'stop', explanation } = this.#finish ?? {}
    return {
      content: { parts, role: 'model' },
      finishReason: writeFinishReason(reason),
      ...(explanation ? { finishMessage: explanation } : {}),
      index: 0,
      ...(grounding ? { groundingMetadata: grounding } : {}),
      ...this.takeLogprobs(),
    }
  }

  /** The log probabilities since the last call, as members of a candidate. */
  takeLogprobs(): JsonObject {
    const tokens = this.#logprobs
    this.#logprobs = []
    return this.#tellsLogprobs ? writeLogprobsResult(tokens) : {}
  }

  totals(): JsonObject {
    return this.#usage ? { usageMetadata: writeGeminiUsage(this.#usage) } : {}
  }

  #more(index: number, text: string): JsonObject[] {
    const block = this.#blocks.get(index)
    if (!block || text === '') return []
    if (block.event.block === 'reasoning') return this.#showsThoughts ? [{ text, thought: true }] : []
    if (block.event.block === 'text' || block.event.block === 'refusal') {
      this.#text += text
      return [{ text }]
    }
    block.content += text
    return []
  }

  /** Text was already sent, so its signature follows in a separate part, as Gemini sends it too. */
  #seal(index: number, { family, value }: Opaque): JsonObject[] {
    const block = this.#blocks.get(index)
    if (!block || family !== 'google') return []
    if (block.event.block === 'text') return [{ text: '', thoughtSignature: value }]
    if (block.event.block === 'reasoning')
      return this.#showsThoughts ? [{ text: '', thought: true, thoughtSignature: value }] : []
    block.signature = value
    return []
  }

  #note(index: number, citation: Citation): void {
    const start = this.#blocks.get(index)?.textStart ?? 0
    this.#citations.push({ ...citation, start: start + citation.start, end: start + citation.end })
  }

  #close(index: number): JsonObject[] {
    const block = this.#blocks.get(index)
    this.#blocks.delete(index)
    if (!block) return []
    const { event, content, signature } = block
    const sealed = signature === undefined ? {} : { thoughtSignature: signature }
    if (event.block === 'image' || event.block === 'audio')
      return content === '' ? [] : [{ inlineData: { mimeType: event.mediaType, data: content }, ...sealed }]
    if (event.block !== 'tool-call' && event.block !== 'custom-tool-call') return []

    const isFree = event.block === 'custom-tool-call'
    const args = isFree ? { input: content } : inputObject(content)
    const part = { functionCall: { id: event.callId, name: event.name, args }, ...sealed }
    if (isFree || isWhole(content)) return [part]
    this.#doubtful.push(part)
    return []
  }
}

interface Block {
  readonly event: OpenEvent
  content: string
  /** The offset of the block's text in the text of the reply. */
  readonly textStart: number
  signature?: string
}

function isWhole(input: string): boolean {
  if (input.trim() === '') return true
  try {
    JSON.parse(input)
    return true
  } catch {
    return false
  }
}
