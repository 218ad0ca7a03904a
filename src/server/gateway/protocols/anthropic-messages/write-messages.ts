import { fail } from '../../../base/lib/failure.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, Part, TextPart, Turn } from '../dialogue.ts'
import { fieldNameFor } from '../lost-fields.ts'
import { endingAnswerably, mergeTurns, repairToolResults } from '../turns.ts'
import type { Block } from './cache-marks.ts'
import type { ModelRules } from './models.ts'
import type { Thinking } from './thinking.ts'
import { writeBlock } from './write-blocks.ts'

interface Message {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: Block[]
}

interface Facts {
  readonly rules: ModelRules
  readonly thinking: Thinking
  toUpstream(name: string): string
}

/**
 * The turns as messages that alternate, begin with the user and have tool results first. Empty messages are left out. A model that
 * thinks does not continue a beginning of its answer. Throws `untranslatable` when nothing remains, or the answer is prefilled for a
 * model that does not support it. Source: protocols notes 3.1 to 3.4.
 */
export function writeMessages(dialogue: Dialogue, context: RequestContext, facts: Facts): Message[] {
  const filled = withoutEmptyParts(dialogue.turns, facts.rules)
  const placed = placedSystemTurns(mergeTurns(repairToolResults(filled)), facts.rules)
  const takes = facts.rules.takesPrefill && !facts.thinking.isOn ? 'begins' : 'refused'
  const turns = endingAnswerably(dialogue, context, { turns: placed, takes })
  if (turns.length === 0) refuse(dialogue, { zh: '没有任何内容', en: 'nothing is said in them' })
  const messages = turns.map(({ role, parts }) => ({
    role,
    content: parts.map((part) => writeBlock(part, role, { dialogue, context, toUpstream: facts.toUpstream })),
  }))
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', content: [placeholder()] })
  trimPrefill(messages)
  return messages
}

/** The turns with the parts that the vendor accepts. A user turn that becomes empty is ".", unless it has a neighbour. */
function withoutEmptyParts(turns: readonly Turn[], rules: ModelRules): Turn[] {
  const kept = turns.map((turn) => ({ ...turn, parts: turn.parts.filter((part) => isSaid(part, turn.role, rules)) }))
  if (kept.every(({ parts }) => parts.length === 0)) return []
  return kept.flatMap((turn, at) => {
    if (turn.parts.length > 0) return [turn]
    const isBesideUser = turns[at - 1]?.role === 'user' || turns[at + 1]?.role === 'user'
    return turn.role === 'user' && !isBesideUser ? [{ ...turn, parts: [{ kind: 'text' as const, text: '.' }] }] : []
  })
}

/**
 * Whether the vendor accepts a part: no blank text, only reasoning that its own family signed or encrypted, and only text in
 * instructions.
 */
function isSaid(part: Part, role: Turn['role'], { thinking }: ModelRules): boolean {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text.trim() !== ''
    case 'reasoning':
      return role === 'assistant' && thinking !== 'none' && part.opaque?.family === 'anthropic'
    case 'tool-call':
      return role === 'assistant'
    default:
      return role !== 'system'
  }
}

/**
 * Instructions in the middle keep their position where the model accepts them: after a user turn, and before an assistant turn or
 * the end. Everywhere else they become a reminder in user text.
 */
function placedSystemTurns(turns: readonly Turn[], { takesSystemTurns }: ModelRules): Turn[] {
  const placed = turns.map((turn, at) => {
    if (turn.role !== 'system') return turn
    const next = turns[at + 1]?.role
    return takesSystemTurns && turns[at - 1]?.role === 'user' && next !== 'user' ? turn : reminder(turn)
  })
  return mergeTurns(placed)
}

function reminder({ parts }: Turn): Turn {
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n')
  const cache = parts.findLast((part): part is TextPart => part.kind === 'text')?.cache
  const reminded: TextPart = { kind: 'text', text: `<system-reminder>\n${text}\n</system-reminder>`, ...(cache ? { cache } : {}) }
  return { role: 'user', parts: [reminded] }
}

/** The beginning of the answer must not end in white space. */
function trimPrefill(messages: readonly Message[]): void {
  const last = messages.at(-1)
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined
  if (typeof block?.text === 'string') block.text = block.text.trimEnd()
}

function placeholder(): Block {
  return { type: 'text', text: '.' }
}

function refuse({ from }: Dialogue, reason: { zh: string; en: string }): never {
  return fail('untranslatable', { field: fieldNameFor(from, 'turns'), reason })
}
