import { defineFormat } from '../define-format.ts'
import { limitAt } from '../output-limit.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Ollama's own `/api/chat`, for upstreams only. Each line of JSON is read as an event whose data is the line. Source: types of the
 * package `ollama` 0.6.4 and protocols notes 2.9, read 2026-11.
 */
export const ollamaChatFormat = defineFormat({
  name: 'ollama.chat',
  codec: { inlines: ['image'], writeRequest, readReply, readEvents: readStreamEvents },
  outputLimit: limitAt(['options', 'num_predict']),
})
