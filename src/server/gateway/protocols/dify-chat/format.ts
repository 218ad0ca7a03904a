import { defineFormat } from '../define-format.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Applications of Dify, for upstreams only: chats, completions and workflows. Model, tools and behaviour are fixed in the application.
 * Source: Dify's interface reference and protocols notes 2.11, read 2026-11.
 */
export const difyChatFormat = defineFormat({
  name: 'dify.chat',
  codec: { inlines: [], writeRequest, readReply, readEvents: readStreamEvents },
})
