import { defineFormat } from '../define-format.ts'
import { limitAt } from '../output-limit.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Alibaba's own form of text and multimodal generation, for upstreams only and for models that its compatible interface does not serve.
 * Source: Model Studio's interface reference of DashScope and protocols notes 2.14, read 2026-11.
 */
export const dashScopeChatFormat = defineFormat({
  name: 'dashscope.chat',
  codec: { inlines: [], writeRequest, readReply, readEvents: readStreamEvents },
  outputLimit: limitAt(['parameters', 'max_tokens']),
})
