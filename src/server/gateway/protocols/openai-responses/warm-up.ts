import { noUsage } from '../../../../contract/usage.ts'
import type { WriteContext } from '../codec.ts'
import type { ReplyEvent } from '../reply-events.ts'
import type { JsonObject } from '../wire-format.ts'
import { writeEvents } from './reply-write.ts'
import { readRequest } from './request-read.ts'

/**
 * The stream of a request with `generate: false`, with which a client sends the prefix of a conversation before its first question:
 * the answer has no output, and the question refers to its id. Source: guide of the WebSocket mode and types of the official SDK
 * 7.51.
 */
export function warmUpEvents(body: JsonObject, context: Omit<WriteContext, 'dialogue'>): string {
  const { model, instructions, metadata } = body
  // Tools and input are not checked before they are used.
  const dialogue = readRequest({ model, instructions, metadata, input: [] }, {})
  const writer = writeEvents({ ...context, dialogue })
  const events: ReplyEvent[] = [
    { type: 'start' },
    { type: 'usage', usage: noUsage },
    { type: 'finish', reason: 'stop' },
    { type: 'end' },
  ]
  return events.map((event) => writer.push(event)).join('')
}
