import { readEvents } from '../../../base/lib/bytes/sse.ts'
import type { AttemptTrace } from '../../../usage/calls/call-traces.ts'
import { arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import type { ResponseAdapter } from './adapter.ts'
import { parse } from './sse-interceptor.ts'

/** Returns an adapter that records in a trace which model answered, and the upstream's finish reasons. */
export function tracedAdapter(adapter: ResponseAdapter, trace: AttemptTrace): ResponseAdapter {
  const { openObserver } = adapter
  const note = (reply: JsonObject | undefined) => {
    if (reply) trace.noteReply(modelIn(reply), finishReasonsIn(reply))
  }
  return {
    ...adapter,
    readWhole(body, contentType) {
      const whole = adapter.readWhole(body, contentType)
      if (contentType.includes('json')) note(parseWhole(body))
      return whole
    },
    openObserver() {
      const observe = openObserver?.()
      let isFirst = true
      return (block) => {
        // Only the first block and blocks with a finish reason or final status are parsed.
        if (isFirst || ends.test(block)) for (const { data } of readEvents(block)) note(parse(data))
        isFirst = false
        return observe?.(block)
      }
    },
    readReplay(body) {
      const replay = adapter.readReplay(body)
      note(parseWhole(body))
      return replay
    },
  }
}

const ends =
  /"(?:finish_reason|finishReason|stop_reason|stopReason|done_reason)": ?"|"type": ?"response\.(?:completed|incomplete)"/

function modelIn(reply: JsonObject): string {
  const inner = objectAt(reply, 'message') ?? objectAt(reply, 'response')
  return textAt(reply, 'model') || textAt(reply, 'modelVersion') || (inner ? textAt(inner, 'model') : '')
}

/** The finish reason of each choice, with its index. */
function finishReasonsIn(reply: JsonObject): [number, string][] {
  const parts = [
    reply,
    objectAt(reply, 'delta'),
    objectAt(reply, 'response'),
    ...arrayAt(reply, 'choices'),
    ...arrayAt(reply, 'candidates'),
  ].filter(isObject)
  return parts.map((part): [number, string] => [countAt(part, 'index'), reasonIn(part)]).filter(([, reason]) => reason !== '')
}

function reasonIn(part: JsonObject): string {
  for (const name of ['finish_reason', 'finishReason', 'stop_reason', 'stopReason', 'done_reason'])
    if (textAt(part, name) !== '') return textAt(part, name)
  // In the Responses API, a response has a status instead.
  const isOver = part.object === 'response' && part.status !== 'in_progress' && part.status !== 'queued'
  return isOver ? textAt(objectAt(part, 'incomplete_details') ?? {}, 'reason') || textAt(part, 'status') : ''
}

/** Larger bodies contain images or audio; parsing them costs too much. */
function parseWhole(body: Buffer): JsonObject | undefined {
  return body.length <= wholeBytesMax ? parse(body.toString('latin1')) : undefined
}

const wholeBytesMax = 1024 * 1024
