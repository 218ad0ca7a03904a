import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { withJsonInstruction } from '../json-answer.ts'
import { loseAllBut } from '../lost-fields.ts'
import { mediaOf, plainMessages, refuseMedia } from '../plain-messages.ts'
import { refuseForcedTools, transcript } from '../transcript.ts'

/**
 * A conversation as one query: a single question unchanged, earlier turns with their roles before it. Throws `untranslatable` for
 * media and for forced tools.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  refuseForcedTools(dialogue)
  loseAllBut(dialogue, context, [])
  const messages = plainMessages(withJsonInstruction(dialogue), context, { system: 'head', tools: false, lastTurn: 'begins' })
  const [media] = messages.flatMap((message) => (message.role === 'user' ? mediaOf(message.parts) : []))
  if (media) refuseMedia(dialogue, media)
  return { body: { model: context.model, query: transcript(messages), stream: dialogue.stream } }
}
