import { fail } from '../../../base/lib/failure.ts'
import type { MediaPart, MediaSource, Part, TextPart, ToolResultPart } from '../dialogue.ts'
import { base64Source, storedFile, typeOfName } from '../media.ts'
import { inputText } from '../tool-input.ts'
import { hostedUseAsText } from '../tool-texts.ts'
import type { UnreadMembers } from '../unread-members.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { readCacheMark } from './read-tools.ts'
import { openSeal } from './seals.ts'

/**
 * One block as parts of a turn; uses of the vendor's own tools become text. Adds lost members to `unread`. Throws `field_invalid` for
 * an invalid block, and `untranslatable` for a block that only its vendor understands. Source: protocols notes 1.12 and 3.2.
 */
export function readBlock(block: unknown, field: string, unread: UnreadMembers): Part[] {
  if (!isObject(block)) return invalid(field, { zh: '必须是对象', en: 'must be an object' })
  const type = textAt(block, 'type')
  switch (type) {
    case 'text':
    case 'image':
    case 'document':
    case 'search_result':
      return readShown(block, field)
    case 'tool_result':
      return [readResult(block, field)]
    case 'tool_use':
      return [
        {
          kind: 'tool-call',
          callId: textAt(block, 'id'),
          name: textAt(block, 'name'),
          input: inputText(block.input),
          isCustom: false,
          ...readCacheMark(block),
        },
      ]
    case 'thinking':
      return readThinking(block)
    case 'redacted_thinking':
      return [{ kind: 'reasoning', text: '', opaque: openSeal(textAt(block, 'data')) }]
    case 'mcp_tool_listing':
    case 'container_upload':
      unread.add(`messages.content.${type}`)
      return []
    // Markers of a fallback model, and tool searches, whose found tools are in the request's tools anyway.
    case 'fallback':
    case 'tool_search_tool_result':
      return []
    default:
      return isPastUse(block) ? readPastUse(block, unread) : refuse(field, type)
  }
}

/** Whether a block is a use of a tool that the vendor ran: a call or its result. */
export function isPastUse(block: JsonObject): boolean {
  return hostedUse.test(textAt(block, 'type'))
}

const hostedUse = /^(server_tool_use|mcp_tool_use|[a-z_]{1,60}_tool_result)$/

function readPastUse(block: JsonObject, unread: UnreadMembers): TextPart[] {
  const type = textAt(block, 'type')
  const isCall = type.endsWith('_use')
  const server = textAt(block, 'server_name')
  const name = isCall ? textAt(block, 'name') : type.slice(0, -'_tool_result'.length)
  if (isCall && name.startsWith('tool_search')) return []
  const { content } = block
  const isError = block.is_error === true || (isObject(content) && 'error_code' in content)
  const use = isCall
    ? { name: server === '' ? name : `${server}.${name}`, input: inputText(block.input) }
    : { name, answer: content, isError }
  const lose = (member: string) => unread.add(`messages.content.content.${member}`)
  return hostedUseAsText(use, lose).map((part) => ({ ...part, ...readCacheMark(block) }))
}

function readThinking(block: JsonObject): Part[] {
  const text = textAt(block, 'thinking')
  const signature = textAt(block, 'signature')
  if (signature === '') return text === '' ? [] : [{ kind: 'reasoning', text }]
  return [{ kind: 'reasoning', text, opaque: { family: 'anthropic', kind: 'signature', value: signature } }]
}

function readResult(block: JsonObject, field: string): ToolResultPart {
  const { content } = block
  const parts =
    typeof content === 'string'
      ? [{ kind: 'text' as const, text: content }]
      : arrayAt(block, 'content').flatMap((inner, at) => readResultBlock(inner, `${field}.content[${at}]`))
  return {
    kind: 'tool-result',
    callId: textAt(block, 'tool_use_id'),
    parts: parts.filter((part) => part.kind === 'media' || part.text !== ''),
    isError: block.is_error === true,
    isCustom: false,
    ...readCacheMark(block),
  }
}

function readResultBlock(block: unknown, field: string): (TextPart | MediaPart)[] {
  if (!isObject(block)) return invalid(field, { zh: '必须是对象', en: 'must be an object' })
  // A tool that was found is in the request's tools.
  if (block.type === 'tool_reference')
    return [{ kind: 'text', text: `The tool ${textAt(block, 'tool_name')} is available.`, ...readCacheMark(block) }]
  return readShown(block, field)
}

/** Blocks that are valid in a user message and in a tool result. */
function readShown(block: JsonObject, field: string): (TextPart | MediaPart)[] {
  switch (block.type) {
    case 'text': {
      const text = textAt(block, 'text')
      return text === '' ? [] : [{ kind: 'text', text, ...readCacheMark(block) }]
    }
    case 'image':
      return [{ kind: 'media', media: 'image', source: readSource(block, field, ''), ...readCacheMark(block) }]
    case 'document':
      return readDocument(block, field)
    case 'search_result':
      return readSearchResult(block, field)
    default:
      return refuse(field, textAt(block, 'type'))
  }
}

function readDocument(block: JsonObject, field: string): (TextPart | MediaPart)[] {
  refuseCitations(block, field)
  const title = textAt(block, 'title')
  const context = textAt(block, 'context')
  const source = objectAt(block, 'source') ?? {}
  const cache = readCacheMark(block)
  const before: TextPart[] = context === '' ? [] : [{ kind: 'text', text: context }]
  if (source.type === 'content') return [...before, ...readPieces(source, title, field, cache)]
  const document: MediaPart = {
    kind: 'media',
    media: 'document',
    source: readSource(block, field, 'application/pdf'),
    ...(title === '' ? {} : { title }),
    ...cache,
  }
  return [...before, document]
}

/** A document of several parts: its texts and images, after its title. */
function readPieces(
  source: JsonObject,
  title: string,
  field: string,
  cache: { cache?: TextPart['cache'] },
): (TextPart | MediaPart)[] {
  const pieces =
    typeof source.content === 'string'
      ? [{ kind: 'text' as const, text: source.content }]
      : arrayAt(source, 'content').flatMap((piece) => (isObject(piece) ? readShown(piece, `${field}.source`) : []))
  const named: (TextPart | MediaPart)[] = title === '' ? pieces : [{ kind: 'text', text: title }, ...pieces]
  return named.map((piece, at) => (at === named.length - 1 ? { ...piece, ...cache } : piece))
}

function readSearchResult(block: JsonObject, field: string): TextPart[] {
  refuseCitations(block, field)
  const pieces = arrayAt(block, 'content').filter(isObject)
  const texts = pieces.map((piece) => textAt(piece, 'text'))
  const text = [textAt(block, 'title'), textAt(block, 'source'), ...texts].filter((line) => line !== '').join('\n')
  const marked = [...pieces, block].findLast((each) => objectAt(each, 'cache_control')) ?? block
  return text === '' ? [] : [{ kind: 'text', text, ...readCacheMark(marked) }]
}

function readSource(block: JsonObject, field: string, declared: string): MediaSource {
  const source = objectAt(block, 'source') ?? {}
  switch (source.type) {
    case 'base64':
      return base64Source(textAt(source, 'data'), textAt(source, 'media_type') || declared)
    case 'url':
      return { kind: 'url', url: textAt(source, 'url'), ...(declared === '' ? {} : { mediaType: declared }) }
    case 'text':
      return { kind: 'text', mediaType: textAt(source, 'media_type') || 'text/plain', text: textAt(source, 'data') }
    case 'file':
      return storedFile(
        textAt(source, 'file_id'),
        'anthropic',
        textAt(source, 'media_type') || typeOfName(textAt(source, 'file_id')) || declared,
      )
    default:
      return invalid(`${field}.source`, { zh: '未知的类型', en: 'this type is not known' })
  }
}

/** The request asks for citations of a document as part of the answer. */
function refuseCitations(block: JsonObject, field: string): void {
  if (objectAt(block, 'citations')?.enabled !== true) return
  const reason = { zh: '其他协议没有文档引用', en: 'other protocols cannot cite documents' }
  fail('untranslatable', { field: `${field}.citations`, reason })
}

function invalid(field: string, reason: { zh: string; en: string }): never {
  return fail('field_invalid', { field, reason })
}

function refuse(field: string, type: string): never {
  const reason = { zh: `其他协议没有此类内容：${type}`, en: `other protocols have no such block: ${type}` }
  return fail('untranslatable', { field, reason })
}
