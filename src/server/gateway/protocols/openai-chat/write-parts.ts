import { fail } from '../../../base/lib/failure.ts'
import type { CacheMark, MediaPart, MediaSource, Part, TextPart } from '../dialogue.ts'
import { fieldNameFor } from '../lost-fields.ts'
import { writeDataUrl } from '../media.ts'
import type { JsonObject } from '../wire-format.ts'
import type { Writing } from './writing.ts'

/** A string if there is only text, since every host accepts that; a list of parts if there is anything else, or a breakpoint. */
export function writeContent(parts: readonly (TextPart | MediaPart)[], writing: Writing): string | JsonObject[] {
  const isPlain = parts.every((part) => part.kind === 'text' && !(writing.cacheMember && part.cache))
  if (!isPlain) return parts.map((part) => (part.kind === 'text' ? writeText(part, writing) : writeMedia(part, writing)))
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('\n\n')
}

/**
 * The prompt-cache breakpoint after a part, in the host's form. OpenAI accepts it only on message parts, other hosts on tools too.
 */
export function writeCacheMark(
  { cache }: { cache?: CacheMark | undefined },
  { cacheMember }: Writing,
  on: 'part' | 'tool',
): JsonObject {
  if (!cache || !cacheMember) return {}
  const isLong = cache.ttl === '1h'
  if (cacheMember === 'cache_control') return { cache_control: { type: 'ephemeral', ...(isLong ? { ttl: '1h' } : {}) } }
  return on === 'tool' ? {} : { prompt_cache_breakpoint: { mode: 'explicit', ...(isLong ? { ttl: '12h' } : {}) } }
}

/** Media as a part of a message. Throws `untranslatable` for media for which Chat has no part. Source: protocols notes 3.2. */
function writeMedia(part: MediaPart, writing: Writing): JsonObject {
  const mark = writeCacheMark(part, writing, 'part')
  const { source, media } = part
  if (part.title && (media !== 'document' || source.kind === 'file')) writing.loseField('title')
  if (media !== 'image' && part.detail !== undefined && part.detail !== 'auto') writing.loseField('detail')
  if (source.kind === 'file') return { ...writeFile(part, source, writing), ...mark }
  switch (media) {
    case 'image':
      return { type: 'image_url', image_url: { url: writeDataUrl(source), ...writeDetail(part, writing) }, ...mark }
    case 'audio':
      return { ...writeAudio(source, writing), ...mark }
    case 'video':
      if (writing.rules.isOpenAi) refuse(writing, '该模型不接受视频', 'the model takes no video')
      return { type: 'video_url', video_url: { url: writeDataUrl(source) }, ...mark }
    case 'document':
      return { ...writeDocument(part, source, writing), ...mark }
  }
}

/** The texts of parts, without media. */
export function textsOf(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => (part.kind === 'text' && part.text !== '' ? [part.text] : []))
}

type Held = Exclude<MediaSource, { kind: 'file' }>

function writeText(part: TextPart, writing: Writing): JsonObject {
  return { type: 'text', text: part.text, ...writeCacheMark(part, writing, 'part') }
}

/** Only OpenAI supports `original`. */
function writeDetail({ detail }: MediaPart, { rules, isOwn, lose }: Writing): JsonObject {
  if (detail === undefined) return {}
  if (detail !== 'original' || rules.isOpenAi || isOwn) return { detail }
  lose('detail')
  return { detail: 'high' }
}

function writeAudio(source: Held, writing: Writing): JsonObject {
  const format = source.kind === 'base64' ? audioFormats.get(source.mediaType) : undefined
  if (source.kind !== 'base64' || !format)
    return refuse(writing, '只接受 wav 和 mp3 录音', 'only wav and mp3 recordings are taken')
  return { type: 'input_audio', input_audio: { data: source.data, format } }
}

const audioFormats: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/mp3', 'mp3'],
  ['audio/mpeg', 'mp3'],
])

/** PDF is the only document that Chat accepts: a text document becomes a text part, after its title. */
function writeDocument({ title }: MediaPart, source: Held, writing: Writing): JsonObject {
  const isText = source.kind === 'text' || (source.kind === 'base64' && source.mediaType.startsWith('text/'))
  if (isText) {
    const text = source.kind === 'text' ? source.text : Buffer.from(source.data, 'base64').toString()
    return { type: 'text', text: title ? `${title}\n\n${text}` : text }
  }
  if (source.kind !== 'base64' || source.mediaType !== 'application/pdf')
    return refuse(writing, '只接受 PDF 和文本文件', 'only PDF and text documents are taken')
  return { type: 'file', file: { filename: title ?? 'document.pdf', file_data: writeDataUrl(source) } }
}

function writeFile({ media }: MediaPart, source: Extract<MediaSource, { kind: 'file' }>, writing: Writing): JsonObject {
  if (source.family !== 'openai' || media !== 'document')
    return refuse(writing, '文件只存于其厂商', 'a file that is kept by its vendor cannot be sent to another')
  return { type: 'file', file: { file_id: source.id } }
}

function refuse({ dialogue }: Writing, zh: string, en: string): never {
  return fail('untranslatable', { field: fieldNameFor(dialogue.from, 'turns'), reason: { zh, en } })
}
