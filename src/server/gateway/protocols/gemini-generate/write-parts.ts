import type { Text } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, MediaPart, ToolCallPart } from '../dialogue.ts'
import { fieldNameFor, lose } from '../lost-fields.ts'
import { isInGoogleStorage, typeOfName } from '../media.ts'
import { inputObject } from '../tool-input.ts'
import { isObject, type JsonObject } from '../wire-format.ts'
import type { GeminiModel } from './models.ts'

/** The input of a call as an object; free text becomes its member `input`. */
export function callArgs({ input, isCustom }: ToolCallPart): JsonObject {
  const args = isCustom ? { input } : inputObject(input)
  return isObject(args) ? (wellFormed(args) as JsonObject) : {}
}

/** The same value with lone surrogates replaced, which cannot be encoded as UTF-8. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), wellFormed(member)]))
}

/**
 * Media as a part. Throws `untranslatable` for types that Gemini does not read, and for files stored at another vendor. Source:
 * protocols notes 3.2.
 */
export function writeMedia(part: MediaPart, dialogue: Dialogue, context: RequestContext, { richParts }: GeminiModel): JsonObject {
  if (part.title) lose(dialogue, context, 'title')
  const level = part.detail === undefined ? undefined : levels[part.detail]
  if ((level !== undefined && !richParts) || part.detail === 'original') context.lose('detail')
  return {
    ...writeSource(part, dialogue),
    ...(level !== undefined && richParts ? { mediaResolution: { level } } : {}),
  }
}

const levels: Readonly<Record<NonNullable<MediaPart['detail']>, string | undefined>> = {
  auto: undefined,
  low: 'MEDIA_RESOLUTION_LOW',
  high: 'MEDIA_RESOLUTION_HIGH',
  original: 'MEDIA_RESOLUTION_HIGH',
}

function writeSource({ media, source }: MediaPart, dialogue: Dialogue): JsonObject {
  switch (source.kind) {
    case 'text':
      return { inlineData: { mimeType: 'text/plain', data: Buffer.from(source.text).toString('base64') } }
    case 'url':
      return writeFile(source.url, source.mediaType, media)
    case 'file':
      if (source.family !== 'google') refuse(dialogue, foreignFile)
      return writeFile(source.id, source.mediaType, media)
    case 'base64': {
      const mimeType = readableType(media, source.mediaType)
      if (mimeType === undefined)
        refuse(dialogue, { zh: `不支持 ${source.mediaType} 格式`, en: `Gemini does not read ${source.mediaType}` })
      return { inlineData: { mimeType, data: source.data } }
    }
  }
}

/** Vertex requires the type of an object in its storage. */
function writeFile(fileUri: string, declared: string | undefined, media: MediaPart['media']): JsonObject {
  const isStored = isInGoogleStorage(fileUri)
  const type = declared ?? (isStored ? typeOfName(fileUri) || usualTypes[media] : undefined)
  return { fileData: { ...(type === undefined ? {} : { mimeType: sounds.get(type) ?? type }), fileUri } }
}

const usualTypes = { image: 'image/jpeg', audio: 'audio/mp3', video: 'video/mp4', document: 'application/pdf' } as const

const foreignFile: Text = { zh: '文件存放在另一家供应商处', en: 'the file lies with another vendor' }

/** Gemini's name of a media type; undefined for unsupported ones. All text types become plain text. */
function readableType(media: MediaPart['media'], type: string): string | undefined {
  if (media === 'image') return images.has(type) ? type : undefined
  if (media === 'audio') return type.startsWith('audio/') ? (sounds.get(type) ?? type) : undefined
  if (media === 'video') return type.startsWith('video/') ? type : undefined
  if (type === 'application/pdf' || type.startsWith('text/')) return type
  return plainTexts.test(type) ? 'text/plain' : images.has(type) ? type : undefined
}

const images = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'])
const plainTexts = /^application\/(json|xml|yaml|x-yaml|toml|javascript|x-javascript|x-python|x-sh|sql)$/
const sounds: ReadonlyMap<string, string> = new Map([
  ['audio/mpeg', 'audio/mp3'],
  ['audio/mpga', 'audio/mp3'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['audio/vnd.wave', 'audio/wav'],
])

function refuse({ from }: Dialogue, reason: Text): never {
  return fail('untranslatable', { field: fieldNameFor(from, 'turns'), reason })
}
