import { fail } from '../../../base/lib/failure.ts'
import { withoutBillingLine } from '../anthropic-messages/billing-line.ts'
import { callIdFor } from '../call-ids.ts'
import type { CacheMark, MediaPart, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart, Turn } from '../dialogue.ts'
import { callText } from '../function-tools.ts'
import { fieldNameFor } from '../lost-fields.ts'
import { writeDataUrl } from '../media.ts'
import { refuseMedia } from '../plain-messages.ts'
import { endingAnswerably, repairToolResults } from '../turns.ts'
import type { JsonObject } from '../wire-format.ts'
import type { Writing } from './writing.ts'

interface InputRule {
  /** Whether free-text tools are supported. */
  readonly keepsCustom: boolean
  /** Additional instructions. */
  readonly instructions: readonly string[]
}

/**
 * Instructions and turns as instructions and input items. Ids of items are left out, because only their vendor knows them; calls
 * and results are matched. Throws `untranslatable` for media for which the format has no part, and for a prefilled answer. Source:
 * protocols notes 3.1 to 3.4 and 3.7.
 */
export function writeInput(writing: Writing, rule: InputRule): { instructions: string | undefined; input: JsonObject[] } {
  const { dialogue, quirks, rules } = writing
  const { system, turns, from } = dialogue
  const head = system.map(({ text }) => withoutBillingLine(text)).filter((text) => text !== '')
  const role = quirks.systemRole ?? rules.systemRole ?? 'system'
  const ended = endingAnswerably(dialogue, writing, { turns: repairToolResults(turns), takes: 'complete' })
  const items = ended.flatMap((turn) => writeTurn(writing, rule, turn, role))
  const messages = rule.instructions.map((text) => message(role, [{ type: 'input_text', text }]))

  if (items.length > 0) return { instructions: head.length > 0 ? head.join('\n\n') : undefined, input: [...messages, ...items] }
  if (head.length > 0)
    return {
      instructions: undefined,
      input: [
        message(
          role,
          head.map((text) => ({ type: 'input_text', text })),
        ),
      ],
    }
  return fail('untranslatable', {
    field: fieldNameFor(from, 'turns'),
    reason: { zh: '没有任何内容', en: 'there is nothing in it' },
  })
}

function writeTurn(writing: Writing, rule: InputRule, turn: Turn, systemRole: string): JsonObject[] {
  const { parts, name } = turn
  if (turn.role === 'assistant') {
    if (name) writing.lose('messages.name')
    return writeAssistant(writing, rule, parts)
  }
  const results = parts.filter((part) => part.kind === 'tool-result')
  const spoken = parts.filter((part) => part.kind === 'text' || part.kind === 'media')
  const content = spoken.flatMap((part, at) => writePart(writing, at === 0 && name ? named(part, name) : part))
  const role = turn.role === 'system' ? systemRole : 'user'
  return [...results.map((result) => writeResult(writing, rule, result)), ...(content.length > 0 ? [message(role, content)] : [])]
}

/**
 * Items in the order of the parts. Reasoning is sent back only in encrypted form, and never as the last item of a turn, which the
 * vendor would refuse.
 */
function writeAssistant(writing: Writing, rule: InputRule, parts: readonly Part[]): JsonObject[] {
  const items: JsonObject[] = []
  let content: JsonObject[] = []
  const endMessage = () => {
    if (content.length > 0) items.push(message('assistant', content))
    content = []
  }
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'refusal') {
      if (part.text === '') continue
      const isText = part.kind === 'text'
      content.push(isText ? { type: 'output_text', text: part.text } : { type: 'refusal', refusal: part.text })
      continue
    }
    endMessage()
    if (part.kind === 'reasoning') items.push(...writeReasoning(part))
    if (part.kind === 'tool-call') items.push(writeCall(writing, rule, part))
    // An image that the model generated can only be sent back to it in a user message.
    if (part.kind === 'media') items.push(message('user', writePart(writing, part)))
  }
  endMessage()
  return items.slice(0, items.findLastIndex((item) => item.type !== 'reasoning') + 1)
}

function writeReasoning({ text, opaque }: ReasoningPart): JsonObject[] {
  if (opaque?.family !== 'openai' || opaque.kind !== 'encrypted') return []
  const summary = text === '' ? [] : [{ type: 'summary_text', text }]
  return [{ type: 'reasoning', summary, encrypted_content: opaque.value }]
}

function writeCall({ names }: Writing, { keepsCustom }: InputRule, part: ToolCallPart): JsonObject {
  const call = { call_id: callIdFor(part.callId, 'chat'), name: names.toUpstream(part.name) }
  if (part.isCustom && keepsCustom) return { type: 'custom_tool_call', ...call, input: part.input }
  return { type: 'function_call', ...call, arguments: callText(part) }
}

function writeResult(writing: Writing, { keepsCustom }: InputRule, part: ToolResultPart): JsonObject {
  const type = part.isCustom && keepsCustom ? 'custom_tool_call_output' : 'function_call_output'
  return { type, call_id: callIdFor(part.callId, 'chat'), output: writeOutput(writing, part) }
}

/** A string if the output is only text without a prompt-cache breakpoint; an error is marked in the text, since the format has no flag for it. */
function writeOutput(writing: Writing, { parts: inside, isError, cache }: ToolResultPart): unknown {
  const mark = isError ? 'Error: ' : ''
  const parts = cache ? inside.map((part, at) => (at === inside.length - 1 ? { ...part, cache } : part)) : inside
  const isMarked = writing.rules.takesCacheBreakpoints === true && parts.some((part) => part.cache !== undefined)
  const texts = parts.filter((part) => part.kind === 'text')
  if (!isMarked && texts.length === parts.length) return mark + texts.map(({ text }) => text).join('\n')
  const content = parts.flatMap((part) => writePart(writing, part))
  return isError ? [{ type: 'input_text', text: mark.trim() }, ...content] : content
}

function writePart(writing: Writing, part: TextPart | MediaPart): JsonObject[] {
  const { dialogue, rules } = writing
  const mark = part.cache && rules.takesCacheBreakpoints ? { prompt_cache_breakpoint: breakpoint(part.cache) } : {}
  if (part.kind === 'text') return part.text === '' ? [] : [{ type: 'input_text', text: part.text, ...mark }]
  const { media, source, title } = part
  const isForeign = source.kind === 'file' && source.family !== 'openai'
  if (isForeign || media === 'audio' || media === 'video') return refuseMedia(dialogue, part)

  if (title && (media === 'image' || source.kind === 'file' || source.kind === 'url')) writing.loseField('title')
  if (media === 'image') {
    const place = source.kind === 'file' ? { file_id: source.id } : { image_url: writeDataUrl(source) }
    return [{ type: 'input_image', ...place, detail: part.detail ?? 'auto', ...mark }]
  }
  const detail = part.detail === 'low' || part.detail === 'high' ? { detail: part.detail } : {}
  if (source.kind === 'file') return [{ type: 'input_file', file_id: source.id, ...detail, ...mark }]
  if (source.kind === 'url') return [{ type: 'input_file', file_url: source.url, ...detail, ...mark }]
  const filename = title ?? `document.${endings.get(source.mediaType) ?? 'pdf'}`
  return [{ type: 'input_file', filename, file_data: writeDataUrl(source), ...detail, ...mark }]
}

const endings: ReadonlyMap<string, string> = new Map([
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['application/json', 'json'],
])

function breakpoint({ ttl }: CacheMark): JsonObject {
  return { mode: 'explicit', ...(ttl === '1h' ? { ttl: '12h' } : {}) }
}

function named(part: TextPart | MediaPart, name: string): TextPart | MediaPart {
  return part.kind === 'text' ? { ...part, text: `${name}: ${part.text}` } : part
}

function message(role: string, content: readonly JsonObject[]): JsonObject {
  return { type: 'message', role, content }
}
