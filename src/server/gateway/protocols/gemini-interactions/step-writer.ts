import type { WriteContext } from '../codec.ts'
import type { Opaque } from '../dialogue.ts'
import type { Citation, OpenEvent, ReplyEvent } from '../reply-events.ts'
import { cutInputObject, inputObject } from '../tool-input.ts'
import type { JsonObject } from '../wire-format.ts'

type BlockEvent = Extract<ReplyEvent, { index: number }>

/** One open block: the step that it belongs to, once that has begun, and its content so far. */
interface OpenBlock {
  readonly event: OpenEvent
  step: number | undefined
  content: string
  readonly annotations: JsonObject[]
  signature: string | undefined
}

/**
 * Writes the blocks of a reply as steps: consecutive texts, refusals and media are the content of one output of the model; every
 * thought and every call is a step of its own, and calls may be open at the same time.
 */
export class StepWriter {
  readonly steps: JsonObject[] = []
  readonly #showsThoughts: boolean
  readonly #add: (event: JsonObject) => void
  readonly #open = new Map<number, OpenBlock>()
  /** The open output of the model. */
  #output: { readonly step: number; readonly content: JsonObject[] } | undefined

  constructor({ dialogue }: WriteContext, add: (event: JsonObject) => void) {
    this.#showsThoughts = dialogue.reasoning?.show === 'summary' || dialogue.reasoning?.show === 'full'
    this.#add = add
  }

  take(event: BlockEvent): void {
    if (event.type === 'open') {
      this.#begin(event)
      return
    }
    const block = this.#open.get(event.index)
    if (!block) return
    switch (event.type) {
      case 'delta':
        this.#more(block, event.text)
        return
      case 'cite':
        this.#cite(block, event.citation)
        return
      case 'opaque':
        this.#seal(block, event.opaque)
        return
      case 'close':
        this.#open.delete(event.index)
        this.#close(block, event.isCut === true)
    }
  }

  /** Closes everything; no block opens after this. */
  finish(): void {
    for (const block of this.#open.values()) this.#close(block, true)
    this.#open.clear()
    this.#closeOutput()
  }

  #begin(event: OpenEvent): void {
    const block: OpenBlock = { event, step: undefined, content: '', annotations: [], signature: undefined }
    this.#open.set(event.index, block)
    if (event.block !== 'tool-call' && event.block !== 'custom-tool-call') return
    this.#closeOutput()
    block.step = this.#beginStep({ type: 'function_call', id: event.callId, name: event.name, arguments: {} })
  }

  #beginStep(step: JsonObject): number {
    const index = this.steps.push(step) - 1
    this.#add({ event_type: 'step.start', index, step })
    return index
  }

  #delta(index: number, delta: JsonObject): void {
    this.#add({ event_type: 'step.delta', index, delta })
  }

  #stop(index: number, step: JsonObject): void {
    this.steps[index] = step
    this.#add({ event_type: 'step.stop', index })
  }

  #outputStep(): number {
    this.#output ??= { step: this.#beginStep({ type: 'model_output' }), content: [] }
    return this.#output.step
  }

  #closeOutput(): void {
    if (this.#output) this.#stop(this.#output.step, { type: 'model_output', content: this.#output.content })
    this.#output = undefined
  }

  #thoughtStep(block: OpenBlock): number {
    if (block.step === undefined) {
      this.#closeOutput()
      block.step = this.#beginStep({ type: 'thought' })
    }
    return block.step
  }

  #more(block: OpenBlock, text: string): void {
    block.content += text
    switch (block.event.block) {
      case 'text':
      case 'refusal':
        if (text !== '') this.#delta(this.#outputStep(), { type: 'text', text })
        return
      case 'reasoning':
        if (this.#showsThoughts && text !== '')
          this.#delta(this.#thoughtStep(block), { type: 'thought_summary', content: { type: 'text', text } })
        return
      case 'tool-call':
        if (block.step !== undefined) this.#delta(block.step, { type: 'arguments_delta', arguments: text })
        return
      default:
        // Media and the input of free-text tools are written when they are complete.
        return
    }
  }

  /** Offsets are in bytes here. */
  #cite(block: OpenBlock, { url, title, start, end }: Citation): void {
    if (block.event.block !== 'text') return
    const bytesTo = (place: number) => Buffer.byteLength(block.content.slice(0, place))
    const annotation = { type: 'url_citation', url, title, start_index: bytesTo(start), end_index: bytesTo(end) }
    block.annotations.push(annotation)
    this.#delta(this.#outputStep(), { type: 'text_annotation_delta', annotations: [annotation] })
  }

  /** Only signatures of Google's own models are in this format. */
  #seal(block: OpenBlock, { family, value }: Opaque): void {
    if (family !== 'google') return
    block.signature = value
    if (block.event.block === 'reasoning') this.#delta(this.#thoughtStep(block), { type: 'thought_signature', signature: value })
  }

  #close(block: OpenBlock, isCut: boolean): void {
    const { event, content, annotations, signature } = block
    switch (event.block) {
      case 'text':
      case 'refusal':
        if (content === '') return
        this.#outputStep()
        this.#output?.content.push({ type: 'text', text: content, ...(annotations.length > 0 ? { annotations } : {}) })
        return
      case 'image':
      case 'audio': {
        if (content === '') return
        const media = { type: event.block, data: content, mime_type: event.mediaType }
        this.#delta(this.#outputStep(), media)
        this.#output?.content.push(media)
        return
      }
      case 'reasoning': {
        if (block.step === undefined) return
        const summary = this.#showsThoughts && content !== '' ? { summary: [{ type: 'text', text: content }] } : {}
        this.#stop(block.step, { type: 'thought', ...summary, ...(signature === undefined ? {} : { signature }) })
        return
      }
      default:
        this.#closeCall(block, event, isCut)
    }
  }

  #closeCall(
    { step, content }: OpenBlock,
    event: OpenEvent & { readonly callId: string; readonly name: string },
    isCut: boolean,
  ): void {
    if (step === undefined) return
    const isFree = event.block === 'custom-tool-call'
    if (isFree) this.#delta(step, { type: 'arguments_delta', arguments: JSON.stringify({ input: content }) })
    const input = isFree ? { input: content } : isCut ? cutInputObject(content) : inputObject(content)
    this.#stop(step, { type: 'function_call', id: event.callId, name: event.name, arguments: input })
  }
}
