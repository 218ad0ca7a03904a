import type { FormatDeclaration } from '../declaration.ts'
import { imageEditsByGemini, imagesByGemini } from '../direct/images-gemini.ts'
import { speechByGemini } from '../direct/speech-gemini.ts'
import { transcriptionsByGemini, translationsByGemini } from '../direct/transcriptions-gemini.ts'
import { geminiGenerate } from './generate.ts'
import { readGenerateEvents, readGenerateReply } from './reply-read.ts'
import { geminiTexts } from './reply-texts.ts'
import { writeGenerateEvents, writeGenerateReply } from './reply-write.ts'
import { readGenerateRequest } from './request-read.ts'
import { writeGenerateRequest } from './request-write.ts'
import { geminiCountTokens } from './token-count.ts'

/** Gemini generateContent. Translated, it accepts media as bytes: a URL must be one of Google's storage. */
export const geminiGenerateFormat = {
  name: 'gemini.generate',
  wire: geminiGenerate,
  codec: {
    inlines: ['image', 'document', 'audio', 'video'],
    writeRequest: writeGenerateRequest,
    readReply: readGenerateReply,
    readEvents: readGenerateEvents,
  },
  inbound: { readRequest: readGenerateRequest, writeReply: writeGenerateReply, writeEvents: writeGenerateEvents },
  conversions: [imagesByGemini, imageEditsByGemini, speechByGemini, transcriptionsByGemini, translationsByGemini],
  texts: geminiTexts,
} satisfies FormatDeclaration

export const geminiCountTokensFormat = {
  name: 'gemini.count_tokens',
  wire: geminiCountTokens,
} satisfies FormatDeclaration
