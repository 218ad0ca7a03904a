import type { Codec, EventReader, ReadContext } from '../codec.ts'
import { errorFacts, parseData } from '../reply-builder.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { arrayAt, isObject, type JsonObject, objectAt, type StreamEvent } from '../wire-format.ts'
import { isEmptyChoice, isFinished } from './chat.ts'
import { ChatReply } from './chat-reply.ts'
import { readErrorInReply, readOpenAiError } from './errors.ts'

/** Reads a complete Chat reply with the reader of streams: a message is one large delta. */
export const readReply: Codec['readReply'] = (body, context) => {
  const choice = firstChoice(body)
  const error = readErrorInReply(body)
  if (error || !choice || isEmptyChoice(choice)) return [noReply(error ?? readOpenAiError(body))]

  const reply = new ChatReply(context)
  reply.usageIn(body)
  reply.stop(isFinished(choice) ? choice.finish_reason : 'stop')
  reply.logprobsIn(choice)
  reply.message(objectAt(choice, 'message') ?? {})
  reply.sourcesIn(body)
  reply.end()
  return reply.take()
}

/** A stream of Chat. It ends with `[DONE]`, or with the connection after a finish reason; otherwise it was cut off. */
export function readEvents(context: ReadContext): EventReader {
  const reply = new ChatReply(context)
  let hasChoices = false

  const read = ({ data }: StreamEvent) => {
    if (data.trim() === '[DONE]') return hasChoices ? reply.end() : reply.cut()
    const chunk = parseData(data)
    if (!chunk) return
    const error = readErrorInReply(chunk)
    if (error) return reply.fail(error)

    reply.usageIn(chunk)
    reply.sourcesIn(chunk)
    const choice = firstChoice(chunk)
    if (!choice) return
    hasChoices = true
    reply.logprobsIn(choice)
    const delta = objectAt(choice, 'delta')
    const message = objectAt(choice, 'message')
    if (delta) reply.delta(delta)
    // Some hosts send a whole message in place of deltas; others repeat earlier content in it.
    else if (message && !reply.hasOutput) reply.message(message)
    if (isFinished(choice)) reply.stop(choice.finish_reason)
  }

  return {
    push(event) {
      if (!reply.isOver) read(event)
      return reply.take()
    },
    finish() {
      reply.cut()
      return reply.take()
    },
  }
}

/** Only one choice is requested; additional ones are ignored. */
function firstChoice(data: JsonObject): JsonObject | undefined {
  return arrayAt(data, 'choices').find((choice): choice is JsonObject => isObject(choice) && !choice.index)
}

function noReply(error: ReturnType<typeof readOpenAiError>): ReplyEvent {
  return { type: 'error', error: error.message === '' ? { ...error, ...errorFacts('the upstream sent no valid answer') } : error }
}
