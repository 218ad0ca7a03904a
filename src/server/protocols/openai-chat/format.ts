import type { FormatDeclaration } from '../declaration.ts'
import { openAiChat } from './chat.ts'
import { readEvents, readReply } from './reply-read.ts'
import { chatTexts } from './reply-texts.ts'
import { writeEvents, writeReply } from './reply-write.ts'
import { readRequest } from './request-read.ts'
import { writeRequest } from './request-write.ts'

/** OpenAI Chat Completions: for callers, OpenAI, Azure and all compatible hosts, with their quirks. */
export const openAiChatFormat = {
  name: 'openai.chat',
  wire: openAiChat,
  // This format has no URLs for audio and documents.
  codec: { inlines: ['audio', 'document'], writeRequest, readReply, readEvents },
  inbound: { readRequest, writeReply, writeEvents },
  texts: chatTexts,
} satisfies FormatDeclaration
