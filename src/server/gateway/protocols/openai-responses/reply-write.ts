import type { EventWriter, Inbound, WriteContext } from '../codec.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import type { JsonObject, UpstreamErrorFacts } from '../wire-format.ts'
import { firstNumberInBackground } from './background.ts'
import { errorEventText } from './errors.ts'
import { OutputWriter } from './output-write.ts'
import { newResponse } from './response-object.ts'
import { writeResponsesUsage } from './usage.ts'

/** Writes a complete reply, which is the response in a stream's terminal event. Source: protocols notes 1.3. */
export const writeReply: Inbound['writeReply'] = (events, context) => {
  const writer = new ResponseWriter(context)
  for (const event of events) writer.take(event)
  return writer.response
}

/** Writes a stream: each event has its number, and every item is closed before the terminal event, which repeats all items. */
export const writeEvents: Inbound['writeEvents'] = (context) => {
  const writer = new ResponseWriter(context)
  const stream: EventWriter = {
    push(event) {
      // Before `response.created` there is no response that could fail, so the error is sent bare.
      if (event.type === 'error' && !writer.hasBegun) return errorEventText(event.error)
      return writer
        .take(event)
        .map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
        .join('')
    },
  }
  return stream
}

/** Converts neutral events to events of Responses. Source: protocols notes 3.14, edge cases 190 to 194 and 204 to 206. */
class ResponseWriter {
  hasBegun: boolean
  readonly #context: WriteContext
  readonly #output: OutputWriter
  #response: JsonObject
  #reason: FinishReason = 'stop'
  #made: JsonObject[] = []
  #sequence: number

  constructor(context: WriteContext) {
    // Its first events were sent when it was queued.
    this.hasBegun = context.kept?.isBackground === true
    this.#sequence = this.hasBegun ? firstNumberInBackground : 0
    this.#context = context
    this.#response = newResponse(context)
    this.#output = new OutputWriter(context, (event) => this.#add(event))
  }

  /** The response with its current content. */
  get response(): JsonObject {
    return this.#response
  }

  take(event: ReplyEvent): JsonObject[] {
    this.#take(event)
    const made = this.#made
    this.#made = []
    return made
  }

  #take(event: ReplyEvent): void {
    switch (event.type) {
      case 'start':
        if (!this.hasBegun) this.#add({ type: 'response.created', response: this.#response })
        this.hasBegun = true
        this.#add({ type: 'response.in_progress', response: this.#response })
        break
      case 'usage':
        this.#response = { ...this.#response, usage: writeResponsesUsage(event.usage) }
        break
      case 'finish':
        this.#reason = event.reason
        this.#output.finish(isCutShort(event.reason), event.reason === 'content-filter' ? event.explanation : undefined)
        break
      case 'end':
        this.#output.finish(isCutShort(this.#reason))
        this.#end()
        break
      case 'error':
        this.#fail(event.error)
        break
      default:
        this.#output.take(event)
    }
  }

  #end(): void {
    const reason = reasons[this.#reason]
    const status = reason === undefined ? 'completed' : 'incomplete'
    const { createdAt, completedAt } = this.#context
    this.#response = {
      ...this.#response,
      status,
      completed_at: reason === undefined ? (completedAt?.() ?? createdAt) : null,
      incomplete_details: reason === undefined ? null : { reason },
      output: this.#output.items,
    }
    this.#add({ type: `response.${status}`, response: this.#response })
  }

  #fail({ message, code, status }: UpstreamErrorFacts): void {
    const error = { code: code || (status === 429 ? 'rate_limit_exceeded' : 'server_error'), message }
    this.#response = { ...this.#response, status: 'failed', error, output: this.#output.items }
    this.#add({ type: 'response.failed', response: this.#response })
  }

  #add({ type, ...members }: JsonObject): void {
    this.#made.push({ type, sequence_number: this.#sequence++, ...members })
  }
}

/** The reason of an incomplete reply, as in the vendor's API; complete replies have no entry. Source: protocols notes 3.10. */
const reasons: Readonly<Partial<Record<FinishReason, string>>> = {
  length: 'max_output_tokens',
  'context-full': 'max_output_tokens',
  'content-filter': 'content_filter',
  pause: 'max_output_tokens',
  other: 'max_output_tokens',
}

function isCutShort(reason: FinishReason): boolean {
  return reasons[reason] !== undefined
}
