import { callIdFor } from '../call-ids.ts'
import type { Opaque, ReasoningPart, ToolCallPart, Turn } from '../dialogue.ts'
import { callText } from '../function-tools.ts'
import type { JsonObject } from '../wire-format.ts'
import { openedDetails } from './read-past-reasoning.ts'
import { textsOf } from './write-parts.ts'
import type { Writing } from './writing.ts'

/**
 * An earlier turn of the model: its text, its calls, and its reasoning where the host requires it. Undefined when none of it can be
 * expressed. Source: protocols notes 2.2 and 3.7, edge cases 158, 159, 267 and 269.
 */
export function writeAssistant(turn: Turn, writing: Writing, keepsCustom: boolean): JsonObject[] {
  const { parts, name } = turn
  const calls = parts.filter((part) => part.kind === 'tool-call')
  const thoughts = parts.filter((part) => part.kind === 'reasoning')
  const refusals = parts.flatMap((part) => (part.kind === 'refusal' ? [part.text] : []))
  const keepsRefusal = writing.rules.isOpenAi === true && refusals.length > 0
  const text = [...textsOf(parts), ...(keepsRefusal ? [] : refusals)].join('')
  const { content, members } = writeThoughts(thoughts, calls, text, writing)
  const isEmpty = content === '' && calls.length === 0 && !keepsRefusal
  if (isEmpty && Object.keys(members).length === 0) return []

  return [
    {
      role: 'assistant',
      content: content === '' && (calls.length > 0 || keepsRefusal) ? null : content,
      ...(keepsRefusal ? { refusal: refusals.join('') } : {}),
      ...members,
      ...(calls.length > 0
        ? { tool_calls: calls.map((call, at) => writeCall(call, writing, { keepsCustom, isFirst: at === 0 })) }
        : {}),
      ...(name ? { name } : {}),
    },
  ]
}

function writeCall(
  call: ToolCallPart,
  { model, quirks, names }: Writing,
  { keepsCustom, isFirst }: { readonly keepsCustom: boolean; readonly isFirst: boolean },
): JsonObject {
  const id = callIdFor(call.callId, quirks.callIds ?? 'chat')
  const name = names.toUpstream(call.name)
  if (call.isCustom && keepsCustom) return { id, type: 'custom', custom: { name, input: call.input } }
  const own = /gemini/i.test(model) && call.opaque?.family === 'google' ? call.opaque.value : undefined
  const signature = own ?? (isFirst ? quirks.lostSignature : undefined)
  return {
    id,
    type: 'function',
    function: { name, arguments: callText(call) },
    ...(signature ? { extra_content: { google: { thought_signature: signature } } } : {}),
  }
}

/** Reasoning where the host expects it: next to the text or, between tags, in the text. */
function writeThoughts(
  thoughts: readonly ReasoningPart[],
  calls: readonly ToolCallPart[],
  text: string,
  { model, quirks, dialogue }: Writing,
): { content: string; members: JsonObject } {
  const thought = thoughts.map((part) => part.text).join('')
  const isWanted = quirks.replayReasoning === 'always' || (quirks.replayReasoning === 'tool-turns' && calls.length > 0)
  const states = [...thoughts, ...calls].flatMap(({ opaque }) => (opaque ? [opaque] : []))
  if (isWanted && quirks.thinkTags) {
    return { content: thought === '' ? text : `<think>\n${thought}\n</think>\n\n${text}`, members: {} }
  }

  const isDetailed = quirks.thinkingSwitch === 'reasoning-object'
  const spoken = thought === '' ? placeholder(quirks, isDetailed, dialogue.tools.length > 0) : thought
  const details = isDetailed ? states.map(openedDetails).findLast((list) => list !== undefined) : undefined
  const members = {
    ...(isWanted && spoken !== undefined ? { [isDetailed ? 'reasoning' : 'reasoning_content']: spoken } : {}),
    ...(details ? { reasoning_details: details } : {}),
    ...(/claude/i.test(model) && !isDetailed ? writeThinkingBlocks(thoughts) : {}),
  }
  return { content: text, members }
}

/** The text for lost reasoning. An empty text is none at hosts with a list of details, which need one only with tools. */
function placeholder({ emptyReasoning }: Writing['quirks'], isDetailed: boolean, hasTools: boolean): string | undefined {
  if (!isDetailed || emptyReasoning === undefined) return emptyReasoning
  return hasTools ? ' ' : undefined
}

/** Signed thinking, for a Claude model of a host with this format. */
function writeThinkingBlocks(thoughts: readonly ReasoningPart[]): JsonObject {
  const blocks = thoughts.flatMap(({ text, opaque }) =>
    opaque?.family === 'anthropic' ? [writeThinkingBlock(text, opaque)] : [],
  )
  return blocks.length > 0 ? { thinking_blocks: blocks } : {}
}

export function writeThinkingBlock(text: string, { kind, value }: Opaque): JsonObject {
  return kind === 'redacted' ? { type: 'redacted_thinking', data: value } : { type: 'thinking', thinking: text, signature: value }
}
