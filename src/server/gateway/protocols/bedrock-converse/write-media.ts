import { fail } from '../../../base/lib/failure.ts'
import type { Dialogue, MediaPart, MediaSource } from '../dialogue.ts'
import { fieldNameFor } from '../lost-fields.ts'
import type { JsonObject } from '../wire-format.ts'
import type { ConverseRules } from './models.ts'

/** Names for the documents of one request: unique, and valid for Bedrock. */
export type DocumentNamer = (title: string | undefined) => string

/**
 * Media as a block of a user message or tool result; web URLs have already been fetched. Throws `untranslatable` for media that the
 * model does not support, and for files of other vendors. Source: protocols notes 2.7 and 3.2.
 */
export function mediaBlock(part: MediaPart, rules: ConverseRules, dialogue: Dialogue, nameDocument: DocumentNamer): JsonObject {
  const { media, source, title } = part
  const format = formats[media]?.get(mediaTypeOf(part))
  const bytes = bytesOf(source)
  if (format === undefined || bytes === undefined || !isTaken(media, rules)) refuse(dialogue, part)
  if (media === 'document') return { document: { format, name: nameDocument(title), source: bytes } }
  return { [media]: { format, source: bytes } }
}

/**
 * Bedrock accepts letters, digits, single white space, hyphens and brackets in document names, which must be unique. The model
 * reads names too, so a caller's title is kept as far as it is valid.
 */
export function documentNamer(): DocumentNamer {
  const given = new Set<string>()
  return (title = '') => {
    const plain = title
      .replace(/\.\w{1,5}$/, '')
      .replace(/[^a-zA-Z0-9\s()[\]-]+/g, ' ')
      .replace(/\s+/g, ' ')
      .trimStart()
      .slice(0, nameLengthMax)
      .trimEnd()
    const base = plain === '' ? 'Document' : plain
    let name = base
    for (let number = 2; given.has(name); number++) name = `${base} ${number}`
    given.add(name)
    return name
  }
}

const nameLengthMax = 180

const documents: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
  ['text/plain', 'txt'],
])

const formats: Readonly<Record<MediaPart['media'], ReadonlyMap<string, string> | undefined>> = {
  image: new Map([
    ['image/png', 'png'],
    ['image/jpeg', 'jpeg'],
    ['image/gif', 'gif'],
    ['image/webp', 'webp'],
  ]),
  document: documents,
  video: new Map([
    ['video/x-matroska', 'mkv'],
    ['video/quicktime', 'mov'],
    ['video/mp4', 'mp4'],
    ['video/webm', 'webm'],
    ['video/x-flv', 'flv'],
    ['video/mpeg', 'mpeg'],
    ['video/x-ms-wmv', 'wmv'],
    ['video/3gpp', 'three_gp'],
  ]),
  audio: undefined,
}

/** Text of an unsupported type is sent as plain text. An undeclared type, as of an S3 object, follows from the name's suffix. */
function mediaTypeOf({ media, source }: MediaPart): string {
  if (source.kind === 'file') return ''
  const declared = source.mediaType ?? ''
  if (media !== 'document' || documents.has(declared)) return declared || typeOfName(source)
  return declared.startsWith('text/') || /json|xml|yaml/.test(declared) ? 'text/plain' : declared || typeOfName(source)
}

function typeOfName(source: MediaSource): string {
  const ending = source.kind === 'url' ? /\.(\w+)$/.exec(source.url)?.[1]?.toLowerCase() : undefined
  const known = [...Object.values(formats)].flatMap((kinds) => [...(kinds ?? [])])
  return known.find(([, format]) => format === (ending === 'jpg' ? 'jpeg' : ending))?.[0] ?? ''
}

function bytesOf(source: MediaSource): JsonObject | undefined {
  if (source.kind === 'base64') return { bytes: source.data }
  if (source.kind === 'text') return { bytes: Buffer.from(source.text).toString('base64') }
  return source.kind === 'url' && source.url.startsWith('s3://') ? { s3Location: { uri: source.url } } : undefined
}

function isTaken(media: MediaPart['media'], rules: ConverseRules): boolean {
  return { image: rules.takesImages, document: rules.takesDocuments, video: rules.takesVideo, audio: false }[media]
}

function refuse({ from }: Dialogue, { media, source }: MediaPart): never {
  const kind = source.kind === 'file' ? 'file id' : source.mediaType || media
  return fail('untranslatable', {
    field: fieldNameFor(from, 'turns'),
    reason: { zh: `该模型不接受此类内容：${kind}`, en: `this model takes no such content: ${kind}` },
  })
}
