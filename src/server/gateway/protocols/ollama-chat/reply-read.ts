import { noUsage } from '../../../../contract/usage.ts'
import type { EventReader, ReadContext } from '../codec.ts'
import { errorFacts, type ReplyBuilder, readerOf, wholeReply } from '../reply-builder.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { inputText } from '../tool-input.ts'
import { answerAt, arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/** A non-streamed reply has the form of the last line, with the complete message. */
export function readReply(reply: JsonObject, context: ReadContext): ReplyEvent[] {
  return wholeReply((builder) => readLine(builder, reply, context))
}

export function readStreamEvents(context: ReadContext): EventReader {
  return readerOf((builder, line) => readLine(builder, line, context))
}

function readLine(reply: ReplyBuilder, line: JsonObject, { newCallId }: ReadContext): void {
  const error = textAt(line, 'error')
  if (error !== '') reply.fail(errorFacts(error))

  const message = objectAt(line, 'message') ?? {}
  reply.reasoning(answerAt(message, 'thinking'))
  reply.text(answerAt(message, 'content'))
  for (const call of arrayAt(message, 'tool_calls').filter(isObject)) {
    const called = objectAt(call, 'function') ?? {}
    const callId = textAt(call, 'id') || newCallId()
    if (textAt(called, 'name') !== '') reply.call({ callId, name: textAt(called, 'name'), input: inputText(called.arguments) })
  }
  if (line.done === true) readEnd(reply, line)
}

function readEnd(reply: ReplyBuilder, line: JsonObject): void {
  const reason = textAt(line, 'done_reason')
  // The model was only loaded into memory, or unloaded, without generating an answer.
  if (reason === 'load' || reason === 'unload') reply.fail(errorFacts(`the model gave no answer: ${reason}`))

  // Ollama omits the count of a cached prompt: without usage here, the gateway counts the tokens itself.
  if (line.prompt_eval_count !== undefined && line.eval_count !== undefined) {
    reply.usage({ ...noUsage, input: countAt(line, 'prompt_eval_count'), output: countAt(line, 'eval_count') })
  }
  reply.stop(reason === 'length' || reason === 'stop' ? reason : reason === '' ? 'stop' : 'other')
  reply.end()
}
