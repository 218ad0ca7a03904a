import type { Codec } from '../codec.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Language models on Replicate, for upstreams only, as one prediction that is waited for: its stream lies at another address, for
 * which a second request would be needed. Source: Replicate's interface reference and protocols notes 2.1, read 2026-11.
 */
export const replicatePredict: Codec = {
  format: 'replicate.predict',
  inlines: [],
  writeRequest,
  readReply,
  readEvents: readStreamEvents,
}
