import type { EventReader, ReadContext } from '../codec.ts'
import { readEvents as readChatEvents, readReply as readChatReply } from '../openai-chat/reply-read.ts'
import { parseData } from '../reply-builder.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * Tencent's replies are those of Chat with names in PascalCase, so the reader of Chat reads them. A non-streamed one is in
 * `Response`.
 */
export function readReply(reply: JsonObject, context: ReadContext): ReplyEvent[] {
  return readChatReply(asChat(reply), context)
}

export function readStreamEvents(context: ReadContext): EventReader {
  const chat = readChatEvents(context)
  return {
    push({ name, data }) {
      const event = parseData(data)
      return chat.push({ name, data: event ? JSON.stringify(asChat(event)) : data })
    },
    finish: () => chat.finish(),
  }
}

function asChat(data: JsonObject): JsonObject {
  const reply = objectAt(data, 'Response') ?? data
  const error = objectAt(reply, 'Error') ?? objectAt(reply, 'ErrorMsg')
  if (error) return { error: readError(error) }
  // Every name of Chat is the snake_case form of Tencent's.
  return { choices: arrayAt(reply, 'Choices').map(snakeCased), usage: snakeCased(reply.Usage) }
}

function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [snakeName(key), snakeCased(member)]))
}

function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, (letter, at: number) => (at > 0 ? '_' : '') + letter.toLowerCase())
}

function readError(error: JsonObject): JsonObject {
  const code = String(error.Code ?? '')
  return {
    message: textAt(error, 'Message') || textAt(error, 'Msg') || 'the upstream failed',
    code,
    status: statuses.find(([pattern]) => pattern.test(code))?.[1],
  }
}

/** The HTTP status of error codes. Source: Tencent Cloud's common and Hunyuan's own error codes, read 2026-11. */
const statuses: readonly (readonly [RegExp, number])[] = [
  [/^AuthFailure/, 401],
  [/^UnauthorizedOperation/, 403],
  [/LimitExceeded/, 429],
  [/Exhaust|ServiceStop|ResourceInsufficient|FreeResource/, 402],
  [/^(InvalidParameter|MissingParameter|UnsupportedOperation|UnknownParameter)/, 400],
  [/^InternalError/, 500],
]
