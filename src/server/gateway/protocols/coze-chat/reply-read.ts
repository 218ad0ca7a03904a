import { noUsage } from '../../../../contract/usage.ts'
import type { EventReader } from '../codec.ts'
import { withTotal } from '../place-totals.ts'
import { errorFacts, type ReplyBuilder, readerOf, wholeReply } from '../reply-builder.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { answerAt, countAt, type JsonObject, objectAt, textAt, type UpstreamErrorFacts } from '../wire-format.ts'

/** A single object in place of a stream is an error: its `code` is not 0, under HTTP 200. */
export function readReply(reply: JsonObject): ReplyEvent[] {
  return wholeReply((builder) => builder.fail(readError(reply)))
}

/** Only a bot's messages of type `answer` belong to the reply. */
export function readStreamEvents(): EventReader {
  /** The ids of streamed messages, whose complete text is repeated when they end. */
  const sent = new Set<string>()

  return readerOf((builder, data, { name }) => {
    switch (name || textAt(data, 'event')) {
      case 'conversation.message.delta':
        if (textAt(data, 'type') !== 'answer') return
        sent.add(textAt(data, 'id'))
        builder.reasoning(answerAt(data, 'reasoning_content'))
        return builder.text(answerAt(data, 'content'))
      case 'conversation.message.completed':
        if (textAt(data, 'type') === 'answer' && !sent.has(textAt(data, 'id'))) builder.text(answerAt(data, 'content'))
        return
      case 'conversation.chat.completed':
        return readEnd(builder, data)
      case 'conversation.chat.failed':
        return builder.fail(readError(objectAt(data, 'last_error') ?? data))
      case 'conversation.chat.requires_action':
        return builder.fail(errorFacts('the bot wants a tool of its own to be run, which it has to be set up for at Coze'))
      case 'error':
        return builder.fail(readError(data))
    }
  })
}

function readEnd(builder: ReplyBuilder, chat: JsonObject): void {
  const usage = objectAt(chat, 'usage')
  if (usage && countAt(usage, 'token_count') > 0) {
    const parts = { ...noUsage, input: countAt(usage, 'input_count'), output: countAt(usage, 'output_count') }
    builder.usage(withTotal(parts, countAt(usage, 'token_count')))
  }
  builder.stop('stop')
  builder.end()
}

function readError(error: JsonObject): UpstreamErrorFacts {
  const code = countAt(error, 'code')
  return errorFacts(textAt(error, 'msg') || 'the upstream sent no valid answer', {
    code: code === 0 ? '' : String(code),
    status: statuses.get(code) ?? 0,
  })
}

/** The HTTP status of error codes. Source: Coze's table of error codes, read 2026-11. */
const statuses: ReadonlyMap<number, number> = new Map([
  [4000, 400],
  [4013, 429],
  [4027, 402],
  [4028, 402],
  [4100, 401],
  [4101, 403],
  [4200, 404],
])
