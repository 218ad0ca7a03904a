import { noUsage, type Usage } from '../../../../contract/usage.ts'
import type { EventReader, ReadContext } from '../codec.ts'
import { webAddress } from '../media.ts'
import { cachedKinds, placeTotals } from '../place-totals.ts'
import { errorFacts, type ReplyBuilder, readerOf, wholeReply } from '../reply-builder.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import { answerAt, arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/** The plan before tool calls is reasoning: it is not addressed to the reader. */
export function readReply(reply: JsonObject, { newCallId, lose }: ReadContext): ReplyEvent[] {
  return wholeReply((builder) => {
    const message = objectAt(reply, 'message')
    if (!message) return builder.fail(errorFacts(textAt(reply, 'message') || 'the upstream sent no valid answer'))
    for (const piece of contentOf(message)) readPiece(builder, piece)
    for (const citation of arrayAt(message, 'citations').filter(isObject)) readCitation(builder, citation, lose)
    builder.reasoning(textAt(message, 'tool_plan'))
    for (const call of arrayAt(message, 'tool_calls').filter(isObject)) {
      const called = objectAt(call, 'function') ?? {}
      const name = textAt(called, 'name')
      const callId = textAt(call, 'id') || newCallId()
      if (name !== '') builder.call({ callId, name, input: inputOf(textAt(called, 'arguments')) })
    }
    readEnd(builder, reply)
  })
}

export function readStreamEvents({ newCallId, lose }: ReadContext): EventReader {
  /** The open calls without any input yet. */
  const empty = new Set<string>()

  return readerOf((builder, data, event) => {
    const delta = objectAt(data, 'delta') ?? {}
    const message = objectAt(delta, 'message') ?? {}
    const key = String(data.index ?? 0)
    switch (textAt(data, 'type') || event.name) {
      case 'content-start':
      case 'content-delta':
        return readPiece(builder, objectAt(message, 'content') ?? {})
      case 'citation-start': {
        const citation = objectAt(message, 'citations')
        return citation && readCitation(builder, citation, lose)
      }
      case 'tool-plan-delta':
        return builder.reasoning(textAt(message, 'tool_plan'))
      case 'tool-call-start': {
        const call = objectAt(message, 'tool_calls') ?? {}
        const name = textAt(objectAt(call, 'function') ?? {}, 'name')
        if (name === '') return
        builder.closeCall(key)
        builder.openCall(key, { callId: textAt(call, 'id') || newCallId(), name })
        empty.add(key)
        return readInput(builder, key, call)
      }
      case 'tool-call-delta':
        return readInput(builder, key, objectAt(message, 'tool_calls') ?? {})
      case 'tool-call-end':
        if (empty.delete(key)) builder.callInput(key, '{}')
        return builder.closeCall(key)
      case 'message-end':
        return readEnd(builder, delta)
      case 'error':
        return builder.fail(errorFacts(textAt(data, 'message') || textAt(delta, 'error')))
    }
  })

  function readInput(builder: ReplyBuilder, key: string, call: JsonObject): void {
    const input = textAt(objectAt(call, 'function') ?? {}, 'arguments')
    // The text `null` means a call without input.
    if (input === '' || (input === 'null' && empty.has(key))) return
    empty.delete(key)
    builder.callInput(key, input)
  }
}

function readPiece(builder: ReplyBuilder, piece: JsonObject): void {
  builder.reasoning(answerAt(piece, 'thinking'))
  builder.text(answerAt(piece, 'text'))
}

/** Compatible hosts have a text in place of the list, or of a part of it. */
function contentOf({ content }: JsonObject): JsonObject[] {
  const pieces = Array.isArray(content) ? content : [content]
  return pieces.map((piece) => (isObject(piece) ? piece : { text: piece }))
}

/** Only documents and results of tools from the web have a URL. */
function readCitation(builder: ReplyBuilder, citation: JsonObject, lose: ReadContext['lose']): void {
  const sources = arrayAt(citation, 'sources').filter(isObject)
  const pages = sources.map((source) => objectAt(source, 'document') ?? objectAt(source, 'tool_output') ?? {})
  const [start, end] = [countAt(citation, 'start'), countAt(citation, 'end')]
  for (const page of pages) {
    const url = webAddress(textAt(page, 'url'))
    if (url === '') lose?.('citations')
    else builder.cite({ url, title: textAt(page, 'title'), start, end })
  }
}

/** Finish reason and usage are together, at the top level of a non-streamed reply or in the last event. */
function readEnd(builder: ReplyBuilder, end: JsonObject): void {
  const usage = readUsage(objectAt(end, 'usage'))
  if (usage) builder.usage(usage)
  const reason = textAt(end, 'finish_reason')
  if (reason === 'ERROR' || reason === 'TIMEOUT') {
    const message = textAt(end, 'error') || `the upstream stopped: ${reason}`
    builder.fail(errorFacts(message, { code: reason, status: reason === 'TIMEOUT' ? 504 : 0 }))
  }
  builder.stop(reasons.get(reason) ?? 'other')
  builder.end({ needsUsage: true })
}

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop-sequence'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool-calls'],
  ['ERROR_TOXIC', 'content-filter'],
])

/** `tokens` is the model's input and output; `billed_units` leaves out Cohere's additions to the prompt. */
function readUsage(usage: JsonObject | undefined): Usage | undefined {
  const counts = usage && (objectAt(usage, 'tokens') ?? objectAt(usage, 'billed_units'))
  if (!counts) return undefined
  const input = countAt(counts, 'input_tokens')
  const output = countAt(counts, 'output_tokens')
  const placed = placeTotals({ prompt: input, completion: output, total: 0, cached: countAt(usage, 'cached_tokens') })
  return { ...noUsage, ...cachedKinds(placed.cached), input: placed.plain, output, ...placed.marks }
}

function inputOf(text: string): string {
  return text === '' || text === 'null' ? '{}' : text
}
