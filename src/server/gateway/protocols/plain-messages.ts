import { fail } from '../../base/lib/failure.ts'
import { withoutBillingLine } from './anthropic-messages/billing-line.ts'
import type { Quirks, RequestContext } from './codec.ts'
import type { Dialogue, MediaPart, Part, TextPart, ToolCallPart, ToolResultPart, Turn } from './dialogue.ts'
import { fieldNameFor } from './lost-fields.ts'
import { toolCallAsText, toolResultAsText } from './tool-texts.ts'
import { endingAnswerably, type LastTurn, mergeTurns, repairToolResults } from './turns.ts'

/** The messages of a conversation as most vendors have them: one text each, with media, calls or the result of one call. */
export type PlainMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly parts: readonly (TextPart | MediaPart)[] }
  | { readonly role: 'assistant'; readonly text: string; readonly reasoning: string; readonly calls: readonly ToolCallPart[] }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly text: string }

interface PlainRule {
  /** The valid positions of instructions: anywhere, only at the head, or never, so that they become user text. */
  readonly system: 'anywhere' | 'head' | 'never'
  /** Whether tool calls and results have their own members; otherwise they become text. */
  readonly tools: boolean
  readonly lastTurn: LastTurn
}

/**
 * The turns as plain messages. Calls and results are matched, and consecutive turns of one role are one message; media of a tool
 * result follow in a user message, as a tool message holds only text. Throws `untranslatable` for the beginning of an answer that the
 * model does not continue. Source: protocols notes 3.1 to 3.4.
 */
export function plainMessages(dialogue: Dialogue, context: Pick<RequestContext, 'lose'>, rule: PlainRule): PlainMessage[] {
  const instructions = dialogue.system.map(({ text }) => ({ text: withoutBillingLine(text) }))
  const head = joinedText(instructions, '\n\n')
  const turns = dialogue.turns.map((turn) => (turn.role === 'system' && rule.system !== 'anywhere' ? reminded(turn) : turn))
  const leading: Turn[] = head !== '' && rule.system === 'never' ? [{ role: 'user', parts: [text(head)] }] : []
  const repaired = repairToolResults([...leading, ...turns])
  const merged = mergeTurns(rule.tools ? repaired : repaired.map(withCallsAsText))

  const messages = endingAnswerably(dialogue, context, { turns: merged, takes: rule.lastTurn }).flatMap(messagesOf)
  return head !== '' && rule.system !== 'never' ? [{ role: 'system', text: head }, ...messages] : messages
}

/** The text of a user message, without its media. */
export function userText(parts: readonly (TextPart | MediaPart)[]): string {
  return joinedText(
    parts.flatMap((part) => (part.kind === 'text' ? [part] : textOfDocument(part))),
    '\n',
  )
}

/** Media of a message that are not plain text. */
export function mediaOf(parts: readonly (TextPart | MediaPart)[]): MediaPart[] {
  return parts.filter((part) => part.kind === 'media').filter((part) => part.source.kind !== 'text')
}

/** Whether the upstream wants reasoning of earlier turns back. */
export function replaysReasoning({ replayReasoning }: Quirks, calls: readonly ToolCallPart[]): boolean {
  return replayReasoning === 'always' || (replayReasoning === 'tool-turns' && calls.length > 0)
}

/** For formats that accept no media of this kind. Throws `untranslatable`. */
export function refuseMedia({ from }: Dialogue, { media, source }: MediaPart): never {
  const kinds = { image: '图片', audio: '音频', video: '视频', document: '文件' } as const
  const way = source.kind === 'file' ? { zh: '（文件编号）', en: ' by file id' } : { zh: '', en: '' }
  return fail('untranslatable', {
    field: fieldNameFor(from, 'turns'),
    reason: { zh: `该协议不接受${kinds[media]}${way.zh}`, en: `that protocol takes no ${media}${way.en}` },
  })
}

/** The text of a user message, for formats that accept no media. Throws `untranslatable`. */
export function onlyText(dialogue: Dialogue, parts: readonly (TextPart | MediaPart)[]): string {
  const [media] = mediaOf(parts)
  return media ? refuseMedia(dialogue, media) : userText(parts)
}

/** For vendors that accept media only by URL. Throws `untranslatable`. */
export function refuseBytes({ from }: Dialogue, vendor: string): never {
  return fail('untranslatable', {
    field: fieldNameFor(from, 'turns'),
    reason: { zh: `${vendor} 只接受以网址给出的文件`, en: `${vendor} takes files by their address only` },
  })
}

/** For formats that require a message: a request with instructions alone is refused. Throws `untranslatable`. */
export function requireMessage({ from }: Dialogue, messages: readonly PlainMessage[]): void {
  if (messages.some(({ role }) => role !== 'system')) return
  fail('untranslatable', {
    field: fieldNameFor(from, 'turns'),
    reason: { zh: '没有任何内容', en: 'nothing is said in them' },
  })
}

/** Starts the conversation with a user message, for formats that require it. */
export function startingWithUser(messages: readonly PlainMessage[]): PlainMessage[] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  if (messages[first]?.role === 'user') return [...messages]
  return messages.toSpliced(Math.max(first, 0), 0, { role: 'user', parts: [text('.')] })
}

/** Inserts an assistant message between a tool result and a user message, for formats that require one there. */
export function apartFromTools(messages: readonly PlainMessage[]): PlainMessage[] {
  return messages.flatMap((message, at): PlainMessage[] =>
    message.role === 'user' && messages[at - 1]?.role === 'tool'
      ? [{ role: 'assistant', text: '.', reasoning: '', calls: [] }, message]
      : [message],
  )
}

function messagesOf({ role, parts }: Turn): PlainMessage[] {
  if (role === 'system') return [{ role, text: joinedText(parts.filter(isText), '\n\n') }]
  if (role === 'assistant') {
    const calls = parts.filter((part) => part.kind === 'tool-call')
    const reasoning = parts.flatMap((part) => (part.kind === 'reasoning' && part.text !== '' ? [part.text] : [])).join('\n\n')
    const text = spokenText(parts)
    return text === '' && calls.length === 0 ? [] : [{ role, text, reasoning, calls }]
  }
  const results = parts.filter((part) => part.kind === 'tool-result')
  const visible = parts.filter((part) => part.kind === 'text' || part.kind === 'media').filter(hasContent)
  const shown = [...results.flatMap((result) => result.parts.filter((part) => part.kind === 'media')), ...visible]
  return [
    ...results.map((result) => ({
      role: 'tool' as const,
      callId: result.callId,
      name: result.name ?? '',
      text: resultText(result),
    })),
    ...(shown.length > 0 ? [{ role, parts: shown }] : []),
  ]
}

/** A tool result as text, with a prefix for errors, since these formats have no flag for them. */
function resultText({ parts, isError }: ToolResultPart): string {
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [`[${part.media} attached]`])).join('\n')
  return isError ? `Error: ${text}` : text
}

/** Joins consecutive parts of one kind; a blank line separates all other texts. */
function spokenText(parts: readonly Part[]): string {
  let text = ''
  let before: Part | undefined
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'refusal') {
      const isApart = text !== '' && before !== undefined && before.kind !== part.kind
      text += (isApart ? '\n\n' : '') + part.text
    }
    before = part
  }
  return text
}

/** Instructions within the conversation as user text, for formats that do not allow them there. */
function reminded({ parts }: Turn): Turn {
  return { role: 'user', parts: [text(`<system-reminder>\n${joinedText(parts.filter(isText), '\n\n')}\n</system-reminder>`)] }
}

function withCallsAsText(turn: Turn): Turn {
  const parts = turn.parts.flatMap((part, at): Part[] => {
    const line = at > 0 ? '\n' : ''
    if (part.kind === 'tool-call') return [text(line + toolCallAsText(part.name, part.input))]
    if (part.kind !== 'tool-result') return [part]
    const media = part.parts.filter((inner) => inner.kind === 'media')
    return [text(line + toolResultAsText(part.name ?? '', resultText(part))), ...media]
  })
  return { ...turn, parts }
}

function text(value: string): TextPart {
  return { kind: 'text', text: value }
}

function joinedText(parts: readonly { readonly text: string }[], between: string): string {
  return parts.flatMap(({ text }) => (text === '' ? [] : [text])).join(between)
}

function textOfDocument({ source, title }: MediaPart): TextPart[] {
  return source.kind === 'text' ? [text(title ? `${title}:\n${source.text}` : source.text)] : []
}

function isText(part: Part): part is TextPart {
  return part.kind === 'text'
}

function hasContent(part: TextPart | MediaPart): boolean {
  return part.kind === 'media' || part.text !== ''
}
