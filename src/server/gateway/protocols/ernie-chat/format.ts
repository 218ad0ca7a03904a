import { defineFormat } from '../define-format.ts'
import { limitAt } from '../output-limit.ts'
import { outputTokensMin } from './models.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Baidu's first interface (Wenxin Workshop), for upstreams only; the second speaks OpenAI's format.
 * Source: Baidu's interface reference and protocols notes 2.13, read 2026-11.
 */
export const ernieChatFormat = defineFormat({
  name: 'ernie.chat',
  codec: { inlines: [], writeRequest, readReply, readEvents: readStreamEvents },
  outputLimit: limitAt(['max_output_tokens'], outputTokensMin),
})
