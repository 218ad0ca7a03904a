import type { MediaPart } from './dialogue.ts'
import { isObject, type JsonObject, objectAt, textAt } from './wire-format.ts'

/** A medium in a request of any dialect, with its bytes if the request includes them. */
export interface MediaFound {
  readonly media: MediaPart['media']
  /** Base64; undefined for media by reference. */
  readonly data: string | undefined
  /** As declared; '' if not declared. */
  readonly mediaType: string
  /** The level of detail of the image. */
  readonly detail: string
  /** The document is plain text. */
  readonly isText?: true
}

/**
 * Finds the media of a request at any place: parts of Chat and Responses, blocks of Messages, parts of Gemini. Pure; base64 is not
 * decoded.
 */
export function mediaIn(body: JsonObject): MediaFound[] {
  const config = objectAt(body, 'generationConfig') ?? objectAt(body, 'generation_config') ?? {}
  const found: MediaFound[] = []
  collect(body, found, { depth: 0, detail: textAt(config, 'mediaResolution') || textAt(config, 'media_resolution') })
  return found
}

/**
 * All texts of a request, names of members included, without the data of its media; and the number of numbers in lists, each of which
 * may be a token. Pure.
 */
export function textsBesideMedia(body: JsonObject): { texts: string[]; listedNumbers: number } {
  const found = { texts: [] as string[], listedNumbers: 0 }
  collectTexts(body, found, { depth: 0, data: undefined })
  return found
}

type Texts = { texts: string[]; listedNumbers: number }

/** `data` is the `data` member of the enclosing medium, which is not text. */
function collectTexts(value: unknown, found: Texts, around: { depth: number; data: string | undefined }): void {
  if (typeof value === 'string') {
    if (around.data === undefined || !value.endsWith(around.data)) found.texts.push(value)
    return
  }
  if (around.depth > depthMax) return
  if (Array.isArray(value)) {
    for (const entry of value) {
      if (typeof entry === 'number') found.listedNumbers++
      else collectTexts(entry, found, { ...around, depth: around.depth + 1 })
    }
    return
  }
  if (typeof value === 'number') found.texts.push(String(value))
  if (!isObject(value)) return
  const media = readTyped(value) ?? readGemini(value, '')
  const data = media && !media.isText ? (media.data ?? around.data) : around.data
  for (const key in value) {
    found.texts.push(key)
    collectTexts(value[key], found, { depth: around.depth + 1, data })
  }
}

const depthMax = 64

function collect(value: unknown, found: MediaFound[], around: { depth: number; detail: string }): void {
  if (typeof value !== 'object' || value === null || around.depth > depthMax) return
  const inside = { ...around, depth: around.depth + 1 }
  if (Array.isArray(value)) {
    for (const entry of value) collect(entry, found, inside)
    return
  }
  if (!isObject(value)) return
  const media = readTyped(value) ?? readGemini(value, around.detail)
  if (media) {
    found.push(media)
    return
  }
  for (const key in value) collect(value[key], found, inside)
}

/** Parts and blocks that have a `type`. */
function readTyped(part: JsonObject): MediaFound | undefined {
  switch (part.type) {
    case 'image_url': {
      const image = objectAt(part, 'image_url')
      return located('image', image ? textAt(image, 'url') : textAt(part, 'image_url'), textAt(image ?? part, 'detail'))
    }
    case 'input_image':
      return located('image', textAt(part, 'image_url'), textAt(part, 'detail'))
    case 'image_generation_call':
      return { media: 'image', data: textAt(part, 'result') || undefined, mediaType: '', detail: '' }
    case 'image':
    case 'document':
    case 'video':
      return readBlock(part.type, objectAt(part, 'source') ?? part)
    case 'input_audio':
    case 'audio': {
      const audio = objectAt(part, 'input_audio') ?? objectAt(part, 'audio') ?? part
      return {
        media: 'audio',
        data: textAt(audio, 'data') || undefined,
        mediaType: textAt(audio, 'mime_type') || `audio/${textAt(audio, 'format')}`,
        detail: '',
      }
    }
    case 'document_url':
    case 'file_url':
      return located('document', textAt(part, part.type) || textAt(objectAt(part, part.type) ?? {}, 'url'), '')
    case 'file':
    case 'input_file':
      return located('document', textAt(objectAt(part, 'file') ?? part, 'file_data'), '')
    default:
      return undefined
  }
}

/** A block of Messages or a part of an interaction. A text document counts by the length of its text. */
function readBlock(media: 'image' | 'document' | 'video', source: JsonObject): MediaFound {
  if (source.type === 'text' || source.type === 'content') {
    const text = source.type === 'text' ? textAt(source, 'data') : JSON.stringify(source.content ?? '')
    return { media, data: Buffer.from(text).toString('base64'), mediaType: 'text/plain', detail: '', isText: true }
  }
  const mediaType = textAt(source, 'media_type') || textAt(source, 'mime_type')
  return { media, data: textAt(source, 'data') || undefined, mediaType, detail: textAt(source, 'resolution') }
}

function readGemini(part: JsonObject, detail: string): MediaFound | undefined {
  const inline = objectAt(part, 'inlineData') ?? objectAt(part, 'inline_data')
  const file = objectAt(part, 'fileData') ?? objectAt(part, 'file_data')
  const source = inline ?? file
  if (!source) return undefined
  const mediaType = textAt(source, 'mimeType') || textAt(source, 'mime_type')
  const resolution = objectAt(part, 'mediaResolution') ?? objectAt(part, 'media_resolution') ?? {}
  return {
    media: kindOf(mediaType),
    data: textAt(source, 'data') || undefined,
    mediaType,
    detail: textAt(resolution, 'level') || detail,
  }
}

function kindOf(mediaType: string): MediaFound['media'] {
  const [kind] = mediaType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}

/** A URL, a data URL, or bare base64. */
function located(media: MediaFound['media'], url: string, detail: string): MediaFound {
  const comma = url.startsWith('data:') ? url.indexOf(',') : -1
  if (comma >= 0) return { media, data: url.slice(comma + 1), mediaType: url.slice(5, comma).split(';')[0] ?? '', detail }
  const isElsewhere = url === '' || /^[a-z][a-z0-9+.-]{1,20}:/i.test(url)
  return { media, data: isElsewhere ? undefined : url, mediaType: '', detail }
}
