import { defineFormat } from '../define-format.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Google's generateMessage of PaLM 2, for upstreams only: non-streamed replies without usage. Google shut it down in October 2024;
 * only gateways and archives still serve it. Source: Google's reference of v1beta2; not tested against a live service.
 */
export const palmMessageFormat = defineFormat({
  name: 'palm.message',
  codec: { inlines: [], writeRequest, readReply, readEvents: readStreamEvents },
})
