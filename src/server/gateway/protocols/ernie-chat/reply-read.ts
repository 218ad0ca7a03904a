import { noUsage } from '../../../../contract/usage.ts'
import type { EventReader, ReadContext } from '../codec.ts'
import { withTotal } from '../place-totals.ts'
import { errorFacts, type ReplyBuilder, readerOf, wholeReply } from '../reply-builder.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import { inputText } from '../tool-input.ts'
import { answerAt, areCounts, countAt, type JsonObject, objectAt, textAt, type UpstreamErrorFacts } from '../wire-format.ts'

/** A non-streamed reply has the form of a stream event with the complete text, without `is_end`. */
export function readReply(reply: JsonObject, context: ReadContext): ReplyEvent[] {
  return wholeReply((builder) => {
    if (typeof reply.result === 'string' || reply.error_code !== undefined || objectAt(reply, 'function_call')) {
      readPiece(builder, { ...reply, is_end: true }, context)
    }
  })
}

export function readStreamEvents(context: ReadContext): EventReader {
  return readerOf((builder, piece) => readPiece(builder, piece, context))
}

function readPiece(builder: ReplyBuilder, piece: JsonObject, { newCallId }: ReadContext): void {
  if (piece.error_code !== undefined) builder.fail(readError(piece))
  builder.text(answerAt(piece, 'result'))
  const call = objectAt(piece, 'function_call')
  if (call && textAt(call, 'name') !== '') {
    builder.call({ callId: newCallId(), name: textAt(call, 'name'), input: inputText(call.arguments) })
  }
  const usage = objectAt(piece, 'usage')
  if (usage && areCounts(usage, ['prompt_tokens', 'completion_tokens']) && countAt(usage, 'total_tokens') > 0) {
    const parts = { ...noUsage, input: countAt(usage, 'prompt_tokens'), output: countAt(usage, 'completion_tokens') }
    builder.usage(withTotal(parts, countAt(usage, 'total_tokens')))
  }
  if (piece.is_end !== true) return
  builder.stop(piece.is_truncated === true ? 'length' : (reasons.get(textAt(piece, 'finish_reason')) ?? 'other'))
  builder.end()
}

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['', 'stop'],
  ['normal', 'stop'],
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'content-filter'],
  ['function_call', 'tool-calls'],
])

function readError(reply: JsonObject): UpstreamErrorFacts {
  const code = countAt(reply, 'error_code')
  const [status, name] = meanings.get(code) ?? [0, String(code)]
  return errorFacts(textAt(reply, 'error_msg') || `error ${code}`, { code: name, status })
}

/** The HTTP status of error codes. Source: Baidu's table of error codes and protocols notes 2.13, read 2026-11. */
const meanings: ReadonlyMap<number, readonly [status: number, code: string]> = new Map([
  [4, [429, 'rate_limit_exceeded']],
  [6, [403, 'permission_denied']],
  [17, [429, 'insufficient_quota']],
  [18, [429, 'rate_limit_exceeded']],
  [19, [429, 'insufficient_quota']],
  [100, [401, 'invalid_api_key']],
  [110, [401, 'invalid_api_key']],
  [111, [401, 'invalid_api_key']],
  [336003, [400, 'invalid_request']],
  [336007, [400, 'context_length_exceeded']],
  [336103, [400, 'context_length_exceeded']],
  [336104, [400, 'content_filter']],
  [336100, [503, 'overloaded']],
  [336501, [429, 'rate_limit_exceeded']],
  [336502, [429, 'rate_limit_exceeded']],
])
