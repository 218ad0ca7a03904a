import { fail } from '../../lib/failure.ts'
import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue, MediaPart, TextPart } from '../dialogue.ts'
import { jsonInstruction } from '../json-answer.ts'
import { loseAllBut, wordFor } from '../lost-fields.ts'
import { mediaOf, type PlainMessage, plainMessages, refuseMedia, requireLastFromUser, userText } from '../plain-messages.ts'
import { refuseForcedTools } from '../transcript.ts'
import type { JsonObject } from '../wire-format.ts'

/**
 * A conversation as messages for a bot, which has its own instructions, tools and sampling: the caller's instructions are text of the
 * user. Throws `untranslatable` for tools that must be called and for files that have no address.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  refuseForcedTools(dialogue)
  loseAllBut(dialogue, context, ['user'])
  const told: TextPart[] = dialogue.output ? [{ kind: 'text', text: jsonInstruction(dialogue.output) }] : []
  const messages = plainMessages({ ...dialogue, system: [...dialogue.system, ...told] }, { system: 'never', tools: false })
  requireLastFromUser(dialogue, messages)

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

/** Coze demands a name for each user of a bot. */
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
  return fail('untranslatable', {
    field: wordFor(dialogue.from, 'turns'),
    reason: { zh: 'Coze 只接受以网址给出的文件', en: 'Coze takes files by their address only' },
  })
}
