import type { Codec } from '../codec.ts'
import { readEvents, readReply } from './reply-read.ts'
import { writeEvents, writeReply } from './reply-write.ts'
import { readRequest } from './request-read.ts'
import { writeRequest } from './request-write.ts'

/** OpenAI Chat Completions: of callers, of OpenAI and Azure, and of all the hosts that are compatible with them, with their quirks. */
export const openAiChatCodec: Codec = {
  format: 'openai.chat',
  // A recording or a document has no address in this format.
  inlines: ['audio', 'document'],
  writeRequest,
  readReply,
  readEvents,
  inbound: { readRequest, writeReply, writeEvents },
}
