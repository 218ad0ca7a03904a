import { fail } from '../../../base/lib/failure.ts'
import { callIdFor } from '../call-ids.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, MediaPart, Part, ReasoningPart, TextPart, ToolResultPart, Turn } from '../dialogue.ts'
import { callObject } from '../function-tools.ts'
import { fieldNameFor, resultMark } from '../lost-fields.ts'
import { endingAnswerably, mergeTurns, repairToolResults } from '../turns.ts'
import type { JsonObject } from '../wire-format.ts'
import { cachePoint } from './cache-points.ts'
import type { ConverseRules } from './models.ts'
import { type DocumentNamer, documentNamer, mediaBlock } from './write-media.ts'

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: readonly JsonObject[]
}

interface MessageFacts {
  readonly rules: ConverseRules
  /** Whether the request asks the model to think: then the answer must not be prefilled. */
  readonly isThinking: boolean
  /** Instructions for a model without a system prompt. */
  readonly instructions: readonly TextPart[]
  toUpstream(name: string): string
}

/**
 * The turns as messages that alternate and begin with the user, results of tools first. Blank text is refused by Bedrock and left
 * out. Throws `untranslatable` when nothing remains, for media that the model does not accept, and for a prefilled answer that the
 * model does not support. Source: protocols notes 2.7 and 3.1 to 3.4.
 */
export function writeMessages(dialogue: Dialogue, context: RequestContext, facts: MessageFacts): Message[] {
  const leading: Turn[] = facts.instructions.length > 0 ? [{ role: 'user', parts: facts.instructions }] : []
  const filled = withoutEmptyParts([...leading, ...dialogue.turns], facts.rules)
  const takes = facts.rules.takesPrefill && !facts.isThinking ? 'begins' : 'refused'
  const turns = endingAnswerably(dialogue, context, { turns: mergeTurns(repairToolResults(filled)), takes })
  if (turns.length === 0) refuse(dialogue, { zh: '没有任何内容', en: 'nothing is said in them' })

  const nameDocument = documentNamer()
  const messages = turns.map(({ role, parts }): Message => {
    const content = parts.flatMap((part) => blocksOf(part, role, { dialogue, context, facts, nameDocument }))
    return { role: role === 'assistant' ? role : 'user', content: withTextBesideDocuments(content) }
  })
  const begun = messages[0]?.role === 'user' ? messages : [{ role: 'user' as const, content: [placeholder] }, ...messages]
  return withTrimmedPrefill(begun)
}

interface Writing {
  readonly dialogue: Dialogue
  readonly context: RequestContext
  readonly facts: MessageFacts
  readonly nameDocument: DocumentNamer
}

const placeholder: JsonObject = { text: '.' }

/** The turns with the parts that Bedrock accepts. A user turn that becomes empty is ".", unless it has a neighbour. */
function withoutEmptyParts(turns: readonly Turn[], rules: ConverseRules): Turn[] {
  const kept = turns.map((turn) => reminded({ ...turn, parts: turn.parts.filter((part) => isSaid(part, turn.role, rules)) }))
  if (kept.every(({ parts }) => parts.length === 0)) return []
  return kept.flatMap((turn, at) => {
    if (turn.parts.length > 0) return [turn]
    const isBesideUser = kept[at - 1]?.role === 'user' || kept[at + 1]?.role === 'user'
    return turn.role === 'user' && !isBesideUser ? [{ role: 'user' as const, parts: [{ kind: 'text' as const, text: '.' }] }] : []
  })
}

/** Instructions in the middle of the conversation become a reminder in user text. */
function reminded(turn: Turn): Turn {
  if (turn.role !== 'system') return turn
  const texts = turn.parts.filter((part) => part.kind === 'text')
  if (texts.length === 0) return { role: 'user', parts: [] }
  const cache = texts.at(-1)?.cache
  const text = `<system-reminder>\n${texts.map((part) => part.text).join('\n\n')}\n</system-reminder>`
  return { role: 'user', parts: [{ kind: 'text', text, ...(cache ? { cache } : {}) }] }
}

/** Reasoning can be read only by the model family that signed or encrypted it. */
function isSaid(part: Part, role: Turn['role'], { claude }: ConverseRules): boolean {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text.trim() !== ''
    case 'reasoning':
      return role === 'assistant' && part.opaque?.family === 'anthropic' && claude !== undefined && claude.thinking !== 'none'
    case 'tool-call':
      return role === 'assistant'
    default:
      return role !== 'system'
  }
}

function blocksOf(part: Part, role: Turn['role'], writing: Writing): JsonObject[] {
  const { context, dialogue, facts, nameDocument } = writing
  switch (part.kind) {
    case 'text':
      return [{ text: part.text }, ...cachePoint(part.cache, facts.rules)]
    case 'refusal':
      return [{ text: part.text }]
    case 'reasoning':
      return [reasoningBlock(part)]
    case 'tool-call': {
      const toolUse = { toolUseId: callId(part.callId, writing), name: facts.toUpstream(part.name), input: callObject(part) }
      return [{ toolUse }, ...cachePoint(part.cache, facts.rules)]
    }
    case 'tool-result':
      // Cache points are invalid inside a result.
      return [resultBlock(part, writing), ...cachePoint(resultMark(part), facts.rules)]
    case 'media':
      if (role === 'assistant') return [shownBefore(part, context)]
      if (part.detail !== undefined && part.detail !== 'auto') context.lose('detail')
      return [mediaBlock(part, facts.rules, dialogue, nameDocument), ...cachePoint(part.cache, facts.rules)]
  }
}

function reasoningBlock({ text, opaque }: ReasoningPart): JsonObject {
  if (opaque?.kind === 'redacted') return { reasoningContent: { redactedContent: opaque.value } }
  return { reasoningContent: { reasoningText: { text, signature: opaque?.value ?? '' } } }
}

/** A result needs at least one block. For models without an error status, a text reports the error. */
function resultBlock(result: ToolResultPart, writing: Writing): JsonObject {
  const { facts, dialogue, nameDocument } = writing
  const { takesResultStatus } = facts.rules
  const filled = result.parts.filter((part) => part.kind === 'media' || part.text.trim() !== '')
  const content = filled.map((part) =>
    part.kind === 'text' ? { text: part.text } : mediaBlock(part, facts.rules, dialogue, nameDocument),
  )
  const written = content.length > 0 ? content : [{ text: '(empty)' }]
  return {
    toolResult: {
      toolUseId: callId(result.callId, writing),
      content: result.isError && !takesResultStatus ? [{ text: 'Error: ' }, ...written] : written,
      ...(result.isError && takesResultStatus ? { status: 'error' } : {}),
    },
  }
}

function callId(id: string, { context, facts }: Writing): string {
  return callIdFor(id, context.quirks.callIds ?? facts.rules.callIds)
}

/** Media in an assistant turn cannot be sent back. */
function shownBefore({ media }: MediaPart, context: RequestContext): JsonObject {
  context.lose(`messages.${media}`)
  return { text: `[${media}]` }
}

function withTextBesideDocuments(content: readonly JsonObject[]): readonly JsonObject[] {
  const isBare = content.some((block) => block.document !== undefined) && content.every((block) => block.text === undefined)
  return isBare ? [...content, placeholder] : content
}

/** The beginning of the answer must not end in white space. */
function withTrimmedPrefill(messages: readonly Message[]): Message[] {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return [...messages]
  const content = last.content.map((block, at) =>
    at === last.content.length - 1 && typeof block.text === 'string' ? { text: block.text.trimEnd() } : block,
  )
  return [...messages.slice(0, -1), { ...last, content }]
}

function refuse({ from }: Dialogue, reason: { zh: string; en: string }): never {
  return fail('untranslatable', { field: fieldNameFor(from, 'turns'), reason })
}
