import type { WriteContext } from '../codec.ts'
import type { Opaque, Tool } from '../dialogue.ts'
import type { Citation, OpenEvent, ReplyEvent, TokenLogprob } from '../reply-events.ts'
import { writeLogprobs } from '../token-logprobs.ts'
import { inputObject } from '../tool-input.ts'
import type { JsonObject } from '../wire-format.ts'
import { type Sealed, writeSealed } from './envelope.ts'

type BlockEvent = Extract<ReplyEvent, { index: number }>

/** One open block and its item. */
interface OpenBlock {
  readonly event: OpenEvent
  /** The members that identify its item and part; set for text and reasoning with their first content. */
  place: JsonObject | undefined
  text: string
  readonly annotations: JsonObject[]
  readonly logprobs: TokenLogprob[]
  /** The number of tokens whose log probabilities are in a delta already. */
  probed: number
  readonly sealed: Opaque[]
}

/** An item that has begun. */
interface Begun {
  readonly outputIndex: number
  readonly item: JsonObject
}

/**
 * Writes blocks as output items: consecutive texts are parts of one message, every other block is a separate item. Items are closed
 * late, when the next one begins or the reply is finished, because only then it is known whether the last one was truncated. Opaque
 * state for the caller to send back follows in a reasoning item, if the item itself cannot contain it.
 */
export class OutputWriter {
  readonly #context: WriteContext
  readonly #add: (event: JsonObject) => void
  readonly #items: JsonObject[] = []
  readonly #open = new Map<number, OpenBlock>()
  /** Calls that are complete but not closed yet. */
  #calls: Begun[] = []
  /** The open message, to which further text is added. */
  #message: (Begun & { readonly content: JsonObject[] }) | undefined
  #toSeal: Sealed[] = []
  #next = 0

  constructor(context: WriteContext, add: (event: JsonObject) => void) {
    this.#context = context
    this.#add = add
  }

  /** All items so far; unfinished ones with their current content. */
  get items(): JsonObject[] {
    const running = [...this.#calls, ...(this.#message ? [this.#message] : [])]
    const all = [...this.#items]
    for (const { outputIndex, item } of running) all[outputIndex] = item
    return all.filter((item) => item !== undefined)
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
        this.#write(block, event.text)
        break
      case 'cite':
        this.#cite(block, event.citation)
        break
      case 'logprobs':
        if (this.#context.dialogue.logprobs) block.logprobs.push(...event.tokens)
        break
      case 'opaque':
        block.sealed.push(event.opaque)
        break
      case 'close':
        this.#open.delete(event.index)
        this.#close(block, event.isCut)
        break
    }
  }

  /** Closes everything; no block opens after this. The explanation of a refusal is written if there was no content. */
  finish(isCutShort: boolean, explanation?: string): void {
    for (const [index, block] of this.#open) {
      this.#open.delete(index)
      this.#close(block)
    }
    if (explanation && this.#next === 0) this.#explain(explanation)
    else if (explanation) this.#context.lose?.('explanation')
    this.#settle(isCutShort)
  }

  #explain(refusal: string): void {
    this.#begin({ type: 'open', index: 0, block: 'refusal' })
    this.take({ type: 'delta', index: 0, text: refusal })
    this.take({ type: 'close', index: 0 })
  }

  #begin(event: OpenEvent): void {
    const block: OpenBlock = { event, place: undefined, text: '', annotations: [], logprobs: [], probed: 0, sealed: [] }
    this.#open.set(event.index, block)
    if (event.block !== 'text' && event.block !== 'refusal' && event.block !== 'reasoning') this.#placeOf(block)
  }

  /** Begins the item of a block, or the part of a message. */
  #placeOf(block: OpenBlock): JsonObject {
    if (block.place) return block.place
    const { event } = block
    const isText = event.block === 'text' || event.block === 'refusal'
    const isBesideCalls = isCall(event) && [...this.#open.values()].some((other) => other !== block)
    const continues = isText && this.#message !== undefined && this.#toSeal.length === 0
    if (!continues && !isBesideCalls) this.#settle(false)
    block.place = isText ? this.#beginPart(event.block === 'refusal') : this.#beginItem(event)
    return block.place
  }

  #beginPart(isRefusal: boolean): JsonObject {
    if (!this.#message) {
      const content: JsonObject[] = []
      const id = this.#context.newId('msg_')
      const item = { id, type: 'message', status: 'in_progress', role: 'assistant', content }
      this.#message = { outputIndex: this.#next++, item, content }
      this.#add({ type: added, output_index: this.#message.outputIndex, item: { ...item, content: [] } })
    }
    const { item, outputIndex, content } = this.#message
    const place = { item_id: item.id, output_index: outputIndex, content_index: content.length }
    const part = isRefusal ? { type: 'refusal', refusal: '' } : { type: 'output_text', annotations: [], logprobs: [], text: '' }
    content.push(part)
    this.#add({ type: 'response.content_part.added', ...place, part })
    return place
  }

  #beginItem(event: OpenEvent): JsonObject {
    const item = newItem(event, this.#context)
    const place = { item_id: item?.id, output_index: this.#next }
    if (!item) return place
    this.#add({ type: added, output_index: this.#next++, item })
    return place
  }

  #write(block: OpenBlock, text: string): void {
    const { event } = block
    const place = this.#placeOf(block)
    const isFirst = block.text === ''
    block.text += text
    switch (event.block) {
      case 'text':
        this.#add({
          type: 'response.output_text.delta',
          ...place,
          delta: text,
          logprobs: withoutBytes(block.logprobs.slice(block.probed)),
        })
        block.probed = block.logprobs.length
        break
      case 'refusal':
        this.#add({ type: 'response.refusal.delta', ...place, delta: text })
        break
      case 'reasoning':
        if (isFirst) this.#add({ type: 'response.reasoning_summary_part.added', ...place, summary_index: 0, part: summary('') })
        this.#add({ type: 'response.reasoning_summary_text.delta', ...place, summary_index: 0, delta: text })
        break
      case 'tool-call':
        if (!this.#isToolSearch(event.name)) this.#add({ type: 'response.function_call_arguments.delta', ...place, delta: text })
        break
      case 'custom-tool-call':
        this.#add({ type: 'response.custom_tool_call_input.delta', ...place, delta: text })
        break
    }
  }

  #cite(block: OpenBlock, { url, title, start, end }: Citation): void {
    if (block.event.block !== 'text') return
    const annotation = { type: 'url_citation', url, title, start_index: start, end_index: end }
    const place = this.#placeOf(block)
    const at = block.annotations.push(annotation) - 1
    this.#add({ type: 'response.output_text.annotation.added', ...place, annotation_index: at, annotation })
  }

  #close(block: OpenBlock, isCut = false): void {
    const { event, sealed } = block
    if (!block.place && sealed.length === 0) return
    const place = this.#placeOf(block)
    switch (event.block) {
      case 'text':
      case 'refusal':
        this.#closePart(block, place)
        this.#toSeal.push(...sealed.map((opaque) => ({ opaque, place: 'text' as const })))
        break
      case 'reasoning':
        this.#closeReasoning(block, place)
        break
      case 'tool-call':
      case 'custom-tool-call':
        this.#closeCall(block, place, isCut)
        this.#toSeal.push(...sealed.map((opaque) => ({ opaque, place: { callId: event.callId } })))
        break
      case 'image': {
        const format = event.mediaType.replace('image/', '')
        this.#done(place.output_index, {
          ...picture(place.item_id),
          status: 'completed',
          output_format: format,
          result: block.text,
        })
        break
      }
    }
  }

  #closePart({ event, text, annotations, logprobs }: OpenBlock, place: JsonObject): void {
    const isRefusal = event.block === 'refusal'
    const probed = writeLogprobs(logprobs, { withBytes: true })
    const part = isRefusal ? { type: 'refusal', refusal: text } : { type: 'output_text', annotations, logprobs: probed, text }
    // The index of a part in the content of its message.
    if (this.#message) this.#message.content[Number(place.content_index)] = part
    if (isRefusal) this.#add({ type: 'response.refusal.done', ...place, refusal: text })
    else this.#add({ type: 'response.output_text.done', ...place, text, logprobs: withoutBytes(logprobs) })
    this.#add({ type: 'response.content_part.done', ...place, part })
  }

  #closeReasoning({ text, sealed }: OpenBlock, place: JsonObject): void {
    if (text !== '') {
      this.#add({ type: 'response.reasoning_summary_text.done', ...place, summary_index: 0, text })
      this.#add({ type: 'response.reasoning_summary_part.done', ...place, summary_index: 0, part: summary(text) })
    }
    const [opaque, ...more] = sealed
    const parts = text === '' ? [] : [summary(text)]
    this.#done(place.output_index, reasoningItem(place.item_id, parts, { opaque, place: 'here' }))
    for (const other of more) this.#sealItem({ opaque: other, place: 'here' })
  }

  #closeCall({ event, text }: OpenBlock, place: JsonObject, isCut: boolean): void {
    if (event.block === 'tool-call' && this.#isToolSearch(event.name)) {
      const item = { ...newItem(event, this.#context, place.item_id), arguments: inputObject(text) }
      this.#calls.push({ outputIndex: Number(place.output_index), item })
      return
    }
    const isCustom = event.block === 'custom-tool-call'
    const input = isCustom || isCut ? text : text || '{}'
    const item = { ...newItem(event, this.#context, place.item_id), [isCustom ? 'input' : 'arguments']: input }
    // A call without arguments gets one delta, because some clients wait for it.
    if (text === '' && !isCustom && !isCut) this.#add({ type: 'response.function_call_arguments.delta', ...place, delta: input })
    const kind = isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
    this.#add({ type: `${kind}.done`, ...place, [isCustom ? 'input' : 'arguments']: input })
    this.#calls.push({ outputIndex: Number(place.output_index), item })
  }

  #isToolSearch(name: string): boolean {
    return toolOf(name, this.#context)?.isToolSearch === true
  }

  /** Closes complete items. Only the last of them can have been truncated. */
  #settle(isCutShort: boolean): void {
    const status = isCutShort ? 'incomplete' : 'completed'
    const last = this.#calls.at(-1)
    for (const call of this.#calls) this.#done(call.outputIndex, { ...call.item, status: call === last ? status : 'completed' })
    this.#calls = []
    if (this.#message)
      this.#done(this.#message.outputIndex, { ...this.#message.item, status, content: [...this.#message.content] })
    this.#message = undefined
    const toSeal = this.#toSeal
    this.#toSeal = []
    for (const sealed of toSeal) this.#sealItem(sealed)
  }

  #sealItem(sealed: Sealed): void {
    const index = this.#next++
    const id = this.#context.newId('rs_')
    this.#add({ type: added, output_index: index, item: { id, type: 'reasoning', summary: [] } })
    this.#done(index, reasoningItem(id, [], sealed))
  }

  #done(index: unknown, item: JsonObject): void {
    this.#items[Number(index)] = item
    this.#add({ type: 'response.output_item.done', output_index: index, item })
  }
}

const added = 'response.output_item.added'

/** Log probabilities in events, where they have no bytes. */
function withoutBytes(tokens: readonly TokenLogprob[]): JsonObject[] {
  return tokens.map(({ token, logprob, top }) => ({
    token,
    logprob,
    top_logprobs: top.map((other) => ({ token: other.token, logprob: other.logprob })),
  }))
}

function isCall({ block }: OpenEvent): boolean {
  return block === 'tool-call' || block === 'custom-tool-call'
}

/** The initial form of an item; undefined for blocks without an item in this format. */
function newItem(event: OpenEvent, context: WriteContext, id?: unknown): JsonObject | undefined {
  const { newId } = context
  switch (event.block) {
    case 'reasoning':
      return { id: newId('rs_'), type: 'reasoning', summary: [] }
    case 'tool-call': {
      if (toolOf(event.name, context)?.isToolSearch) return toolSearch(event.callId, id ?? newId('tsc_'))
      const called = { call_id: event.callId, ...calledName(event.name, context) }
      return { id: id ?? newId('fc_'), type: 'function_call', status: 'in_progress', ...called, arguments: '' }
    }
    case 'custom-tool-call': {
      const called = { call_id: event.callId, ...calledName(event.name, context) }
      return { id: id ?? newId('ctc_'), type: 'custom_tool_call', status: 'in_progress', ...called, input: '' }
    }
    case 'image':
      return { ...picture(newId('ig_')), status: 'in_progress', result: null }
    default:
      return undefined
  }
}

/** The name of a tool within its namespace. */
function calledName(name: string, context: WriteContext): JsonObject {
  const namespace = toolOf(name, context)?.namespace
  return namespace ? { name: namespace.tool.name, namespace: namespace.name } : { name }
}

function toolOf(name: string, { dialogue }: WriteContext): Tool | undefined {
  return dialogue.tools.find((tool) => tool.name === name)
}

/** A call of the caller's own tool search. */
function toolSearch(callId: string, id: unknown): JsonObject {
  return { id, type: 'tool_search_call', status: 'in_progress', execution: 'client', call_id: callId, arguments: {} }
}

function picture(id: unknown): JsonObject {
  return { id, type: 'image_generation_call' }
}

function reasoningItem(id: unknown, parts: readonly JsonObject[], sealed: Sealed): JsonObject {
  return { id, type: 'reasoning', summary: parts, encrypted_content: writeSealed(sealed) }
}

function summary(text: string): JsonObject {
  return { type: 'summary_text', text }
}
