import { defineFormat } from '../define-format.ts'
import { limitAt } from '../output-limit.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Cohere's Chat, version 2 of its interface, for upstreams only. Source: types of the package `cohere-ai` 8.1 and protocols notes
 * 2.8, read 2026-11.
 */
export const cohereChatFormat = defineFormat({
  name: 'cohere.chat',
  codec: { inlines: [], writeRequest, readReply, readEvents: readStreamEvents },
  outputLimit: limitAt(['max_tokens']),
})
