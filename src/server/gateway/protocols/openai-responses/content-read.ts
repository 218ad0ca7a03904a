import type { MediaPart, MediaSource, RefusalPart, TextPart } from '../dialogue.ts'
import { kindOfFile, readMediaUrl, storedFile, typeOfName } from '../media.ts'
import { isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { mustBeObject, refuseInvalid, refuseType } from './refusals.ts'

type ContentPart = TextPart | RefusalPart | MediaPart

/**
 * The content of a message or the output of a tool: a text, or parts. Throws `untranslatable` for a part of an unknown type, so that
 * no content is lost silently, and `field_invalid` for an invalid one. Source: protocols notes 1.3 and 3.2.
 */
export function readContent(content: unknown, field: string): ContentPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  if (content === undefined || content === null) return []
  if (!Array.isArray(content)) return refuseInvalid(field, { zh: '必须是文本或列表', en: 'must be a text or a list' })
  return content.map((part, at) => readPart(part, `${field}[${at}]`))
}

function readPart(part: unknown, field: string): ContentPart {
  if (typeof part === 'string') return { kind: 'text', text: part }
  if (!isObject(part)) return refuseInvalid(field, mustBeObject)
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { kind: 'text', text: textAt(part, 'text'), ...readCacheMark(part) }
    case 'refusal':
      return { kind: 'refusal', text: textAt(part, 'refusal') }
    case 'input_image':
      return {
        kind: 'media',
        media: 'image',
        source: readSource(part, 'image_url', field),
        ...readDetail(part),
        ...readCacheMark(part),
      }
    case 'input_file':
      return readFile(part, field)
    case 'input_audio':
      return readAudio(part, field)
    default:
      return refuseType(field, part.type)
  }
}

function readFile(part: JsonObject, field: string): MediaPart {
  const title = textAt(part, 'filename')
  const key = textAt(part, 'file_data') === '' ? 'file_url' : 'file_data'
  const source = readSource(part, key, field, typeOfName(title))
  const media = source.kind === 'file' ? kindOfFile(source) : 'document'
  return { kind: 'media', media, source, ...(title === '' ? {} : { title }), ...readDetail(part), ...readCacheMark(part) }
}

/** Audio in Chat's form: OpenAI's Responses accept no audio, but other hosts do. */
function readAudio(part: JsonObject, field: string): MediaPart {
  const audio = objectAt(part, 'input_audio') ?? part
  const format = textAt(audio, 'format')
  return { kind: 'media', media: 'audio', source: readSource(audio, 'data', field, format === '' ? '' : `audio/${format}`) }
}

function readSource(part: JsonObject, key: string, field: string, declared = ''): MediaSource {
  const url = textAt(part, key)
  const id = textAt(part, 'file_id')
  if (url === '' && id !== '') return storedFile(id, 'openai', declared)
  if (url === '') return refuseInvalid(`${field}.${key}`, { zh: '不能为空', en: 'must not be empty' })
  return readMediaUrl(url, declared)
}

function readDetail({ detail }: JsonObject): Pick<MediaPart, 'detail'> {
  return detail === 'low' || detail === 'high' || detail === 'original' ? { detail } : {}
}

function readCacheMark(part: JsonObject): Pick<TextPart, 'cache'> {
  const mark = objectAt(part, 'prompt_cache_breakpoint')
  return mark ? { cache: { ttl: mark.ttl === '12h' || mark.ttl === '1h' ? '1h' : '5m' } } : {}
}
