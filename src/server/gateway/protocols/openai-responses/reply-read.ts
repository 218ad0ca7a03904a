import type { Codec, EventReader, ReadContext } from '../codec.ts'
import { errorFacts, parseData } from '../reply-builder.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import { arrayAt, isObject, type JsonObject, objectAt, type StreamEvent, textAt } from '../wire-format.ts'
import { Blocks } from './blocks.ts'
import { readResponsesError } from './errors.ts'
import { Items } from './items-read.ts'
import { isEmptyResponse } from './responses.ts'
import { readResponseUsage } from './usage.ts'

/** Reads a complete reply, which is the response in a stream's terminal event. Source: protocols notes 1.3 and 3.14. */
export const readReply: Codec['readReply'] = (reply, context) => {
  if (reply.error || reply.type === 'error')
    return [{ type: 'error', error: readResponsesError({ type: 'error', ...reply }) ?? noReply }]
  if (!Array.isArray(reply.output)) return [{ type: 'error', error: noReply }]
  const reader = new ResponsesReader(context)
  return reader.push({ name: '', data: '' }, { type: terminalOf(reply), response: reply })
}

export const readEvents: Codec['readEvents'] = (context) => new ResponsesReader(context)

const noReply = errorFacts('the upstream sent no valid answer')

function terminalOf({ status }: JsonObject): string {
  if (status === undefined || status === 'completed' || status === 'complete') return 'response.completed'
  return status === 'incomplete' ? 'response.incomplete' : 'response.failed'
}

class ResponsesReader implements EventReader {
  readonly #blocks = new Blocks()
  readonly #items: Items
  #hasStarted = false
  #isOver = false

  readonly #lose: ReadContext['lose']

  constructor(context: ReadContext) {
    this.#items = new Items(this.#blocks, context)
    this.#lose = context.lose
  }

  push({ data }: StreamEvent, parsed = parseData(data)): ReplyEvent[] {
    if (parsed && !this.#isOver) this.#read(parsed)
    return this.#blocks.take()
  }

  finish(): ReplyEvent[] {
    if (!this.#isOver) this.#blocks.closeAll()
    this.#isOver = true
    return this.#blocks.take()
  }

  #read(data: JsonObject): void {
    const error = readResponsesError(data)
    if (error) {
      this.#usage(objectAt(data, 'response') ?? {})
      this.#blocks.add({ type: 'error', error })
      this.#isOver = true
      return
    }
    const { type } = data
    if (typeof type !== 'string' || !type.startsWith('response.')) return
    this.#start()
    if (type === 'response.completed' || type === 'response.incomplete') this.#end(type, objectAt(data, 'response') ?? {})
    else this.#items.take(type, data)
  }

  #end(type: string, response: JsonObject): void {
    for (const [at, item] of arrayAt(response, 'output').entries()) if (isObject(item)) this.#items.complete(at, item)
    this.#blocks.closeAll()
    this.#usage(response)
    // What the vendor left out of the request, such as reasoning of another account, is told in no other format.
    if (arrayAt(response, 'input_transformations').length > 0) this.#lose?.('input_transformations')
    this.#isOver = true
    if (type === 'response.completed' && this.#blocks.isEmpty && isEmptyResponse(response)) {
      this.#blocks.add({ type: 'error', error: errorFacts('the upstream gave no answer') })
      return
    }
    this.#blocks.add({ type: 'finish', reason: this.#reasonOf(type, response) })
    this.#blocks.add({ type: 'end' })
  }

  /** A reply with calls finishes with `tool-calls`, unless it was cut short. Source: protocols notes 3.10. */
  #reasonOf(type: string, response: JsonObject): FinishReason {
    if (type === 'response.completed') return this.#items.calls > 0 ? 'tool-calls' : 'stop'
    const reason = textAt(objectAt(response, 'incomplete_details') ?? {}, 'reason')
    if (reason === 'content_filter') return 'content-filter'
    if (reason === '' || reason === 'max_output_tokens') return 'length'
    return reason === 'steered' ? 'pause' : 'other'
  }

  #usage(response: JsonObject): void {
    const usage = readResponseUsage(response)
    if (!usage) return
    this.#start()
    this.#blocks.add({ type: 'usage', usage })
  }

  #start(): void {
    if (!this.#hasStarted) this.#blocks.add({ type: 'start' })
    this.#hasStarted = true
  }
}
