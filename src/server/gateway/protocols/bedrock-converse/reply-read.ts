import { type CacheLifetime, cacheWritesOf, noUsage, type Usage } from '../../../../contract/usage.ts'
import type { EventReader, ReadContext } from '../codec.ts'
import { webAddress } from '../media.ts'
import { withTotal } from '../place-totals.ts'
import { errorFacts, type ReplyBuilder, readerOf, wholeReply } from '../reply-builder.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import { inputText } from '../tool-input.ts'
import { answerAt, areCounts, arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/** A non-streamed reply of Converse. Source: protocols notes 2.7. */
export function readReply(reply: JsonObject, context: ReadContext): ReplyEvent[] {
  return wholeReply((builder) => {
    const message = objectAt(objectAt(reply, 'output') ?? {}, 'message')
    if (!message) return builder.fail(errorFacts(textAt(reply, 'message') || 'the upstream sent no valid answer'))
    const blocks = new Blocks(builder, context)
    for (const [at, block] of arrayAt(message, 'content').filter(isObject).entries()) {
      blocks.start(at, block)
      blocks.more(at, deltaOf(block))
      blocks.stop(at)
    }
    readStop(builder, reply)
    readUsage(builder, reply)
    builder.end({ needsUsage: true })
  })
}

/** A streamed reply; each event has the name of its event-stream message. */
export function readStreamEvents(context: ReadContext): EventReader {
  let blocks: Blocks | undefined
  let isStopped = false
  return readerOf((builder, data, { name }) => {
    blocks ??= new Blocks(builder, context)
    const index = countAt(data, 'contentBlockIndex')
    switch (name) {
      case 'contentBlockStart':
        return blocks.start(index, objectAt(data, 'start') ?? {})
      case 'contentBlockDelta':
        return blocks.more(index, objectAt(data, 'delta') ?? {})
      case 'contentBlockStop':
        return blocks.stop(index)
      case 'messageStop':
        isStopped = true
        return readStop(builder, data)
      case 'metadata':
        readUsage(builder, data)
        return isStopped ? builder.end({ needsUsage: true }) : undefined
      case 'error':
        return readError(builder, data)
    }
  })
}

/** The members of blocks and deltas that are read. Any other is content without a neutral form. */
const readMembers: ReadonlySet<string> = new Set([
  ...['text', 'image', 'toolUse', 'reasoningContent', 'citationsContent', 'citation', 'citations', 'cachePoint'],
])

/** The blocks of one reply by index. The model's use of the vendor's own tools is hidden. */
class Blocks {
  readonly #builder: ReplyBuilder
  readonly #context: ReadContext
  /** Calls without any input yet. */
  readonly #bare = new Set<string>()
  /** The open image. */
  #image: { readonly format: string; readonly pieces: Buffer[] } | undefined
  /** Length of the text of the open block, and its citations. */
  #textLength = 0
  #sources: { url: string; title: string }[] = []

  constructor(builder: ReplyBuilder, context: ReadContext) {
    this.#builder = builder
    this.#context = context
  }

  start(index: number, block: JsonObject): void {
    const { toolUse, image } = block
    this.#loseOthers(block)
    if (isObject(toolUse) && toolUse.type === 'server_tool_use') this.#context.lose?.('server_tool_use')
    if (isObject(image)) this.#image = { format: textAt(image, 'format'), pieces: [] }
    if (!isObject(toolUse) || toolUse.type === 'server_tool_use') return
    const name = textAt(toolUse, 'name')
    const key = String(index)
    if (name === '') return
    this.stop(index)
    this.#builder.openCall(key, { callId: textAt(toolUse, 'toolUseId') || this.#context.newCallId(), name })
    this.#bare.add(key)
  }

  #loseOthers(block: JsonObject): void {
    for (const member of Object.keys(block)) if (!readMembers.has(member)) this.#context.lose?.(member)
  }

  more(index: number, delta: JsonObject): void {
    this.#loseOthers(delta)
    const text = answerAt(delta, 'text')
    this.#textLength += text.length
    this.#builder.text(text)
    const reasoning = objectAt(delta, 'reasoningContent')
    if (reasoning) this.#think(reasoning)
    const bytes = textAt(objectAt(objectAt(delta, 'image') ?? {}, 'source') ?? {}, 'bytes')
    if (bytes !== '') this.#image?.pieces.push(Buffer.from(bytes, 'base64'))
    const input = textAt(objectAt(delta, 'toolUse') ?? {}, 'input')
    if (input !== '') {
      this.#bare.delete(String(index))
      this.#builder.callInput(String(index), input)
    }
    for (const citation of [delta.citation, ...arrayAt(delta, 'citations')]) if (isObject(citation)) this.#cite(citation)
  }

  stop(index: number): void {
    const key = String(index)
    if (this.#bare.delete(key)) this.#builder.callInput(key, '{}')
    this.#builder.closeCall(key)
    for (const source of this.#sources) this.#builder.cite({ ...source, start: 0, end: this.#textLength })
    this.#builder.endSaid()
    if (this.#image)
      this.#builder.media('image', `image/${this.#image.format}`, Buffer.concat(this.#image.pieces).toString('base64'))
    this.#image = undefined
    this.#textLength = 0
    this.#sources = []
  }

  #think(reasoning: JsonObject): void {
    this.#builder.reasoning(textAt(reasoning, 'text'))
    const signature = textAt(reasoning, 'signature')
    const redacted = textAt(reasoning, 'redactedContent')
    if (signature !== '') this.#builder.sealReasoning({ family: 'anthropic', kind: 'signature', value: signature })
    if (redacted !== '') this.#builder.sealReasoning({ family: 'anthropic', kind: 'redacted', value: redacted })
  }

  /** Only citations of web pages, and of search results whose source is one, have a URL. */
  #cite(citation: JsonObject): void {
    const page = objectAt(objectAt(citation, 'location') ?? {}, 'web') ?? {}
    const url = textAt(page, 'url') || webAddress(textAt(citation, 'source'))
    if (url === '') this.#context.lose?.('citations')
    else this.#sources.push({ url, title: textAt(citation, 'title') })
  }
}

/** A block of a non-streamed reply, in the form of stream deltas. */
function deltaOf(block: JsonObject): JsonObject {
  const cited = objectAt(block, 'citationsContent')
  if (cited) {
    const text = arrayAt(cited, 'content')
      .filter(isObject)
      .map((piece) => textAt(piece, 'text'))
      .join('')
    return { text, citations: arrayAt(cited, 'citations') }
  }
  const toolUse = objectAt(block, 'toolUse')
  if (toolUse) return { toolUse: { input: inputText(toolUse.input) } }
  const reasoning = objectAt(block, 'reasoningContent')
  return reasoning
    ? { reasoningContent: { ...reasoning, ...objectAt(reasoning, 'reasoningText') } }
    : { text: block.text, image: block.image }
}

function readStop(builder: ReplyBuilder, stopped: JsonObject): void {
  const reason = textAt(stopped, 'stopReason')
  if (reason.startsWith('malformed_')) {
    builder.fail(errorFacts('the model wrote what cannot be read', { type: 'upstream_error', code: reason }))
    return
  }
  const own = objectAt(stopped, 'additionalModelResponseFields') ?? {}
  const sequence = textAt(own, 'stop_sequence') || textAt(objectAt(own, 'delta') ?? {}, 'stop_sequence')
  builder.stop(reasons.get(reason) ?? 'other', undefined, sequence)
}

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop-sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context-full'],
  ['tool_use', 'tool-calls'],
  ['guardrail_intervened', 'content-filter'],
  ['content_filtered', 'content-filter'],
])

/** The buckets of Bedrock are disjoint; `cacheDetails` has the lifetimes of cache writes. */
function readUsage(builder: ReplyBuilder, reply: JsonObject): void {
  const usage = objectAt(reply, 'usage')
  if (!usage || typeof usage.inputTokens !== 'number' || !areCounts(usage, counts)) return
  const details = arrayAt(usage, 'cacheDetails').filter(isObject)
  const countOf = (lifetime: CacheLifetime) =>
    details.filter(({ ttl }) => ttl === lifetime).reduce((sum, detail) => sum + countAt(detail, 'inputTokens'), 0)
  const writes = cacheWritesOf(countAt(usage, 'cacheWriteInputTokens'), details.length > 0 ? countOf : undefined)
  const read: Usage = {
    ...noUsage,
    input: countAt(usage, 'inputTokens'),
    cacheRead: countAt(usage, 'cacheReadInputTokens'),
    ...writes,
    output: countAt(usage, 'outputTokens'),
  }
  builder.usage(withTotal(read, countAt(usage, 'totalTokens')))
}

const counts = ['inputTokens', 'outputTokens', 'totalTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens']

/** An exception message of the event stream, as decoded from its frames. */
function readError(builder: ReplyBuilder, data: JsonObject): void {
  const error = objectAt(data, 'error') ?? data
  const status = countAt(error, 'status')
  builder.fail(
    errorFacts(textAt(error, 'message'), { type: textAt(error, 'type'), status: status >= 400 && status < 600 ? status : 0 }),
  )
}
