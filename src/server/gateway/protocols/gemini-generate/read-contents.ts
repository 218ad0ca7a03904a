import type { Text } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { MediaPart, Opaque, Part, TextPart, ToolCallPart, ToolResultPart, Turn } from '../dialogue.ts'
import { base64Source } from '../media.ts'
import { unknownSignature } from '../model-families.ts'
import { inputText } from '../tool-input.ts'
import { type HostedToolUse, hostedUseAsText } from '../tool-texts.ts'
import type { UnreadMembers } from '../unread-members.ts'
import { isObject, type JsonObject, textAt } from '../wire-format.ts'
import { either, eitherList, eitherObject, eitherText } from './members.ts'

/**
 * The turns of a Gemini conversation. Consecutive contents of one role are one turn, and consecutive texts of the model one text,
 * because Google's own clients store each chunk of a stream as a content. Uses of Google's own tools become text. Adds lost members
 * to `unread`. Throws `untranslatable` for parts that only Gemini can read.
 */
export function readTurns(contents: readonly unknown[], unread: UnreadMembers): Turn[] {
  const turns: Turn[] = []
  for (const turn of readContents(contents, unread)) {
    const last = turns.at(-1)
    if (last?.role === turn.role) turns[turns.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] }
    else turns.push(turn)
  }
  return turns.map((turn) => (turn.role === 'assistant' ? { ...turn, parts: joinPieces(turn.parts) } : turn))
}

function readContents(contents: readonly unknown[], unread: UnreadMembers): Turn[] {
  return contents.map((content, at) => {
    if (!isObject(content)) return fail('field_invalid', { field: `contents[${at}]`, reason: 'must be an object' })
    const role = roleOf(textAt(content, 'role'), at)
    const parts = eitherList(content, 'parts')
      .filter(isObject)
      .flatMap((part, place) => readPart(part, { role, place: `contents[${at}].parts[${place}]`, unread }))
    return { role, parts }
  })
}

/** Joins pieces of text. A signature ends a text: it is on the last piece, or on an empty piece after it. */
function joinPieces(parts: readonly Part[]): Part[] {
  const joined: Part[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    const isMore = (part.kind === 'text' || part.kind === 'reasoning') && last?.kind === part.kind && last.opaque === undefined
    if (isMore) joined[joined.length - 1] = { ...part, text: last.text + part.text }
    else joined.push(part)
  }
  return joined
}

/** Refuses a member that no other vendor supports. */
export function refuse(field: string, reason: Text): never {
  fail('untranslatable', { field, reason })
}

export const geminiOnly: Text = { zh: '只有 Gemini 支持', en: 'only Gemini can do this' }

/** Function responses are in user turns, with the role `user` or `function`. */
function roleOf(role: string, at: number): Turn['role'] {
  if (role === 'model') return 'assistant'
  if (role === '' || role === 'user' || role === 'function') return 'user'
  if (role === 'system') return 'system'
  return fail('field_invalid', { field: `contents[${at}].role`, reason: 'must be user or model' })
}

interface PartFacts {
  readonly role: Turn['role']
  readonly place: string
  readonly unread: UnreadMembers
}

function readPart(part: JsonObject, { role, place, unread }: PartFacts): Part[] {
  const opaque = readOpaque(part)
  const call = eitherObject(part, 'functionCall')
  if (call) return [{ ...readCall(call), ...opaque }]
  const response = eitherObject(part, 'functionResponse')
  if (response) return [readResult(response, place)]
  const inline = eitherObject(part, 'inlineData')
  if (inline) return role === 'assistant' && part.thought === true ? [] : [readInline(inline, resolutionOf(part))]
  const file = eitherObject(part, 'fileData')
  if (file) return [readFile(file, resolutionOf(part))]

  const use = pastUse(part)
  if (use)
    return hostedUseAsText(use, (member) => unread.add(`contents.parts.${member}`)).map((piece) => ({ ...piece, ...opaque }))

  const isEmpty = typeof part.text !== 'string' && either(part, 'thoughtSignature') === undefined
  if (isEmpty) return Object.keys(part).length === 0 ? [] : refuse(place, geminiOnly)
  const text = textAt(part, 'text')
  if (part.thought === true) return [{ kind: 'reasoning', text, ...opaque }]
  return text === '' && !('opaque' in opaque) ? [] : [{ kind: 'text', text, ...opaque }]
}

/** A call of a tool that Google ran, or its result. */
function pastUse(part: JsonObject): HostedToolUse | undefined {
  const code = eitherObject(part, 'executableCode')
  if (code) return { name: 'code_execution', input: code.code }
  const result = eitherObject(part, 'codeExecutionResult')
  if (result) return { name: 'code_execution', answer: result.output, isError: textAt(result, 'outcome') !== 'OUTCOME_OK' }
  const call = eitherObject(part, 'toolCall')
  if (call) return { name: toolIn(call), input: inputText(call.args) }
  const response = eitherObject(part, 'toolResponse')
  return response && { name: toolIn(response), answer: response.response }
}

function toolIn(used: JsonObject): string {
  return eitherText(used, 'toolType').toLowerCase() || 'hosted_tool'
}

function readOpaque(part: JsonObject): { opaque?: Opaque } {
  const value = eitherText(part, 'thoughtSignature')
  // The placeholder that clients send is not a signature, and the writer adds it where it is needed.
  return value === '' || value === unknownSignature ? {} : { opaque: { family: 'google', kind: 'signature', value } }
}

/** Older models send no ids: such a call and its result are matched by name and order, by the writers of turns. */
function readCall(call: JsonObject): ToolCallPart {
  return {
    kind: 'tool-call',
    callId: textAt(call, 'id'),
    name: textAt(call, 'name'),
    input: inputText(call.args),
    isCustom: false,
  }
}

function readResult(response: JsonObject, place: string): ToolResultPart {
  const { text, isError } = readOutcome(response.response, textAt(response, 'name'))
  const media = eitherList(response, 'parts')
    .filter(isObject)
    .map((part) => {
      const inline = eitherObject(part, 'inlineData')
      const file = eitherObject(part, 'fileData')
      return inline ? readInline(inline) : file ? readFile(file) : refuse(place, geminiOnly)
    })
  return {
    kind: 'tool-result',
    callId: textAt(response, 'id'),
    name: textAt(response, 'name'),
    parts: [...(text === '' ? [] : [{ kind: 'text', text } satisfies TextPart]), ...media],
    isError,
    isCustom: false,
  }
}

/**
 * The text under `output` or `result`, or an `error`; any other object is the result itself. Some clients send the function's name
 * with a `content`.
 */
function readOutcome(response: unknown, name: string): { text: string; isError: boolean } {
  if (!isObject(response)) return { text: response === undefined ? '' : inputText(response), isError: false }
  const { name: named, content, ...others } = response
  if (named === name && content !== undefined && Object.keys(others).length === 0)
    return { text: typeof content === 'string' ? content : JSON.stringify(content), isError: false }
  const [[key, value] = ['', undefined], ...more] = Object.entries(response)
  const isError = 'error' in response
  if (more.length > 0 || !wrappers.has(key)) return { text: JSON.stringify(response), isError }
  return { text: typeof value === 'string' ? value : JSON.stringify(value ?? null), isError }
}

const wrappers = new Set(['output', 'result', 'error'])

function readInline(inline: JsonObject, detail: Pick<MediaPart, 'detail'> = {}): MediaPart {
  const source = base64Source(textAt(inline, 'data'), eitherText(inline, 'mimeType'))
  const title = eitherText(inline, 'displayName')
  const named = title === '' ? {} : { title }
  if (source.mediaType.startsWith('text/')) {
    const text = Buffer.from(source.data, 'base64').toString()
    return { kind: 'media', media: 'document', source: { kind: 'text', mediaType: source.mediaType, text }, ...named }
  }
  return { kind: 'media', media: mediaOf(source.mediaType), source, ...detail, ...named }
}

/** URIs of files stored at Google become files; any other URI is a URL. */
function readFile(file: JsonObject, detail: Pick<MediaPart, 'detail'> = {}): MediaPart {
  const uri = eitherText(file, 'fileUri')
  const mediaType = eitherText(file, 'mimeType')
  const isGoogles = !/^https?:/i.test(uri) || /^https:\/\/generativelanguage\.googleapis\.com\//i.test(uri)
  const media = mediaType === '' && /youtu\.?be/i.test(uri) ? 'video' : mediaOf(mediaType)
  const typed = mediaType === '' ? {} : { mediaType }
  if (isGoogles) return { kind: 'media', media, source: { kind: 'file', id: uri, family: 'google', ...typed }, ...detail }
  return { kind: 'media', media, source: { kind: 'url', url: uri, ...typed }, ...detail }
}

function mediaOf(mediaType: string): MediaPart['media'] {
  const [kind] = mediaType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}

function resolutionOf(part: JsonObject): Pick<MediaPart, 'detail'> {
  const level = eitherText(eitherObject(part, 'mediaResolution') ?? {}, 'level')
  if (level === 'MEDIA_RESOLUTION_LOW') return { detail: 'low' }
  return /^MEDIA_RESOLUTION_(HIGH|ULTRA_HIGH)$/.test(level) ? { detail: 'high' } : {}
}
