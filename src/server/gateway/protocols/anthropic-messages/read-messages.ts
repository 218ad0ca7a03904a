import { fail } from '../../../base/lib/failure.ts'
import type { Part, TextPart, Turn } from '../dialogue.ts'
import { continueText } from '../tool-texts.ts'
import type { UnreadMembers } from '../unread-members.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'
import { withoutBillingLine } from './billing-line.ts'
import { isPastUse, readBlock } from './read-blocks.ts'
import { readCacheMark } from './read-tools.ts'

/**
 * The messages as turns; instructions before the first of them are leading instructions. Tool results precede the rest of a turn.
 * After a turn that paused at a hosted tool, the model is asked to continue; any other last turn of the model is the beginning of its
 * answer, as the vendor documents it. Adds lost members to `unread`. Throws `field_invalid` for an invalid message, and `untranslatable`
 * for blocks that only their vendor understands.
 */
export function readMessages(
  messages: readonly unknown[],
  unread: UnreadMembers,
): { head: TextPart[]; turns: Turn[]; beginsAnswer?: true } {
  const read = messages.map((message, at) => readMessage(message, `messages[${at}]`, unread))
  if (isPaused(messages.at(-1))) read.push({ role: 'user', parts: [continueText] })
  const beginsAnswer = read.at(-1)?.role === 'assistant'
  // A message that only changes the tools has no parts.
  const all = read.filter(({ role, parts }) => role !== 'system' || parts.length > 0)
  const begin = all.findIndex(({ role }) => role !== 'system')
  const leading = begin < 0 ? all : all.slice(0, begin)
  return {
    head: leading.flatMap(({ parts }) => parts.filter(isText)),
    turns: all.slice(leading.length),
    ...(beginsAnswer ? ({ beginsAnswer: true } as const) : {}),
  }
}

/** The leading instructions, without the billing header of one client, which changes with each request. */
export function readSystem(system: unknown): TextPart[] {
  if (typeof system === 'string') {
    const text = withoutBillingLine(system)
    return text === '' ? [] : [{ kind: 'text', text }]
  }
  if (system === undefined || system === null) return []
  if (!Array.isArray(system)) {
    fail('field_invalid', {
      field: 'system',
      reason: { zh: '必须是文本或文本块列表', en: 'must be a text or a list of text blocks' },
    })
  }
  return system.filter(isObject).flatMap((block): TextPart[] => {
    const text = withoutBillingLine(textAt(block, 'text'))
    if (text === '') return []
    return [{ kind: 'text', text, ...readCacheMark(block) }]
  })
}

function isPaused(message: unknown): boolean {
  if (!isObject(message) || message.role !== 'assistant') return false
  const last = arrayAt(message, 'content').at(-1)
  return isObject(last) && isPastUse(last)
}

function readMessage(message: unknown, field: string, unread: UnreadMembers): Turn {
  if (!isObject(message)) return refuse(field, { zh: '必须是对象', en: 'must be an object' })
  const { role } = message
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    return refuse(`${field}.role`, { zh: '须为 user、assistant 或 system', en: 'must be user, assistant or system' })
  }
  if (role === 'system') return { role, parts: readSystem(message.content) }
  const parts = readContent(message, field, unread)
  return { role, parts: role === 'user' ? resultsFirst(parts) : joinedThoughts(parts) }
}

function readContent(message: JsonObject, field: string, unread: UnreadMembers): Part[] {
  const { content } = message
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  if (!Array.isArray(content)) {
    return refuse(`${field}.content`, { zh: '必须是文本或内容块列表', en: 'must be a text or a list of blocks' })
  }
  return arrayAt(message, 'content').flatMap((block, at) => readBlock(block, `${field}.content[${at}]`, unread))
}

function resultsFirst(parts: readonly Part[]): Part[] {
  const results = parts.filter(({ kind }) => kind === 'tool-result')
  return results.length === 0 ? [...parts] : [...results, ...parts.filter(({ kind }) => kind !== 'tool-result')]
}

/** The reasoning of another vendor was written as two blocks, text and opaque state: joins them into one part again. */
function joinedThoughts(parts: readonly Part[]): Part[] {
  return parts.flatMap((part, at) => {
    const next = parts[at + 1]
    const before = parts[at - 1]
    if (isOpenThought(part) && isForeignSeal(next)) return [{ ...part, opaque: next.opaque }]
    return isForeignSeal(part) && before && isOpenThought(before) ? [] : [part]
  })
}

function isOpenThought(part: Part): boolean {
  return part.kind === 'reasoning' && part.opaque === undefined
}

function isForeignSeal(part: Part | undefined): part is Extract<Part, { kind: 'reasoning' }> {
  return part?.kind === 'reasoning' && part.text === '' && part.opaque !== undefined && part.opaque.family !== 'anthropic'
}

function isText(part: Part): part is TextPart {
  return part.kind === 'text'
}

function refuse(field: string, reason: { zh: string; en: string }): never {
  return fail('field_invalid', { field, reason })
}
