import type { Citation } from '../reply-events.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * A source that Gemini cites for a piece of its text, with offsets in bytes of UTF-8. `text` is '' when Gemini does not quote the
 * piece.
 */
export interface Support extends Pick<Citation, 'url' | 'title'> {
  readonly startByte: number
  readonly endByte: number
  readonly text: string
}

/** The passages supported by a candidate's search, and its sources. Source: protocols notes 3.9. */
export function readSupports(candidate: JsonObject): Support[] {
  const grounding = objectAt(candidate, 'groundingMetadata') ?? {}
  const chunks = arrayAt(grounding, 'groundingChunks')
  const sources = chunks.slice(0, supportsMax)
  const supports = arrayAt(grounding, 'groundingSupports').filter(isObject).slice(0, supportsMax)
  const cited = objectAt(candidate, 'citationMetadata') ?? {}
  const recited = [...arrayAt(cited, 'citationSources'), ...arrayAt(cited, 'citations')].filter(isObject).slice(0, supportsMax)
  return [
    ...(supports.length > 0 ? supports.flatMap((support) => supportsOf(support, chunks)) : sources.flatMap(sourceOf)),
    ...recited.flatMap((source) => supportOf(source, source)),
  ]
}

/** Whether a source belongs to no passage, but to the whole answer: an image, or a text of which no passage is named. */
export function isOfAll({ startByte, endByte, text }: Support): boolean {
  return startByte === 0 && endByte === 0 && text === ''
}

/** The offset of the piece in a text, in UTF-16 units; undefined when it is not found. */
export function placeOf({ startByte, endByte, text: quoted }: Support, text: string): { start: number; end: number } | undefined {
  const bytes = Buffer.from(text)
  if (startByte <= endByte && endByte <= bytes.length) {
    const start = bytes.toString('utf8', 0, startByte).length
    const piece = bytes.toString('utf8', startByte, endByte)
    if (quoted === '' ? piece !== '' : piece === quoted) return { start, end: start + piece.length }
  }
  const found = quoted === '' ? -1 : text.indexOf(quoted)
  return found < 0 ? undefined : { start: found, end: found + quoted.length }
}

/** Citations in Gemini's form, with offsets in the complete text of a reply. */
export function writeGrounding(citations: readonly Citation[], text: string): JsonObject | undefined {
  if (citations.length === 0) return undefined
  const urls = [...new Set(citations.map(({ url }) => url))]
  const byteAt = (place: number) => Buffer.byteLength(text.slice(0, place))
  return {
    groundingChunks: urls.map((uri) => ({ web: { uri, title: citations.find(({ url }) => url === uri)?.title ?? '' } })),
    groundingSupports: citations.map(({ url, start, end }) => ({
      segment: { startIndex: byteAt(start), endIndex: byteAt(end), text: text.slice(start, end) },
      groundingChunkIndices: [urls.indexOf(url)],
    })),
  }
}

/** More than any reply has, and few enough to search the text linearly for each. */
export const supportsMax = 200

function supportsOf(support: JsonObject, chunks: readonly unknown[]): Support[] {
  const segment = objectAt(support, 'segment') ?? {}
  return arrayAt(support, 'groundingChunkIndices').flatMap((index) => {
    const chunk = typeof index === 'number' ? chunks[index] : undefined
    return isObject(chunk) ? supportOf(segment, pageOf(chunk)) : []
  })
}

function sourceOf(chunk: unknown): Support[] {
  return isObject(chunk) ? supportOf({ startIndex: 0, endIndex: 0 }, pageOf(chunk)) : []
}

function pageOf(chunk: JsonObject): JsonObject {
  return objectAt(chunk, 'web') ?? objectAt(chunk, 'retrievedContext') ?? objectAt(chunk, 'maps') ?? {}
}

/** Gemini omits the start index of a piece at offset 0. */
function supportOf(segment: JsonObject, source: JsonObject): Support[] {
  const url = textAt(source, 'uri')
  const endByte = segment.endIndex
  if (url === '' || typeof endByte !== 'number') return []
  const startByte = typeof segment.startIndex === 'number' ? segment.startIndex : 0
  if (!(startByte >= 0)) return []
  return [{ url, title: textAt(source, 'title'), startByte, endByte, text: textAt(segment, 'text') }]
}
