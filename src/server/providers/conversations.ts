import type { CallerFormat } from '../protocols/format.ts'

/** The formats of callers that hold a conversation with a model, and can be translated to one another. */
export function isConversation(format: CallerFormat): boolean {
  return conversations.has(format)
}

const conversations: ReadonlySet<CallerFormat> = new Set<CallerFormat>([
  'openai.chat',
  'openai.responses',
  'anthropic.messages',
  'gemini.generate',
])
