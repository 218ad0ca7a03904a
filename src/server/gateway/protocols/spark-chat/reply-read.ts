import { noUsage } from '../../../../contract/usage.ts'
import type { EventReader, ReadContext } from '../codec.ts'
import { withTotal } from '../place-totals.ts'
import { errorFacts, type ReplyBuilder, readerOf, wholeReply } from '../reply-builder.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { inputText } from '../tool-input.ts'
import {
  answerAt,
  areCounts,
  arrayAt,
  countAt,
  isObject,
  type JsonObject,
  objectAt,
  textAt,
  type UpstreamErrorFacts,
} from '../wire-format.ts'

/** A reply is always a stream; a single message is an error or the complete reply. */
export function readReply(reply: JsonObject, context: ReadContext): ReplyEvent[] {
  return wholeReply((builder) => readFrame(builder, reply, context))
}

export function readStreamEvents(context: ReadContext): EventReader {
  return readerOf((builder, frame) => readFrame(builder, frame, context))
}

function readFrame(builder: ReplyBuilder, frame: JsonObject, { newCallId }: ReadContext): void {
  const header = objectAt(frame, 'header') ?? {}
  if (Number(header.code ?? 0) !== 0) builder.fail(readError(header))

  const payload = objectAt(frame, 'payload') ?? {}
  for (const piece of arrayAt(objectAt(payload, 'choices') ?? {}, 'text').filter(isObject)) {
    builder.reasoning(answerAt(piece, 'reasoning_content'))
    builder.text(answerAt(piece, 'content'))
    const call = objectAt(piece, 'function_call')
    const name = call ? textAt(call, 'name') : ''
    if (name !== '') builder.call({ callId: newCallId(), name, input: inputText(call?.arguments) })
  }
  const usage = objectAt(objectAt(payload, 'usage') ?? {}, 'text')
  if (usage && areCounts(usage, ['prompt_tokens', 'completion_tokens']) && countAt(usage, 'total_tokens') > 0) {
    const parts = { ...noUsage, input: countAt(usage, 'prompt_tokens'), output: countAt(usage, 'completion_tokens') }
    builder.usage(withTotal(parts, countAt(usage, 'total_tokens')))
  }
  if (countAt(header, 'status') !== lastStatus) return
  builder.stop('stop')
  builder.end()
}

/** `header.status` of the last message; 0 is the first message, 1 an intermediate one. */
const lastStatus = 2

function readError(header: JsonObject): UpstreamErrorFacts {
  const code = Number(header.code)
  const [status, name] = meanings.get(code) ?? [0, String(code)]
  return errorFacts(textAt(header, 'message') || `error ${code}`, { code: name, status })
}

/** The HTTP status of error codes. Source: iFlytek's table of error codes and protocols notes 2.16, read 2026-11. */
const meanings: ReadonlyMap<number, readonly [status: number, code: string]> = new Map([
  [10005, [401, 'invalid_api_key']],
  [10007, [429, 'rate_limit_exceeded']],
  [10008, [503, 'overloaded']],
  [10013, [400, 'content_filter']],
  [10014, [400, 'content_filter']],
  [10019, [400, 'content_filter']],
  [10110, [503, 'overloaded']],
  [10163, [400, 'invalid_request']],
  [10907, [400, 'context_length_exceeded']],
  [11200, [401, 'invalid_api_key']],
  [11201, [429, 'insufficient_quota']],
  [11202, [429, 'rate_limit_exceeded']],
  [11203, [429, 'rate_limit_exceeded']],
])
