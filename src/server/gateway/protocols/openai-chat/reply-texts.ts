import { groupsOf, type Path, type ReplyTexts, type SeenEvents, slotsAt, type TextSlot } from '../text-slots.ts'
import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'
import { writeChatUsage } from './usage.ts'

/** Texts of Chat Completions: those of each choice, with its reasoning under both member names. */
export const chatTexts: ReplyTexts = {
  inEvent: (data) => choicesOf(data).flatMap(({ choice, group, at }) => messageSlots(choice, 'delta', at, group)),
  inReply: (reply) => choicesOf(reply).flatMap(({ choice, at }) => messageSlots(choice, 'message', at, undefined)),
  closedBy: (data) =>
    choicesOf(data)
      .filter(({ choice }) => isFinished(choice) || callsTools(objectAt(choice, 'delta') ?? {}))
      .map(({ group }) => group),
  unfinished: unfinishedChoices,
  stoppedReply: filteredChoices,
  stoppedEvents: (seen) => stoppedChoices(seen, { delta: {} }),
}

/** Texts of the legacy Completions: one in each choice. */
export const completionsTexts: ReplyTexts = {
  inEvent: (data) =>
    choicesOf(data).flatMap(({ choice, group, at }) => slotsAt(choice, ['choices', at], ['text'], textIdIn(group))),
  inReply: (reply) => choicesOf(reply).flatMap(({ choice, at }) => slotsAt(choice, ['choices', at], ['text'], () => undefined)),
  closedBy: (data) =>
    choicesOf(data)
      .filter(({ choice }) => isFinished(choice))
      .map(({ group }) => group),
  unfinished: unfinishedChoices,
  stoppedReply: filteredChoices,
  stoppedEvents: (seen) => stoppedChoices(seen, { text: '', logprobs: null }),
}

function choicesOf(data: JsonObject): { choice: JsonObject; group: string; at: number }[] {
  return arrayAt(data, 'choices').flatMap((choice, at) =>
    isObject(choice) ? [{ choice, group: String(typeof choice.index === 'number' ? choice.index : at), at }] : [],
  )
}

function messageSlots(choice: JsonObject, member: 'delta' | 'message', at: number, group: string | undefined): TextSlot[] {
  const message = objectAt(choice, member)
  if (!message) return []
  const path = ['choices', at, member]
  const textIdOf = group === undefined ? () => undefined : textIdIn(group)
  const parts = arrayAt(message, 'content').flatMap((part, index) =>
    partSlots(part, [...path, 'content', index], () => textIdOf('content')),
  )
  return [...slotsAt(message, path, ['reasoning_content', 'reasoning', 'content', 'refusal'], textIdOf), ...parts]
}

/** A part is a text, or has one; the thinking of Mistral is a text or a list of texts. */
function partSlots(part: unknown, path: Path, textIdOf: (key: string) => string | undefined): TextSlot[] {
  if (typeof part === 'string') return [{ path, text: part, textId: textIdOf('content') }]
  if (!isObject(part)) return []
  const thoughts = arrayAt(part, 'thinking').flatMap((piece, index) =>
    slotsAt(piece, [...path, 'thinking', index], ['text'], textIdOf),
  )
  return [...slotsAt(part, path, ['thinking', 'text'], textIdOf), ...thoughts]
}

function textIdIn(group: string): (key: string) => string {
  return (key) => `${group}/${key}`
}

function isFinished({ finish_reason }: JsonObject): boolean {
  return typeof finish_reason === 'string' && finish_reason !== ''
}

function callsTools(delta: JsonObject): boolean {
  return arrayAt(delta, 'tool_calls').length > 0 || isObject(delta.function_call)
}

function unfinishedChoices(data: JsonObject): JsonObject {
  const choices = arrayAt(data, 'choices').map((choice) => (isObject(choice) ? { ...choice, finish_reason: null } : choice))
  return { ...data, choices }
}

function filteredChoices(reply: JsonObject): JsonObject {
  const filtered = { finish_reason: 'content_filter' }
  return {
    ...reply,
    choices: arrayAt(reply, 'choices').map((choice) => (isObject(choice) ? { ...choice, ...filtered } : choice)),
  }
}

function stoppedChoices({ last, texts, usage, wantsUsage }: SeenEvents, empty: JsonObject): JsonObject[] {
  const { choices: _choices, usage: _usage, ...head } = last
  const choices = groupsOf(texts).map((group) => ({ index: Number(group), ...empty, finish_reason: 'content_filter' }))
  return [{ ...head, choices }, ...(wantsUsage ? [{ ...head, choices: [], usage: writeChatUsage(usage) }] : [])]
}
