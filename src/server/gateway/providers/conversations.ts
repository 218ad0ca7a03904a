import type { CallerFormat } from '../protocols/format.ts'

/** The caller formats for conversations with a model, which can be translated to one another. */
export function isConversation(format: CallerFormat): boolean {
  return conversations.has(format)
}

const conversations: ReadonlySet<CallerFormat> = new Set<CallerFormat>([
  'openai.chat',
  'openai.responses',
  'anthropic.messages',
  'gemini.generate',
])
