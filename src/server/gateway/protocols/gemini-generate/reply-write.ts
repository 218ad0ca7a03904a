import type { EventWriter, WriteContext } from '../codec.ts'
import { errorEvent, passedError } from '../error-body.ts'
import type { ReplyEvent } from '../reply-events.ts'
import type { JsonObject } from '../wire-format.ts'
import { joinParts } from './forms.ts'
import { PartWriter } from './part-writer.ts'

/** Writes a non-streamed reply from the complete list of events. */
export function writeGenerateReply(events: readonly ReplyEvent[], context: WriteContext): JsonObject {
  const writer = new PartWriter(context)
  const parts: JsonObject[] = []
  for (const event of events) joinParts(parts, writer.take(event))
  joinParts(parts, writer.lastParts())
  return { candidates: [writer.lastCandidate(parts)], ...writer.totals(), ...head(context) }
}

/** Writes a stream of replies, each with the new content. The last one has the finish reason and the usage. */
export function writeGenerateEvents(context: WriteContext): EventWriter {
  const writer = new PartWriter(context)
  const chunk = (candidate: JsonObject, more: JsonObject = {}) =>
    `data: ${JSON.stringify({ candidates: [candidate], ...more, ...head(context) })}\r\n\r\n`

  return {
    push(event) {
      if (event.type === 'error') {
        const callerError = passedError(event.error.status || 502, event.error)
        return errorEvent('gemini', callerError, { requestId: context.id, language: 'en' })
      }
      if (event.type === 'end') {
        // Clients treat a content without parts as invalid.
        const last = writer.lastParts()
        return chunk(writer.lastCandidate(last.length > 0 ? last : [{ text: '' }]), writer.totals())
      }
      const parts = writer.take(event)
      return parts.length === 0 ? '' : chunk({ content: { parts, role: 'model' }, index: 0, ...writer.takeLogprobs() })
    },
  }
}

function head({ model, id }: WriteContext): JsonObject {
  return { modelVersion: model, responseId: id }
}
