import type { WriteContext } from '../codec.ts'
import type { JsonObject, UpstreamErrorFacts } from '../wire-format.ts'
import { writeEvents } from './reply-write.ts'
import { readRequest } from './request-read.ts'

/**
 * The stream of a response that failed before its first output. Codex recognizes a conversation that is too long only by the code of
 * `response.failed`: a status of 400 ends its turn instead.
 */
export function failedStream(body: JsonObject, error: UpstreamErrorFacts, context: Omit<WriteContext, 'dialogue'>): string {
  const { model, instructions, metadata } = body
  const writer = writeEvents({ ...context, dialogue: readRequest({ model, instructions, metadata, input: [] }, {}) })
  return writer.push({ type: 'start' }) + writer.push({ type: 'error', error })
}
