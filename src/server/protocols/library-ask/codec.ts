import type { Codec } from '../codec.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * A question to a knowledge base of AI Proxy, for upstreams only: text and the documents that it comes from, without usage. The number
 * of the knowledge base stands in the channel. Source: what its clients send and read, 2026-11; the service itself answers no more.
 */
export const libraryAsk: Codec = {
  format: 'library.ask',
  inlines: [],
  writeRequest,
  readReply,
  readEvents: readStreamEvents,
}
