import { noUsage } from '../../../../contract/usage.ts'
import type { EventReader } from '../codec.ts'
import { withTotal } from '../place-totals.ts'
import { errorFacts, type ReplyBuilder, readerOf, wholeReply } from '../reply-builder.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { answerAt, areCounts, countAt, type JsonObject, objectAt, textAt, type UpstreamErrorFacts } from '../wire-format.ts'

/** A chat's text is in `answer`, a workflow's in `data.outputs`; an error has a `code`. */
export function readReply(reply: JsonObject): ReplyEvent[] {
  return wholeReply((builder) => {
    const data = objectAt(reply, 'data')
    if (typeof reply.answer === 'string') {
      builder.text(reply.answer)
      readEnd(builder, reply)
    } else if (data) {
      readWorkflow(builder, data)
    } else {
      builder.fail(readError(reply))
    }
  })
}

export function readStreamEvents(): EventReader {
  return readerOf((builder, data, { name }) => {
    switch (textAt(data, 'event') || name) {
      case 'message':
      case 'agent_message':
        return builder.text(answerAt(data, 'answer'))
      case 'text_chunk':
        return builder.text(answerAt(objectAt(data, 'data') ?? {}, 'text'))
      case 'message_file':
        if (textAt(data, 'belongs_to') === 'user' || textAt(data, 'url') === '') return
        return builder.text(`\n![${textAt(data, 'type') || 'file'}](${textAt(data, 'url')})\n`)
      case 'message_replace':
        return readReplacement(builder, data)
      case 'message_end':
        return readEnd(builder, data)
      case 'workflow_finished':
        return readWorkflow(builder, objectAt(data, 'data') ?? {})
      case 'error':
        return builder.fail(readError(data))
    }
  })
}

/**
 * The moderation of the application withdrew the text. Text that was already sent cannot be replaced: only the finish reason
 * reports it.
 */
function readReplacement(builder: ReplyBuilder, data: JsonObject): void {
  if (builder.hasOutput) builder.stop('content-filter')
  else builder.text(answerAt(data, 'answer'))
}

function readEnd(builder: ReplyBuilder, end: JsonObject): void {
  const usage = objectAt(objectAt(end, 'metadata') ?? {}, 'usage')
  if (usage && areCounts(usage, ['prompt_tokens', 'completion_tokens']) && countAt(usage, 'total_tokens') > 0) {
    const parts = { ...noUsage, input: countAt(usage, 'prompt_tokens'), output: countAt(usage, 'completion_tokens') }
    builder.usage(withTotal(parts, countAt(usage, 'total_tokens')))
  }
  builder.stop('stop')
  builder.end()
}

/**
 * In a chatflow the message continues after this event, so it is not the end. The text of a workflow that streamed none is its
 * outputs.
 */
function readWorkflow(builder: ReplyBuilder, run: JsonObject): void {
  const status = textAt(run, 'status')
  if (status === 'failed' || status === 'stopped') {
    builder.fail(errorFacts(textAt(run, 'error') || `the workflow was ${status}`))
    return
  }
  const outputs = objectAt(run, 'outputs')
  if (outputs && !builder.hasOutput) builder.text(outputText(outputs))
  builder.stop('stop')
}

/** A single text is the answer itself; anything else is written as JSON. */
function outputText(outputs: JsonObject): string {
  const values = Object.values(outputs)
  const [only] = values
  return values.length === 1 && typeof only === 'string' ? only : JSON.stringify(outputs)
}

function readError(error: JsonObject): UpstreamErrorFacts {
  const status = countAt(error, 'status')
  return errorFacts(textAt(error, 'message') || 'the upstream sent no valid answer', {
    code: textAt(error, 'code'),
    status: status >= 400 && status <= 599 ? status : 0,
  })
}
