import type { Codec, Inbound } from '../codec.ts'
import { readGenerateEvents, readGenerateReply } from './reply-read.ts'
import { writeGenerateEvents, writeGenerateReply } from './reply-write.ts'
import { readGenerateRequest } from './request-read.ts'
import { writeGenerateRequest } from './request-write.ts'

/** Gemini generateContent, in both directions. It accepts media as bytes: a URL must be one of Google's storage. */
export const geminiGenerateCodec: Codec & { readonly inbound: Inbound } = {
  format: 'gemini.generate',
  inlines: ['image', 'document', 'audio', 'video'],
  writeRequest: writeGenerateRequest,
  readReply: readGenerateReply,
  readEvents: readGenerateEvents,
  inbound: {
    readRequest: readGenerateRequest,
    writeReply: writeGenerateReply,
    writeEvents: writeGenerateEvents,
  },
}
