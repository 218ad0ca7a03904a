import type { EventReader } from '../codec.ts'
import { errorFacts, type ReplyBuilder, readerOf, wholeReply } from '../reply-builder.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { answerAt, arrayAt, countAt, isObject, type JsonObject, textAt } from '../wire-format.ts'

export function readReply(reply: JsonObject): ReplyEvent[] {
  return wholeReply((builder) => {
    if (!readError(builder, reply)) readPiece(builder, { ...reply, content: reply.answer, finish: true })
  })
}

export function readStreamEvents(): EventReader {
  return readerOf((builder, piece) => {
    if (!readError(builder, piece)) readPiece(builder, piece)
  })
}

/** The documents arrive with the last chunk: they are citations for the whole text. */
function readPiece(builder: ReplyBuilder, piece: JsonObject): void {
  builder.text(answerAt(piece, 'content'))
  for (const { url, title } of arrayAt(piece, 'documents').filter(isObject).map(readDocument))
    if (url !== '') builder.cite({ url, title, start: 0, end: 0 })
  if (piece.finish !== true) return
  builder.stop('stop')
  builder.end()
}

function readDocument(document: JsonObject): { url: string; title: string } {
  return { url: textAt(document, 'url'), title: textAt(document, 'title') }
}

/** Errors have a successful HTTP status. */
function readError(builder: ReplyBuilder, reply: JsonObject): boolean {
  const code = countAt(reply, 'errCode')
  if (code === 0 && reply.success !== false) return false
  builder.fail(errorFacts(textAt(reply, 'message') || `error ${code}`, { code: String(code) }))
  return true
}
