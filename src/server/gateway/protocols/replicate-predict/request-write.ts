import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue, MediaPart } from '../dialogue.ts'
import { withJsonInstruction } from '../json-answer.ts'
import { type Field, lose, loseAllBut } from '../lost-fields.ts'
import { writeDataUrl } from '../media.ts'
import { mediaOf, type PlainMessage, plainMessages, refuseMedia } from '../plain-messages.ts'
import { levelOf } from '../reasoning-level.ts'
import { refuseForcedTools, transcript } from '../transcript.ts'
import { definedMembers, type JsonObject } from '../wire-format.ts'
import { type InputNames, inputNamesOf, versionOf } from './models.ts'

/**
 * A conversation as the input of one prediction: separate instructions, everything else in one prompt. Throws `untranslatable` for
 * tools that must be called and for media that the model does not take.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  const names = inputNamesOf(context.model)
  refuseForcedTools(dialogue)
  loseAllBut(dialogue, context, carriedBy(names))
  const messages = plainMessages(withJsonInstruction(dialogue), context, { system: 'head', tools: false, lastTurn: 'begins' })
  const [first, ...rest] = messages
  const system = first?.role === 'system' ? first.text : undefined
  const version = versionOf(context.model)

  return {
    body: {
      ...(version === undefined ? {} : { version }),
      input: {
        ...(system === undefined ? {} : { system_prompt: system }),
        prompt: transcript(system === undefined ? messages : rest),
        ...imagesOf(dialogue, context, names, messages),
        ...samplingOf(dialogue, context, names),
        ...reasoningOf(dialogue, names),
      },
    },
    isWhole: true,
  }
}

function carriedBy({ sampling, stop, reasoningEffort }: InputNames): Field[] {
  // By its type, `sampling` only has keys that are fields.
  const carried = Object.keys(sampling) as Field[]
  return [...carried, 'outputTokensMax', ...(stop ? ['stop' as const] : []), ...(reasoningEffort ? ['reasoning' as const] : [])]
}

function imagesOf(
  dialogue: Dialogue,
  context: RequestContext,
  { image }: InputNames,
  messages: readonly PlainMessage[],
): JsonObject {
  const media = messages.flatMap((message) => (message.role === 'user' ? mediaOf(message.parts) : []))
  const urls = media.map((part) => imageUrl(dialogue, image === null, part))
  if (!image || urls.length === 0) return {}
  if (image.isList) return { [image.name]: urls }
  if (urls.length > 1) lose(dialogue, context, 'turns')
  return { [image.name]: urls.at(-1) }
}

function imageUrl(dialogue: Dialogue, isRefused: boolean, part: MediaPart): string {
  if (isRefused || part.media !== 'image' || part.source.kind === 'file') return refuseMedia(dialogue, part)
  return writeDataUrl(part.source)
}

function samplingOf(dialogue: Dialogue, context: RequestContext, names: InputNames): JsonObject {
  const { sampling, stop, outputTokensMax } = dialogue
  if (outputTokensMax !== undefined && outputTokensMax < names.outputLimitMin) lose(dialogue, context, 'outputTokensMax')
  const named = Object.entries(names.sampling).map(([field, name]) => [name, sampling[field as keyof typeof sampling]])
  const members = {
    ...Object.fromEntries(named),
    [names.outputLimit]: outputTokensMax === undefined ? undefined : Math.max(outputTokensMax, names.outputLimitMin),
    ...(names.stop && stop.length > 0 ? { [names.stop]: stop.join(',') } : {}),
  }
  return definedMembers(members)
}

function reasoningOf({ reasoning }: Dialogue, { reasoningEffort }: InputNames): JsonObject {
  if (!reasoningEffort || !reasoning || reasoning.mode === 'auto') return {}
  return { reasoning_effort: reasoning.mode === 'off' ? 'minimal' : levelOf(reasoning.mode) }
}
