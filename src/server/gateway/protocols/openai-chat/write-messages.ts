import { withoutBillingLine } from '../anthropic-messages/billing-line.ts'
import { callIdFor } from '../call-ids.ts'
import type { MediaPart, Part, TextPart, ToolResultPart, Turn } from '../dialogue.ts'
import { resultMark } from '../lost-fields.ts'
import { endingAnswerably, type LastTurn, mergeTurns, repairToolResults } from '../turns.ts'
import type { JsonObject } from '../wire-format.ts'
import { writeAssistant } from './write-assistant.ts'
import { textsOf, writeCacheMark, writeContent } from './write-parts.ts'
import type { Writing } from './writing.ts'

/**
 * The messages of a request: instructions, to which `instructions` are added, then the turns. Tool results become separate messages;
 * images in them, or by an assistant, are moved to the next user message, the only place for them. Source: protocols notes 3.1 to 3.4.
 */
export function writeMessages(writing: Writing, instructions: readonly string[], keepsCustom: boolean): JsonObject[] {
  const { dialogue, quirks, rules } = writing
  const added = instructions.map((text): TextPart => ({ kind: 'text', text }))
  const told = dialogue.system.map((part) => ({ ...part, text: withoutBillingLine(part.text) }))
  const system = [...told.filter(({ text }) => text !== ''), ...added]
  const role = quirks.systemRole ?? rules.systemRole ?? 'system'
  const inUserTurn: Turn[] = role === 'user' && system.length > 0 ? [{ role: 'user', parts: system }] : []
  const ended = endingAnswerably(dialogue, writing, { turns: repairToolResults(dialogue.turns), takes: lastTurnOf(writing) })
  const turns = inOrder([...inUserTurn, ...ended], writing)
  const isBegun = turns.at(-1)?.role === 'assistant' && dialogue.beginsAnswer === true

  const messages: JsonObject[] = role !== 'user' && system.length > 0 ? [{ role, content: writeContent(system, writing) }] : []
  let images: MediaPart[] = []
  for (const turn of turns) {
    if (turn.role === 'assistant') {
      images = [...images, ...mediaIn(turn.parts)]
      messages.push(...writeAssistant(turn, writing, keepsCustom))
    } else if (turn.role === 'system') {
      messages.push({ role, content: writeContent(sayable(turn.parts), writing) })
    } else {
      messages.push(...writeUser(turn, images, writing))
      images = []
    }
  }
  if (images.length > 0) return [...messages, { role: 'user', content: writeContent(images, writing) }]
  return isBegun
    ? messages.map((message, at) => (at === messages.length - 1 ? { ...message, ...begun(quirks) } : message))
    : messages
}

/**
 * Some hosts require alternating roles, the user first, and an assistant between a tool result and the user. They accept
 * instructions only at the head: later ones become user text.
 */
function inOrder(turns: readonly Turn[], { quirks }: Writing): readonly Turn[] {
  if (!quirks.strictTurns) return turns
  const merged = mergeTurns(turns.map((turn) => (turn.role === 'system' ? { ...turn, role: 'user' } : turn)))
  const begun: Turn[] = merged[0]?.role === 'assistant' ? [filler('user'), ...merged] : merged
  return begun.flatMap((turn) => {
    const results = turn.parts.filter((part) => part.kind === 'tool-result')
    const others = [
      ...results.flatMap((result) => mediaIn(result.parts)),
      ...turn.parts.filter((part) => part.kind !== 'tool-result'),
    ]
    if (results.length === 0 || others.length === 0) return [turn]
    const noted = results.map((result) => ({ ...result, parts: withImageNotes(result.parts) }))
    return [{ ...turn, parts: noted }, filler('assistant'), { ...turn, parts: others }]
  })
}

function filler(role: Turn['role']): Turn {
  return { role, parts: [{ kind: 'text', text: '.' }] }
}

/**
 * Hosts differ in what they do with a last assistant message: some take it for complete, some continue it, others refuse it. A caller
 * of Chat knows the host; for callers of other formats the conversation ends with the user everywhere.
 */
function lastTurnOf({ dialogue: { beginsAnswer }, quirks, isOwn }: Writing): LastTurn {
  if (beginsAnswer && quirks.prefill) return 'begins'
  return isOwn && !quirks.strictTurns ? 'complete' : 'refused'
}

function begun({ prefill }: Writing['quirks']): JsonObject {
  return prefill ? { [prefill]: true } : {}
}

/** The tool results, each a message, then the rest of the turn, preceded by images that have no place elsewhere. */
function writeUser({ parts, name }: Turn, images: readonly MediaPart[], writing: Writing): JsonObject[] {
  const results = parts.filter((part) => part.kind === 'tool-result')
  const content = [...images, ...results.flatMap((result) => mediaIn(result.parts)), ...sayable(parts)]
  const messages: JsonObject[] = results.map((result) => writeResult(result, writing))
  if (content.length > 0) messages.push({ role: 'user', content: writeContent(content, writing), ...(name ? { name } : {}) })
  return messages
}

function writeResult(result: ToolResultPart, writing: Writing): JsonObject {
  const parts = withImageNotes(result.parts)
  const text = textsOf(parts).join('\n')
  const content = result.isError ? `Error: ${text}` : text
  const mark = writeCacheMark({ cache: resultMark({ ...result, parts }) }, writing, 'part')
  return {
    role: 'tool',
    tool_call_id: callIdFor(result.callId, writing.quirks.callIds ?? 'chat'),
    content: Object.keys(mark).length > 0 && content !== '' ? [{ type: 'text', text: content, ...mark }] : content,
  }
}

/** Writes a placeholder for content other than text. */
function withImageNotes(parts: ToolResultPart['parts']): TextPart[] {
  return parts.map((part) => (part.kind === 'text' ? part : { kind: 'text', text: `[${part.media} attached]` }))
}

function mediaIn(parts: readonly Part[]): MediaPart[] {
  return parts.filter((part) => part.kind === 'media')
}

function sayable(parts: readonly Part[]): (TextPart | MediaPart)[] {
  return parts.filter((part): part is TextPart | MediaPart => part.kind === 'media' || (part.kind === 'text' && part.text !== ''))
}
