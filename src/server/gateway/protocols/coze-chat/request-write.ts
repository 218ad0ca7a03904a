import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue, MediaPart } from '../dialogue.ts'
import { withJsonInstruction } from '../json-answer.ts'
import { loseAllBut } from '../lost-fields.ts'
import {
  mediaOf,
  type PlainMessage,
  plainMessages,
  refuseBytes,
  refuseMedia,
  requireMessage,
  userText,
} from '../plain-messages.ts'
import { refuseForcedTools } from '../transcript.ts'
import type { JsonObject } from '../wire-format.ts'

/**
 * A conversation as messages for a bot, which has its own instructions, tools and sampling: the caller's instructions become user
 * text. Throws `untranslatable` for forced tools and for files without a URL.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  refuseForcedTools(dialogue)
  loseAllBut(dialogue, context, ['user'])
  const messages = plainMessages(withJsonInstruction(dialogue), context, { system: 'never', tools: false, lastTurn: 'refused' })
  requireMessage(dialogue, messages)

  return {
    body: {
      bot_id: context.model,
      user_id: dialogue.user ?? defaultUser,
      stream: true,
      auto_save_history: false,
      additional_messages: messages.map((message) => writeMessage(dialogue, message)),
    },
  }
}

/** Coze requires a user id. */
const defaultUser = 'api-user'

function writeMessage(dialogue: Dialogue, message: PlainMessage): JsonObject {
  if (message.role !== 'user') return { role: 'assistant', type: 'answer', content: message.text, content_type: 'text' }
  const media = mediaOf(message.parts)
  const text = userText(message.parts)
  if (media.length === 0) return { role: 'user', type: 'question', content: text, content_type: 'text' }

  const objects = [...(text === '' ? [] : [{ type: 'text', text }]), ...media.map((part) => writeFile(dialogue, part))]
  return { role: 'user', type: 'question', content: JSON.stringify(objects), content_type: 'object_string' }
}

function writeFile(dialogue: Dialogue, part: MediaPart): JsonObject {
  const { media, source } = part
  if (media === 'video' || source.kind === 'file') return refuseMedia(dialogue, part)
  if (source.kind === 'url') return { type: media === 'document' ? 'file' : media, file_url: source.url }
  return refuseBytes(dialogue, 'Coze')
}
