import { anthropicMessages } from './anthropic-messages/messages.ts'
import { openAiCompletions } from './direct/completions.ts'
import { openAiEmbeddings } from './direct/embeddings.ts'
import type { Format } from './format.ts'
import { openAiChat } from './openai-chat/chat.ts'
import type { WireFormat } from './wire-format.ts'

/** Every wire format. A new one is its folder and one line here. */
export const wireFormats: Readonly<Record<Format, WireFormat>> = {
  'openai.chat': openAiChat,
  'openai.completions': openAiCompletions,
  'openai.embeddings': openAiEmbeddings,
  'anthropic.messages': anthropicMessages,
}
