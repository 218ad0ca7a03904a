import type { Codec } from '../codec.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * A question to a knowledge base of AI Proxy, for upstreams only: text and the documents that it comes from, without usage. The number
 * of the knowledge base stands in the channel. The service answers no more, and what is here has met none: after its clients.
 */
export const libraryAsk: Codec = {
  format: 'library.ask',
  inlines: [],
  writeRequest,
  readReply,
  readEvents: readStreamEvents,
}
