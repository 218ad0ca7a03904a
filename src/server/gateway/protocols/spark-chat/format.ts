import { defineFormat } from '../define-format.ts'
import { limitAt } from '../output-limit.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * iFlytek Spark over its WebSocket, for upstreams only: the body is the one sent message, each received message is an event. The
 * provider adds the application id. Source: iFlytek's interface reference and protocols notes 2.16, read 2026-11.
 */
export const sparkChatFormat = defineFormat({
  name: 'spark.chat',
  codec: { inlines: [], writeRequest, readReply, readEvents: readStreamEvents },
  outputLimit: limitAt(['parameter', 'chat', 'max_tokens']),
})
