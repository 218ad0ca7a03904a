import { entriesOf, membersOf, spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { type CleanedBody, type LeavingThoughts, type PastThoughts, refusedThoughts, type SentBody } from '../past-thoughts.ts'
import { toolCallAsText, toolResultAsText } from '../tool-texts.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { isClaude, type ModelRules, rulesOf } from './models.ts'
import { openSeal } from './seals.ts'

/** Thinking blocks of earlier turns. */
export const pastThinking: PastThoughts = {
  has: (body) => thoughtsIn(body).length > 0,
  seals: (body) => thoughtsIn(body).map(sealOf),
  changes: thoughtChanges,
  without: withoutForeignThoughts,
}

/** Applies `thoughtChanges` to the caller's bytes: all unchanged parts keep their bytes. */
function withoutForeignThoughts(sent: SentBody, model: string, asked: LeavingThoughts = {}): CleanedBody | undefined {
  const changed = thoughtChanges(sent.json, model, asked)
  if (!changed) return undefined
  const { changes, dropped } = changed
  return { json: { ...sent.json, ...changes }, bytes: spliced(sent, changes), dropped }
}

/**
 * The members of a Messages request without past thinking that its vendor cannot read, because another vendor's answer was translated:
 * thinking without a signature, which Claude refuses, and encrypted thinking of others; and without thinking that the upstream has
 * refused. A last turn with calls must begin with its thinking: otherwise thinking is turned off, or, for a model that always thinks,
 * the calls and their results become text. They stay text in later requests, because thinking is bound to all that came before it.
 * Undefined when nothing has to change. Source: protocols notes 3.7.
 */
function thoughtChanges(
  json: JsonObject,
  model: string,
  asked: LeavingThoughts = {},
): { readonly changes: JsonObject; readonly dropped: readonly string[] } | undefined {
  const messages = arrayAt(json, 'messages')
  const thoughts = thoughtsIn(json)
  const refused = refusedThoughts(thoughts, sealOf, asked)
  const unreadable = new Set(thoughts.filter((thought) => refused.has(thought) || isForeign(thought, model)))
  if (unreadable.size === 0) return undefined

  const readable = messages.map((message) => {
    const blocks = blocksOf(message)
    const kept = blocks.filter((block) => !isObject(block) || !unreadable.has(block))
    return kept.length === blocks.length ? message : { ...(isObject(message) ? message : {}), content: kept }
  })
  const isCut = (message: unknown, at: number) => {
    const blocks = blocksOf(message)
    return message !== messages[at] && blocks.some(isCall) && !blocks.some(isThought)
  }
  const cut = readable.findLastIndex(isCut)
  const isLast = cut === readable.findLastIndex((message) => isObject(message) && message.role === 'assistant')
  const rules = rulesOf(model)
  const thinks = cut >= 0 && mayThink(json, model, rules)
  const isText = thinks && rules.thinkingOff !== 'absent' && rules.thinkingOff !== 'disabled'
  const isTurnedOff = thinks && !isText && isLast
  const written = isText ? callsAsText(readable, cut) : readable
  return {
    changes: {
      messages: written.filter((message) => !isObject(message) || !Array.isArray(message.content) || message.content.length > 0),
      ...(isTurnedOff ? turnedOff(json, rules) : {}),
    },
    dropped: [...(isTurnedOff ? ['thinking'] : []), ...(refused.size > 0 ? ['messages.thinking'] : [])],
  }
}

function thoughtsIn(body: JsonObject): JsonObject[] {
  return arrayAt(body, 'messages').flatMap((message) => blocksOf(message).filter(isThought))
}

function sealOf(thought: JsonObject): string {
  return textAt(thought, thought.type === 'redacted_thinking' ? 'data' : 'signature')
}

function blocksOf(message: unknown): readonly unknown[] {
  return isObject(message) ? arrayAt(message, 'content') : []
}

function isThought(block: unknown): block is JsonObject {
  return isObject(block) && (block.type === 'thinking' || block.type === 'redacted_thinking')
}

function isCall(block: unknown): block is JsonObject {
  return isObject(block) && block.type === 'tool_use'
}

/** Other vendors that speak Messages may write thoughts without a signature themselves. */
function isForeign(thought: JsonObject, model: string): boolean {
  const seal = sealOf(thought)
  return (seal === '' && isClaude(model)) || openSeal(seal).family !== 'anthropic'
}

/** Whether the request may make the model think: it enables thinking, or leaves it to a model that thinks by default. */
function mayThink({ thinking }: JsonObject, model: string, { thinking: kind, thinkingOff }: ModelRules): boolean {
  if (isObject(thinking)) return thinking.type !== 'disabled'
  return isClaude(model) && kind !== 'none' && thinkingOff !== 'absent'
}

/** The request without thinking, and without members that need it. */
function turnedOff(json: JsonObject, { thinkingOff }: ModelRules): JsonObject {
  const management = objectAt(json, 'context_management')
  const edits = arrayAt(management ?? {}, 'edits')
  const kept = edits.filter((edit) => !isObject(edit) || !textAt(edit, 'type').startsWith('clear_thinking'))
  return {
    thinking: thinkingOff === 'absent' ? undefined : { type: 'disabled' },
    ...(kept.length < edits.length ? { context_management: kept.length > 0 ? { ...management, edits: kept } : undefined } : {}),
  }
}

/** The calls of one message and their results, as text. */
function callsAsText(messages: readonly unknown[], at: number): unknown[] {
  const names = new Map(
    blocksOf(messages[at])
      .filter(isCall)
      .map((call) => [textAt(call, 'id'), textAt(call, 'name')]),
  )
  return messages.map((message, index) => {
    if (index < at || !isObject(message)) return message
    const content = blocksOf(message).flatMap((block) => {
      // A later call with the same id keeps its own result.
      if (index > at && isCall(block)) names.delete(textAt(block, 'id'))
      if (index === at && isCall(block)) return [text(toolCallAsText(textAt(block, 'name'), inputOf(block)), block)]
      const name = isObject(block) && block.type === 'tool_result' ? names.get(textAt(block, 'tool_use_id')) : undefined
      return isObject(block) && name !== undefined ? resultAsText(block, name) : [block]
    })
    return content.length === 0 ? message : { ...message, content }
  })
}

function inputOf({ input }: JsonObject): string {
  return JSON.stringify(input ?? {})
}

function resultAsText(result: JsonObject, name: string): JsonObject[] {
  const asText = (answer: string) => toolResultAsText(name, answer, result.is_error === true)
  if (typeof result.content === 'string') return [text(asText(result.content), result)]
  const shown = arrayAt(result, 'content').filter(isObject)
  const blocks = shown.map((block) =>
    block.type === 'tool_reference' ? { type: 'text', text: `The tool ${textAt(block, 'tool_name')} is available.` } : block,
  )
  return [
    text(asText('').trimEnd(), {}),
    ...blocks.slice(0, -1),
    ...blocks.slice(-1).map((block) => ({ ...block, ...cacheMark(result) })),
  ]
}

function text(value: string, from: JsonObject): JsonObject {
  return { type: 'text', text: value, ...cacheMark(from) }
}

function cacheMark({ cache_control: mark }: JsonObject): JsonObject {
  return mark === undefined ? {} : { cache_control: mark }
}

/** The changed members in the caller's bytes. Unchanged messages and blocks keep their bytes. */
function spliced({ json, bytes }: SentBody, { messages, ...others }: JsonObject): Buffer {
  const member = membersOf(bytes)?.findLast(({ key }) => key === 'messages')
  const before = arrayAt(json, 'messages')
  const known = new Map<unknown, string>()
  const places = (member && entriesOf(bytes, member.valueStart)) ?? []
  for (const [at, message] of before.entries()) {
    const place = places[at]
    if (!place) continue
    const whole = bytes.subarray(place.start, place.end)
    known.set(message, whole.toString())
    const content = membersOf(whole)?.findLast(({ key }) => key === 'content')
    const blocks = (content && entriesOf(whole, content.valueStart)) ?? []
    for (const [index, block] of blocksOf(message).entries()) {
      const part = blocks[index]
      if (part) known.set(block, whole.toString('utf8', part.start, part.end))
    }
  }
  const written = (value: unknown): string => known.get(value) ?? JSON.stringify(value)
  const entries = (Array.isArray(messages) ? messages : []).map((message: unknown) => {
    if (known.has(message) || !isObject(message)) return written(message)
    const { content, ...rest } = message
    const members = Object.entries(rest).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
    return `{${[...members, `"content":[${(Array.isArray(content) ? content : []).map(written).join(',')}]`].join(',')}}`
  })
  const values = Object.entries(others).map(([key, value]) => [key, value === undefined ? undefined : JSON.stringify(value)])
  return spliceMembers(bytes, { ...Object.fromEntries(values), messages: `[${entries.join(',')}]` })
}
