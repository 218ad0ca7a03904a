import type { EventReader } from '../codec.ts'
import { readGeminiError } from '../gemini-generate/errors.ts'
import { errorFacts, type ReplyBuilder, readerOf, wholeReply } from '../reply-builder.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { answerAt, arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'

export function readReply(reply: JsonObject): ReplyEvent[] {
  return wholeReply((builder) => readMessage(builder, reply))
}

/** PaLM does not stream. An event, if there is one, is read as a complete reply. */
export function readStreamEvents(): EventReader {
  return readerOf(readMessage)
}

/** The first candidate. If every candidate was filtered, only the filters report it. */
function readMessage(builder: ReplyBuilder, reply: JsonObject): void {
  if (isObject(reply.error)) {
    builder.fail(readGeminiError(reply))
    return
  }
  const candidate = arrayAt(reply, 'candidates').find(isObject)
  const filter = arrayAt(reply, 'filters').find(isObject)
  if (!candidate && !filter) {
    builder.fail(errorFacts('the upstream gave no candidate'))
    return
  }
  builder.text(answerAt(candidate ?? {}, 'content'))
  if (candidate) builder.stop('stop')
  else builder.stop('content-filter', textAt(filter ?? {}, 'message') || textAt(filter ?? {}, 'reason'))
  builder.end()
}
