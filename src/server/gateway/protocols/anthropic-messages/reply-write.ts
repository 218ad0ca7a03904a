import { noUsage, type Usage } from '../../../../contract/usage.ts'
import type { EventWriter, Inbound, WriteContext } from '../codec.ts'
import { errorEvent, passedError } from '../error-body.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import type { JsonObject } from '../wire-format.ts'
import { BlockQueue } from './block-queue.ts'
import { gatherMessage } from './forms.ts'
import { writeUsage } from './usage.ts'

/**
 * Writes replies in the form of Messages. A non-streamed one is assembled from the events of a stream. One block is open at a time;
 * stop reason and usage are written at the end, when both are known. Source: protocols notes 1.12, 3.10 and 3.14.
 */
export const writeReply: Inbound['writeReply'] = (events, context) => {
  const writer = new MessageWriter(context)
  return gatherMessage(events.flatMap((event) => writer.write(event)))
}

export const writeEvents = (context: WriteContext): EventWriter => {
  const writer = new MessageWriter(context)
  let isOver = false
  return {
    push(event) {
      if (isOver) return ''
      isOver = event.type === 'error' || event.type === 'end'
      if (event.type === 'error') {
        return errorEvent('anthropic', passedError(event.error.status || 502, event.error), {
          requestId: context.id,
          language: 'en',
        })
      }
      return writer.write(event).map(eventText).join('')
    },
  }
}

function eventText(event: JsonObject): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

class MessageWriter {
  readonly #context: WriteContext
  readonly #blocks = new BlockQueue()
  #hasStarted = false
  #usage: Usage | undefined
  #finish: Extract<ReplyEvent, { type: 'finish' }> | undefined

  constructor(context: WriteContext) {
    this.#context = context
  }

  /** The first event waits for the next one, which may contain the input count. */
  write(event: ReplyEvent): JsonObject[] {
    switch (event.type) {
      case 'start':
        return []
      case 'usage':
        this.#usage = event.usage
        return this.#started()
      case 'open':
        return [...this.#started(), ...this.#blocks.open(event)]
      case 'delta':
        return this.#blocks.delta(event.index, event.text)
      case 'opaque':
        return this.#blocks.seal(event.index, event.opaque)
      case 'cite':
        return this.#blocks.cite(event.index, event.citation)
      case 'close':
        return this.#blocks.close(event.index, event.isCut === true)
      case 'finish':
        this.#finish = event
        return []
      case 'end':
        return [...this.#started(), ...this.#ending()]
      case 'logprobs':
      case 'error':
        return []
    }
  }

  #started(): JsonObject[] {
    if (this.#hasStarted) return []
    this.#hasStarted = true
    const { id, model, inputTokensEstimate } = this.#context
    const usage = this.#usage ?? { ...noUsage, input: inputTokensEstimate ?? 0 }
    return [
      {
        type: 'message_start',
        message: {
          id: `msg_${id}`,
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          container: null,
          diagnostics: null,
          usage: { ...writeUsage(usage), service_tier: null, inference_geo: null, speed: null },
        },
      },
    ]
  }

  #ending(): JsonObject[] {
    // A picture may have sources without any text.
    if (this.#blocks.hasUncited) this.#context.lose?.('citations')
    const { reason = 'stop', stopSequence = null, explanation = null } = this.#finish ?? {}
    const delta = {
      stop_reason: stopReasons[reason],
      stop_sequence: stopSequence,
      stop_details: reason === 'content-filter' ? { type: 'refusal', category: null, explanation } : null,
      container: null,
    }
    return [{ type: 'message_delta', delta, usage: writeUsage(this.#usage ?? noUsage) }, { type: 'message_stop' }]
  }
}

const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'context-full': 'model_context_window_exceeded',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  pause: 'pause_turn',
  other: 'max_tokens',
}
