import { fail } from '../../base/lib/failure.ts'
import type { MediaPart, MediaSource } from './dialogue.ts'

/**
 * The source of an image, document or recording, from the one string that the caller sent: a data URL of any form becomes bytes, a
 * URL (`https:`, `gs:`) stays a URL, and base64 without a prefix is read as bytes. `declared` is the media type sent with it.
 * Throws `field_invalid` for anything else. Source: protocols notes 3.2.
 */
export function readMediaUrl(url: string, declared?: string): MediaSource {
  const [, head, data] = dataUrl.exec(url) ?? []
  if (head !== undefined && data !== undefined) return readDataUrl(head, data, declared)
  if (address.test(url)) return { kind: 'url', url: url.trim(), ...(declared ? { mediaType: mediaTypeOf(declared) } : {}) }
  if (url === '' || notBase64.test(url)) fail('field_invalid', { field: 'url', reason: noMedia })
  return base64Source(url, declared ?? '')
}

/** A text that is the URL of a web page; '' for any other text. */
export function webAddress(text: string): string {
  return /^https?:\/\//i.test(text) ? text : ''
}

/** A source from base64 text: white space removed, the standard alphabet, the sniffed type or else the declared one. */
export function base64Source(data: string, declared: string): Base64Source {
  const clean = plainBase64(data)
  return { kind: 'base64', mediaType: sniffMediaType(clean) ?? mediaTypeOf(declared), data: clean }
}

/** A source from bytes, whose base64 needs no cleaning. */
export function sourceOfBytes(bytes: Buffer, declared: string): Base64Source {
  const data = bytes.toString('base64')
  return { kind: 'base64', mediaType: sniffMediaType(data) ?? mediaTypeOf(declared), data }
}

/** The media type by the first bytes; undefined when unknown. Vendors refuse bytes that are declared as another type. */
export function sniffMediaType(base64: string): string | undefined {
  const start = Buffer.from(base64.slice(0, 24), 'base64').toString('latin1')
  return signatures.find(([pattern]) => pattern.test(start))?.[1]
}

/** The URL of any source that is not a file stored at a vendor: its own URL, or a data URL. */
export function writeDataUrl(source: Exclude<MediaSource, { kind: 'file' }>): string {
  if (source.kind === 'url') return source.url
  const data = source.kind === 'text' ? Buffer.from(source.text).toString('base64') : source.data
  return `data:${source.mediaType};base64,${data}`
}

/**
 * A file that the caller names by its id: one of the caller's own vendor, or an object in Google's storage, whose address callers of
 * every dialect may use as an id.
 */
export function storedFile(id: string, family: FileSource['family'], declared = ''): FileSource {
  const isGoogles = isInGoogleStorage(id)
  const mediaType = declared === '' ? typeOfName(id) : mediaTypeOf(declared)
  return { kind: 'file', id, family: isGoogles ? 'google' : family, ...(isGoogles && mediaType !== '' ? { mediaType } : {}) }
}

type FileSource = Extract<MediaSource, { kind: 'file' }>

/** The kind of a stored file, as far as its type is known. */
export function kindOfFile({ mediaType = '' }: FileSource): MediaPart['media'] {
  const [kind] = mediaType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}

export function isInGoogleStorage(address: string): boolean {
  return /^gs:\/\//i.test(address)
}

/** The type by the ending of a file's name or address; '' when unknown. */
export function typeOfName(name: string): string {
  const path = name.split(/[?#]/, 1)[0] ?? ''
  return typeOfEnding.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase()) ?? ''
}

const typeOfEnding: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
  ['xml', 'text/xml'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mpeg'],
  ['m4a', 'audio/mp4'],
  ['aac', 'audio/aac'],
  ['flac', 'audio/flac'],
  ['ogg', 'audio/ogg'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
  ['mpeg', 'video/mpeg'],
  ['avi', 'video/x-msvideo'],
])

export type Base64Source = Extract<MediaSource, { kind: 'base64' }>

const noMedia = { zh: '既不是 data URL，也不是网址或 base64', en: 'is no data URL, no address and no base64' }
const dataUrl = /^\s*data:([^,]*),([\s\S]*)$/i
const address = /^\s*[a-z][a-z0-9+.-]*:\/\/\S/i
const notBase64 = /[^a-zA-Z0-9+/=_\s-]/
const unknownType = 'application/octet-stream'

const signatures: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8/, 'image/gif'],
  [/^RIFF[\s\S]{4}WEBP/, 'image/webp'],
  [/^%PDF/, 'application/pdf'],
  [/^RIFF[\s\S]{4}WAVE/, 'audio/wav'],
  [/^ID3/, 'audio/mp3'],
]

/** `text/plain;charset=utf-8;base64`, each part is optional; without `base64` the data is percent-encoded. */
function readDataUrl(head: string, data: string, declared: string | undefined): MediaSource {
  const [type = '', ...parameters] = head.split(';').map((piece) => piece.trim())
  const effectiveType = type === '' ? (declared ?? '') : type
  if (parameters.some((parameter) => parameter.toLowerCase() === 'base64')) return base64Source(data, effectiveType)
  return sourceOfBytes(percentDecoded(data), effectiveType === '' ? 'text/plain' : effectiveType)
}

/** Decoded to bytes, so that encodings other than UTF-8 survive; a lone percent sign is literal. */
function percentDecoded(text: string): Buffer {
  const pieces = text.split(/((?:%[0-9a-f]{2})+)/i)
  return Buffer.concat(
    pieces.map((piece, at) => (at % 2 === 1 ? Buffer.from(piece.replaceAll('%', ''), 'hex') : Buffer.from(piece))),
  )
}

/** The text may be megabytes long, so it is only rewritten when it has to change. */
function plainBase64(data: string): string {
  const joined = /\s/.test(data) ? data.replace(/\s+/g, '') : data
  const plain = /[-_]/.test(joined) ? joined.replaceAll('-', '+').replaceAll('_', '/') : joined
  const over = plain.length % 4
  return over === 2 || over === 3 ? plain + '='.repeat(4 - over) : plain
}

function mediaTypeOf(declared: string): string {
  const type = declared.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === '') return unknownType
  return type === 'image/jpg' ? 'image/jpeg' : type
}
