import { fail } from '../../lib/failure.ts'
import { callIdFor } from '../call-ids.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, MediaPart, Part, ReasoningPart, ToolResultPart, Turn } from '../dialogue.ts'
import { fieldNameFor } from '../lost-fields.ts'
import { inputObject } from '../tool-input.ts'
import type { JsonObject } from '../wire-format.ts'
import { type Block, cacheControl } from './cache-marks.ts'

/** One part of a turn as a block. Throws `untranslatable` for media that the vendor does not take. Source: protocols notes 3.2 to 3.4. */
export function writeBlock(
  part: Part,
  role: Turn['role'],
  dialogue: Dialogue,
  context: RequestContext,
  toUpstream: (name: string) => string,
): Block {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text, ...cacheControl(part.cache) }
    case 'refusal':
      return { type: 'text', text: part.text }
    case 'reasoning':
      return thinkingBlock(part)
    case 'tool-call':
      return {
        type: 'tool_use',
        id: callIdFor(part.callId, 'anthropic'),
        name: toUpstream(part.name),
        input: part.isCustom ? { input: part.input } : inputObject(part.input),
        ...cacheControl(part.cache),
      }
    case 'tool-result':
      return resultBlock(part, dialogue, context)
    case 'media':
      return role === 'assistant' ? shownBefore(part, context) : mediaBlock(part, dialogue, context)
  }
}

function thinkingBlock({ text, opaque }: ReasoningPart): Block {
  if (opaque?.kind === 'redacted') return { type: 'redacted_thinking', data: opaque.value }
  return { type: 'thinking', thinking: text, signature: opaque?.value ?? '' }
}

/** One text is written as text; blank ones would be refused, and an empty result is valid too. */
function resultBlock({ callId, parts, isError, cache }: ToolResultPart, dialogue: Dialogue, context: RequestContext): Block {
  const filled = parts.filter((part) => part.kind !== 'text' || part.text.trim() !== '')
  const [only] = filled
  const content =
    filled.length === 1 && only?.kind === 'text' && !only.cache
      ? only.text
      : filled.map((part) =>
          part.kind === 'text'
            ? { type: 'text', text: part.text, ...cacheControl(part.cache) }
            : mediaBlock(part, dialogue, context),
        )
  return {
    type: 'tool_result',
    tool_use_id: callIdFor(callId, 'anthropic'),
    ...(filled.length > 0 ? { content } : {}),
    ...(isError ? { is_error: true } : {}),
    ...cacheControl(cache),
  }
}

/** Images made by the model cannot be sent back in its own turn. */
function shownBefore({ media }: MediaPart, context: RequestContext): Block {
  context.lose(`messages.${media}`)
  return { type: 'text', text: `[${media}]` }
}

function mediaBlock(part: MediaPart, dialogue: Dialogue, context: RequestContext): Block {
  const { media, detail, title, cache } = part
  if (detail !== undefined && detail !== 'auto') context.lose('detail')
  if (media === 'image') return { type: 'image', source: imageSource(part, dialogue), ...cacheControl(cache) }
  if (media !== 'document') return refuse(dialogue, part)
  return { type: 'document', source: documentSource(part, dialogue), ...(title ? { title } : {}), ...cacheControl(cache) }
}

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

function imageSource(part: MediaPart, dialogue: Dialogue): JsonObject {
  const { source } = part
  if (source.kind === 'url' && isWebAddress(source.url)) return { type: 'url', url: source.url }
  if (source.kind === 'file' && source.family === 'anthropic') return { type: 'file', file_id: source.id }
  if (source.kind === 'base64' && imageTypes.has(source.mediaType)) {
    return { type: 'base64', media_type: source.mediaType, data: source.data }
  }
  return refuse(dialogue, part)
}

function documentSource(part: MediaPart, dialogue: Dialogue): JsonObject {
  const { source } = part
  if (source.kind === 'url' && isWebAddress(source.url)) return { type: 'url', url: source.url }
  if (source.kind === 'file' && source.family === 'anthropic') return { type: 'file', file_id: source.id }
  if (source.kind === 'text') return { type: 'text', media_type: 'text/plain', data: source.text }
  if (source.kind === 'base64' && source.mediaType === 'application/pdf') {
    return { type: 'base64', media_type: source.mediaType, data: source.data }
  }
  if (source.kind === 'base64' && isTextType(source.mediaType)) {
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(source.data, 'base64').toString('utf8') }
  }
  return refuse(dialogue, part)
}

/** Addresses of another vendor's storage (`gs:`) mean nothing here. */
function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url)
}

function isTextType(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json' || mediaType === 'application/xml'
}

function refuse({ from }: Dialogue, { media, source }: MediaPart): never {
  const kind = source.kind === 'file' ? 'file_id' : 'mediaType' in source && source.mediaType ? source.mediaType : media
  return fail('untranslatable', {
    field: `${fieldNameFor(from, 'turns')}.${fieldOf(from, media)}`,
    reason: { zh: `该协议不接受此类内容：${kind}`, en: `that protocol takes no such content: ${kind}` },
  })
}

/** The caller's word for the kind of part. */
function fieldOf(from: Dialogue['from'], media: MediaPart['media']): string {
  if (from === 'openai.chat') return { image: 'image_url', audio: 'input_audio', video: 'video_url', document: 'file' }[media]
  if (from.startsWith('openai.'))
    return { image: 'input_image', audio: 'input_audio', video: 'input_video', document: 'input_file' }[media]
  return media
}
