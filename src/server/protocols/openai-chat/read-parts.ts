import { AppError, fail } from '../../lib/failure.ts'
import type { MediaPart, MediaSource, Part, TextPart } from '../dialogue.ts'
import { base64Source, readMediaUrl } from '../media.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { detailsText } from './read-past-reasoning.ts'
import { readCacheMark } from './read-tools.ts'

/**
 * The content of a message, a text or parts. Parts without text go. A part of an unknown type throws `untranslatable`: leaving it out
 * would answer another question. Source: protocols notes 3.2, edge cases 139 and 171 to 182.
 */
export function readParts(content: unknown, field: string): Part[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [textPart(content)]
  if (!Array.isArray(content))
    fail('field_invalid', { field, reason: { zh: '必须是文本或部分的列表', en: 'must be a text or a list of parts' } })
  return content.flatMap((part, at) => readPart(part, `${field}[${at}]`))
}

/** A lone surrogate, which UTF-8 cannot encode, becomes U+FFFD. */
export function textPart(text: string): TextPart {
  return { kind: 'text', text: text.toWellFormed() }
}

/** Images that an assistant made, as `message.images` holds them. */
export function readImages(images: unknown, field: string): Part[] {
  return Array.isArray(images) ? images.flatMap((image, at) => readPart(image, `${field}[${at}]`)) : []
}

function readPart(part: unknown, field: string): Part[] {
  if (typeof part === 'string') return part === '' ? [] : [textPart(part)]
  if (!isObject(part)) fail('field_invalid', { field, reason: { zh: '必须是对象', en: 'must be an object' } })
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text': {
      const text = textAt(part, 'text')
      return text === '' ? [] : [{ ...textPart(text), ...readCacheMark(part) }]
    }
    case 'refusal':
      return [{ kind: 'refusal', text: textAt(part, 'refusal') }]
    case 'thinking':
      return [{ kind: 'reasoning', text: textAt(part, 'thinking') || detailsText(arrayAt(part, 'thinking')) }]
    default:
      return [{ ...readMedia(part, field), ...readCacheMark(part) }]
  }
}

function readMedia(part: JsonObject, field: string): MediaPart {
  switch (part.type) {
    case 'image_url':
    case 'input_image':
      return readImage(part, field)
    case 'video_url':
      return { kind: 'media', media: 'video', source: readSource(urlIn(part, 'video_url'), `${field}.video_url`) }
    case 'input_audio': {
      const audio = objectAt(part, 'input_audio') ?? {}
      const source = readSource(textAt(audio, 'data'), `${field}.input_audio.data`, `audio/${textAt(audio, 'format') || 'wav'}`)
      return { kind: 'media', media: 'audio', source }
    }
    case 'file':
    case 'input_file':
      return readFile(objectAt(part, 'file') ?? part, `${field}.file`)
    default:
      return fail('untranslatable', { field: `${field}.type`, reason: { zh: '未知的类型', en: 'this type is not known' } })
  }
}

function readImage(part: JsonObject, field: string): MediaPart {
  const detail = textAt(objectAt(part, 'image_url') ?? part, 'detail')
  const isDetail = detail === 'auto' || detail === 'low' || detail === 'high' || detail === 'original'
  const source = readSource(urlIn(part, 'image_url'), `${field}.image_url.url`)
  return { kind: 'media', media: 'image', source, ...(isDetail ? { detail } : {}) }
}

/** A file of the vendor, or its bytes. Text is read as text: most formats know no other form of it. */
function readFile(file: JsonObject, field: string): MediaPart {
  const [id, data, name] = [textAt(file, 'file_id'), textAt(file, 'file_data'), textAt(file, 'filename')]
  const titled = name === '' ? {} : { title: name }
  if (id !== '') return { kind: 'media', media: 'document', source: { kind: 'file', id, family: 'openai' }, ...titled }

  const source = readSource(data || textAt(file, 'file_url'), `${field}.file_data`)
  if (source.kind !== 'base64') return { kind: 'media', media: 'document', source, ...titled }
  const { mediaType } = source
  if (/^(text\/|application\/(json|xml)$)/.test(mediaType)) {
    const text = Buffer.from(source.data, 'base64').toString()
    return { kind: 'media', media: 'document', source: { kind: 'text', mediaType, text }, ...titled }
  }
  const media = mediaType.startsWith('image/') ? 'image' : mediaType.startsWith('audio/') ? 'audio' : 'document'
  return { kind: 'media', media, source, ...titled }
}

/** An address as a text or in the member `url`. */
function urlIn(part: JsonObject, member: string): string {
  return textAt(part, member) || textAt(objectAt(part, member) ?? {}, 'url')
}

function readSource(data: string, field: string, declared?: string): MediaSource {
  try {
    if (declared === undefined || /^\s*data:/i.test(data)) return readMediaUrl(data, declared)
    return data === '' ? readMediaUrl('') : base64Source(data, declared)
  } catch (error) {
    // The called function does not know the path of the text.
    if (error instanceof AppError) fail('field_invalid', { ...error.params, field })
    throw error
  }
}
