import type { EventReader, ReadContext } from '../codec.ts'
import { readEvents as readChatEvents, readReply as readChatReply } from '../openai-chat/reply-read.ts'
import { parseData } from '../reply-builder.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/** DashScope's replies contain those of Chat, with other names for usage, so the reader of Chat reads them. */
export function readReply(reply: JsonObject, context: ReadContext): ReplyEvent[] {
  return readChatReply(asChat(reply, 'message'), context)
}

export function readStreamEvents(context: ReadContext): EventReader {
  const chat = readChatEvents(context)
  return {
    push({ name, data }) {
      const event = parseData(data)
      return chat.push({ name, data: event ? JSON.stringify(asChat(event, 'delta')) : data })
    },
    finish: () => chat.finish(),
  }
}

/** Older models return only a text. A message in a stream has the text since the previous message. */
function asChat(reply: JsonObject, member: 'message' | 'delta'): JsonObject {
  const output = objectAt(reply, 'output')
  if (!output) return { error: readError(reply) }
  const choices = arrayAt(output, 'choices').filter(isObject)
  const replies = choices.length > 0 ? choices : [{ message: { content: output.text }, finish_reason: output.finish_reason }]
  return {
    choices: replies.map(({ message, finish_reason }) => ({ index: 0, [member]: message ?? {}, finish_reason })),
    usage: asChatUsage(objectAt(reply, 'usage')),
  }
}

function asChatUsage(usage: JsonObject | undefined): JsonObject | undefined {
  if (!usage) return undefined
  const { input_tokens, output_tokens, output_tokens_details, ...others } = usage
  return {
    ...others,
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    completion_tokens_details: output_tokens_details,
  }
}

function readError(reply: JsonObject): JsonObject {
  const code = textAt(reply, 'code')
  return {
    message: textAt(reply, 'message') || 'the upstream sent no valid answer',
    code: code === 'DataInspectionFailed' ? 'content_filter' : code,
    status: statuses.find(([pattern]) => pattern.test(code))?.[1],
  }
}

/** The HTTP status of error codes. Source: Model Studio's table of error codes, read 2026-11. */
const statuses: readonly (readonly [RegExp, number])[] = [
  [/^Throttling/, 429],
  [/^InvalidApiKey/, 401],
  [/^(AccessDenied|Model\.AccessDenied)/, 403],
  [/^Arrearage/, 402],
  [/^(InvalidParameter|DataInspectionFailed|BadRequest)/, 400],
  [/^ModelNotFound/, 404],
  [/^InternalError/, 500],
]
