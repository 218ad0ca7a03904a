import { defineFormat } from '../define-format.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Tencent Hunyuan in its own form, for upstreams only; the provider signs each request.
 * Source: `ChatCompletions` of 2023-09-01 in Tencent Cloud's interface reference and protocols notes 2.15, read 2026-11.
 */
export const hunyuanChatFormat = defineFormat({
  name: 'hunyuan.chat',
  codec: { inlines: [], writeRequest, readReply, readEvents: readStreamEvents },
})
