import type { Codec } from '../codec.ts'
import { readEvents, readReply } from './reply-read.ts'
import { writeEvents, writeReply } from './reply-write.ts'
import { readRequest } from './request-read.ts'
import { writeRequest } from './request-write.ts'

/** Conversations in the form of Anthropic Messages. Images and documents may stay URLs, since the vendor fetches them itself. */
export const anthropicMessagesCodec: Codec = {
  format: 'anthropic.messages',
  inlines: [],
  writeRequest,
  readReply,
  readEvents,
  inbound: { readRequest, writeReply, writeEvents },
}
