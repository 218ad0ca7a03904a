import { defineFormat } from '../define-format.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Bots of Coze, for upstreams only, always as a stream: non-streamed replies would require polling. The model is the id of the bot.
 * Source: Coze's interface reference of version 3 and protocols notes 2.12, read 2026-11.
 */
export const cozeChatFormat = defineFormat({
  name: 'coze.chat',
  codec: { inlines: [], writeRequest, readReply, readEvents: readStreamEvents },
})
