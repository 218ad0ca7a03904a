import { messagesTexts } from './anthropic-messages/reply-texts.ts'
import type { CallerFormat } from './format.ts'
import { geminiTexts } from './gemini-generate/reply-texts.ts'
import { chatTexts, completionsTexts } from './openai-chat/reply-texts.ts'
import { responsesTexts } from './openai-responses/reply-texts.ts'
import type { ReplyTexts } from './text-slots.ts'

/** The formats whose replies contain text of a model for people. */
export const replyTexts: Readonly<Partial<Record<CallerFormat, ReplyTexts>>> = {
  'openai.chat': chatTexts,
  'openai.completions': completionsTexts,
  'openai.responses': responsesTexts,
  'anthropic.messages': messagesTexts,
  'gemini.generate': geminiTexts,
}
