import type { ReadContext } from '../codec.ts'
import { base64Source } from '../media.ts'
import type { TokenLogprob } from '../reply-events.ts'
import { readLogprobs } from '../token-logprobs.ts'
import { answerAt, arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import type { BlockKind, Blocks } from './blocks.ts'
import { readSealed } from './envelope.ts'

/** The state of one output item so far. */
interface Item {
  readonly key: string
  type: string
  /** The length of the text written so far, by part. */
  readonly sentLengths: Map<string, number>
  /** The number of citations, and of tokens with log probabilities, by part. */
  readonly cited: Map<string, number>
  readonly probed: Map<string, number>
  /** The part of the reasoning written last: parts are separated by a blank line. */
  lastPart: string
  /** Input of a call received before its name. */
  early: string
  isCallOpen: boolean
  isDone: boolean
}

/** The types of parts that are read entirely. */
const readParts: ReadonlySet<string> = new Set(['output_text', 'text', 'refusal', 'reasoning_text', ''])

const textBlock: BlockKind = { block: 'text' }
const refusalBlock: BlockKind = { block: 'refusal' }
const reasoningBlock: BlockKind = { block: 'reasoning' }

/**
 * Reads the items of a reply from deltas and from the events that repeat them in full: only new text is written, so that a host may
 * leave out either.
 */
export class Items {
  /** The number of tool calls. */
  calls = 0
  readonly #blocks: Blocks
  readonly #context: ReadContext
  readonly #items = new Map<string, Item>()
  readonly #byId = new Map<string, Item>()

  constructor(blocks: Blocks, context: ReadContext) {
    this.#blocks = blocks
    this.#context = context
  }

  take(type: string, data: JsonObject): void {
    const payload = objectAt(data, 'item')
    const id = textAt(data, 'item_id') || (payload ? textAt(payload, 'id') : '')
    const item = this.#itemOf(data.output_index ?? id)
    if (item.isDone) return
    if (id !== '') this.#byId.set(id, item)
    const part = `${countAt(data, 'content_index')}`
    switch (type) {
      case 'response.output_item.added':
        if (payload) this.#begin(item, payload)
        break
      case 'response.output_item.done':
        if (payload) this.#finish(item, payload)
        break
      case 'response.output_text.delta':
        this.#probe(item, part, readLogprobs(data.logprobs))
        this.#say(item, part, textBlock, answerAt(data, 'delta'))
        break
      case 'response.output_text.done':
        this.#probeRest(item, part, data)
        this.#sayRest(item, part, textBlock, answerAt(data, 'text'))
        break
      case 'response.output_text.annotation.added':
        this.#cite(item, part, objectAt(data, 'annotation'))
        break
      case 'response.refusal.delta':
        this.#say(item, part, refusalBlock, textAt(data, 'delta'))
        break
      case 'response.refusal.done':
        this.#sayRest(item, part, refusalBlock, textAt(data, 'refusal'))
        break
      case 'response.content_part.done':
        this.#finishPart(item, part, objectAt(data, 'part') ?? {})
        break
      default:
        this.#takeInner(item, type, data)
    }
  }

  /**
   * Reads a complete item, identified by its id or else by its position in the output: hosts may change either of them at the end.
   */
  complete(index: number, payload: JsonObject): void {
    const item = this.#byId.get(textAt(payload, 'id')) ?? this.#itemOf(index)
    if (!item.isDone) this.#finish(item, payload)
  }

  #takeInner(item: Item, type: string, data: JsonObject): void {
    switch (type) {
      case 'response.reasoning_summary_text.delta':
        this.#think(item, `s${countAt(data, 'summary_index')}`, textAt(data, 'delta'))
        break
      case 'response.reasoning_summary_text.done':
        this.#thinkRest(item, `s${countAt(data, 'summary_index')}`, textAt(data, 'text'))
        break
      case 'response.reasoning_text.delta':
        this.#think(item, `c${countAt(data, 'content_index')}`, textAt(data, 'delta'))
        break
      case 'response.reasoning_text.done':
        this.#thinkRest(item, `c${countAt(data, 'content_index')}`, textAt(data, 'text'))
        break
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#callInput(item, textAt(data, 'delta'))
        break
      case 'response.function_call_arguments.done':
        this.#callRest(item, textAt(data, 'arguments'))
        break
      case 'response.custom_tool_call_input.done':
        this.#callRest(item, textAt(data, 'input'))
        break
    }
  }

  #begin(item: Item, payload: JsonObject): void {
    item.type ||= textAt(payload, 'type')
    this.#openCall(item, payload)
  }

  #finish(item: Item, payload: JsonObject): void {
    item.type ||= textAt(payload, 'type')
    switch (item.type) {
      case 'message':
        for (const [at, part] of partsOf(payload).entries()) this.#finishPart(item, `${at}`, part)
        break
      case 'reasoning':
        this.#finishReasoning(item, payload)
        break
      case 'function_call':
      case 'custom_tool_call':
        this.#openCall(item, payload)
        this.#callRest(item, textAt(payload, 'arguments') || textAt(payload, 'input'))
        this.#blocks.closeCall(item.key)
        break
      case 'image_generation_call':
        this.#draw(item, payload)
        break
      default:
        this.#context.lose?.(item.type)
    }
    item.isDone = true
  }

  #finishPart(item: Item, part: string, payload: JsonObject): void {
    if (payload.type === 'reasoning_text') {
      this.#thinkRest(item, `c${part}`, textAt(payload, 'text'))
      return
    }
    this.#probeRest(item, part, payload)
    if (payload.type === 'refusal') this.#sayRest(item, part, refusalBlock, textAt(payload, 'refusal'))
    // Of speech only its transcript has a neutral form.
    else this.#sayRest(item, part, textBlock, answerAt(payload, 'text') || textAt(payload, 'transcript'))
    const type = textAt(payload, 'type')
    if (!readParts.has(type)) this.#context.lose?.(type)
    const annotations = arrayAt(payload, 'annotations')
    for (const annotation of annotations.slice(item.cited.get(part) ?? 0)) {
      this.#cite(item, part, isObject(annotation) ? annotation : undefined)
    }
    this.#blocks.close(`${item.key} ${part}`)
  }

  #finishReasoning(item: Item, payload: JsonObject): void {
    for (const [at, part] of arrayAt(payload, 'summary').entries()) this.#thinkRest(item, `s${at}`, textOf(part))
    for (const [at, part] of arrayAt(payload, 'content').entries()) this.#thinkRest(item, `c${at}`, textOf(part))
    const { opaque } = readSealed(textAt(payload, 'encrypted_content'))
    if (opaque) this.#blocks.seal(item.key, reasoningBlock, opaque)
    this.#blocks.close(item.key)
  }

  #probe(item: Item, part: string, tokens: readonly TokenLogprob[]): void {
    item.probed.set(part, (item.probed.get(part) ?? 0) + tokens.length)
    this.#blocks.probe(`${item.key} ${part}`, tokens)
  }

  #probeRest(item: Item, part: string, { logprobs }: JsonObject): void {
    this.#probe(item, part, readLogprobs(logprobs).slice(item.probed.get(part) ?? 0))
  }

  #say(item: Item, part: string, kind: BlockKind, text: string): void {
    item.type ||= 'message'
    item.sentLengths.set(part, (item.sentLengths.get(part) ?? 0) + text.length)
    this.#blocks.say(`${item.key} ${part}`, kind, text)
  }

  #sayRest(item: Item, part: string, kind: BlockKind, whole: string): void {
    this.#say(item, part, kind, whole.slice(item.sentLengths.get(part) ?? 0))
  }

  #think(item: Item, part: string, text: string): void {
    if (text === '') return
    item.type ||= 'reasoning'
    const isNext = item.lastPart !== '' && item.lastPart !== part
    item.lastPart = part
    item.sentLengths.set(part, (item.sentLengths.get(part) ?? 0) + text.length)
    this.#blocks.say(item.key, reasoningBlock, isNext ? `\n\n${text}` : text)
  }

  #thinkRest(item: Item, part: string, whole: string): void {
    this.#think(item, part, whole.slice(item.sentLengths.get(part) ?? 0))
  }

  #cite(item: Item, part: string, annotation: JsonObject | undefined): void {
    item.cited.set(part, (item.cited.get(part) ?? 0) + 1)
    const url = annotation?.type === 'url_citation' ? textAt(annotation, 'url') : ''
    if (!annotation || url === '') {
      if (annotation) this.#context.lose?.(textAt(annotation, 'type'))
      return
    }
    const [start, end] = [countAt(annotation, 'start_index'), countAt(annotation, 'end_index')]
    this.#blocks.cite(`${item.key} ${part}`, { url, title: textAt(annotation, 'title'), start, end })
  }

  /** Opens a call when its name is known. Its id is the `call_id`, never the id of the item. */
  #openCall(item: Item, payload: JsonObject): void {
    const name = textAt(payload, 'name')
    if (item.isCallOpen || name === '' || (item.type !== 'function_call' && item.type !== 'custom_tool_call')) return
    item.isCallOpen = true
    this.calls++
    const block = item.type === 'custom_tool_call' ? 'custom-tool-call' : 'tool-call'
    this.#blocks.openCall(item.key, { block, name, callId: textAt(payload, 'call_id') || this.#context.newCallId() })
    const { early } = item
    item.early = ''
    this.#callInput(item, early)
  }

  #callInput(item: Item, text: string): void {
    if (!item.isCallOpen) {
      item.early += text
      return
    }
    item.sentLengths.set('', (item.sentLengths.get('') ?? 0) + text.length)
    this.#blocks.callInput(item.key, text)
  }

  #callRest(item: Item, whole: string): void {
    this.#callInput(item, whole.slice(item.isCallOpen ? (item.sentLengths.get('') ?? 0) : item.early.length))
  }

  #draw(item: Item, payload: JsonObject): void {
    const result = textAt(payload, 'result')
    if (result === '') {
      this.#context.lose?.(item.type)
      return
    }
    const format = textAt(payload, 'output_format')
    const { data, mediaType } = base64Source(result, format === '' ? 'image/png' : `image/${format}`)
    this.#blocks.say(item.key, { block: 'image', mediaType }, data)
    this.#blocks.close(item.key)
  }

  #itemOf(place: unknown): Item {
    const key = typeof place === 'number' || typeof place === 'string' ? `${place}` : ''
    const known = this.#items.get(key)
    if (known) return known
    const item: Item = {
      key,
      type: '',
      sentLengths: new Map(),
      cited: new Map(),
      probed: new Map(),
      lastPart: '',
      early: '',
      isCallOpen: false,
      isDone: false,
    }
    this.#items.set(key, item)
    return item
  }
}

/** The content of a message; compatible hosts have a text in place of the list. */
function partsOf({ content }: JsonObject): JsonObject[] {
  const parts = Array.isArray(content) ? content : [content]
  return parts.map((part) => (isObject(part) ? part : { type: 'output_text', text: part }))
}

function textOf(part: unknown): string {
  return isObject(part) ? textAt(part, 'text') : ''
}
