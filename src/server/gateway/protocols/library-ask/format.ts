import { defineFormat } from '../define-format.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * A question to a knowledge base of AI Proxy, for upstreams only: text and the documents that it comes from, without usage. The
 * number of the knowledge base is set in the channel. The service no longer answers, so this follows its clients and was never
 * tested against the live service.
 */
export const libraryAskFormat = defineFormat({
  name: 'library.ask',
  codec: { inlines: [], writeRequest, readReply, readEvents: readStreamEvents },
})
