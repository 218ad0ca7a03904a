import type { Codec } from '../codec.ts'
import { readEvents, readReply } from './reply-read.ts'
import { writeEvents, writeReply } from './reply-write.ts'
import { readRequest } from './request-read.ts'
import { writeRequest } from './request-write.ts'

/** OpenAI Chat Completions: for callers, OpenAI, Azure and all compatible hosts, with their quirks. */
export const openAiChatCodec: Codec = {
  format: 'openai.chat',
  // This format has no URLs for audio and documents.
  inlines: ['audio', 'document'],
  writeRequest,
  readReply,
  readEvents,
  inbound: { readRequest, writeReply, writeEvents },
}
