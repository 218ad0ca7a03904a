import type { Codec } from '../codec.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Converse of Amazon Bedrock, for upstreams only. It accepts media only as bytes; the model and the choice of streaming are in the
 * URL, and a stream consists of messages of an event stream. Source: types of `@aws-sdk/client-bedrock-runtime` 3.1162 and
 * protocols notes 2.7, read 2026-11.
 */
export const bedrockConverse: Codec = {
  format: 'bedrock.converse',
  inlines: ['image', 'document', 'video'],
  writeRequest,
  readReply,
  readEvents: readStreamEvents,
}
