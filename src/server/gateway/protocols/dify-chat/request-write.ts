import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue, MediaPart } from '../dialogue.ts'
import { withJsonInstruction } from '../json-answer.ts'
import { loseAllBut } from '../lost-fields.ts'
import { mediaOf, plainMessages, refuseBytes, refuseMedia } from '../plain-messages.ts'
import { refuseForcedTools, transcript } from '../transcript.ts'
import type { JsonObject } from '../wire-format.ts'
import { appKindOf } from './models.ts'

/**
 * A conversation as the query of an application: Dify stores no conversation for the gateway, so the query contains earlier turns
 * with their roles. Agents only support streaming. Throws `untranslatable` for tools that must be called and for files without a
 * URL.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  refuseForcedTools(dialogue)
  loseAllBut(dialogue, context, ['user'])
  const messages = plainMessages(withJsonInstruction(dialogue), context, { system: 'head', tools: false, lastTurn: 'begins' })
  const query = transcript(messages)
  const files = messages
    .flatMap((message) => (message.role === 'user' ? mediaOf(message.parts) : []))
    .map((part) => writeFile(dialogue, part))

  const kind = appKindOf(context.model)
  return {
    body: {
      ...(kind === 'workflow' || kind === 'completion' ? { inputs: { query } } : { inputs: {}, query }),
      response_mode: dialogue.stream || kind === 'agent' ? 'streaming' : 'blocking',
      user: dialogue.user ?? defaultUser,
      ...(files.length > 0 ? { files } : {}),
    },
  }
}

/** Dify requires a user; this is the usual value for callers without one. */
const defaultUser = 'api-user'

function writeFile(dialogue: Dialogue, part: MediaPart): JsonObject {
  const { media, source } = part
  if (source.kind === 'url') return { type: media, transfer_method: 'remote_url', url: source.url }
  if (source.kind === 'file') return refuseMedia(dialogue, part)
  return refuseBytes(dialogue, 'Dify')
}
