import type { EventReader, ReadContext } from '../codec.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { isObject, type JsonObject } from '../wire-format.ts'
import { ReplyReader } from './reply-reader.ts'

/** Reads a complete reply into events. An invalid reply yields an error. */
export function readGenerateReply(reply: JsonObject, context: ReadContext): ReplyEvent[] {
  const reader = new ReplyReader(context, { isWhole: true })
  return [...reader.take(reply), ...reader.finish()]
}

/** A stream: each event is a complete reply, whose parts continue the earlier ones. It ends with the body. */
export function readGenerateEvents(context: ReadContext): EventReader {
  const reader = new ReplyReader(context, { isWhole: false })
  return {
    push(event) {
      const reply = parsed(event.data)
      return reply ? reader.take(reply) : []
    },
    finish: () => reader.finish(),
  }
}

/** An error may be the only entry of a list. */
function parsed(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data)
    const reply = Array.isArray(value) ? value[0] : value
    return isObject(reply) ? reply : undefined
  } catch {
    return undefined
  }
}
