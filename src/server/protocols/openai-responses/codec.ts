import type { Codec } from '../codec.ts'
import { readEvents, readReply } from './reply-read.ts'
import { writeEvents, writeReply } from './reply-write.ts'
import { readRequest } from './request-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * OpenAI Responses, translated: for its callers, and for models that are only available in it. Source: protocols notes 1.3 and 3.
 */
export const responsesCodec: Codec = {
  format: 'openai.responses',
  inlines: [],
  writeRequest,
  readReply,
  readEvents,
  inbound: { readRequest, writeReply, writeEvents },
}
