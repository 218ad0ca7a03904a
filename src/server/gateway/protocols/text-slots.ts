import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from './wire-format.ts'

/** A text in an event or in a whole reply, and its path. */
export interface TextSlot {
  readonly path: Path
  readonly text: string
  /** `<group>/<kind>` of the text that this slot is a piece of; undefined for a complete text. */
  readonly textId: string | undefined
}

export type Path = readonly (string | number)[]

/**
 * Locates a model's text in a format: to check it before it reaches the caller, and to end a reply that contains listed words. Only
 * text for people: answers, reasoning and refusals, not tool input.
 */
export interface ReplyTexts {
  inEvent(data: JsonObject): TextSlot[]
  /** The groups of texts that are complete with this event; '' for all. */
  closedBy(data: JsonObject): readonly string[]
  inReply(reply: JsonObject): TextSlot[]
  /** The event without the member that marks the reply as complete. */
  unfinished(data: JsonObject): JsonObject
  /** A complete (non-streamed) reply, marked as stopped by the content filter. */
  stoppedReply(reply: JsonObject): JsonObject
  /** The last events of a stream stopped by the content filter, except the terminal text of the format. */
  stoppedEvents(seen: SeenEvents): JsonObject[]
}

/** The events sent so far in a stream that must be ended. */
export interface SeenEvents {
  readonly first: JsonObject
  /** The last event with a text. */
  readonly last: JsonObject
  /** The text so far, by `textId`. */
  readonly texts: ReadonlyMap<string, string>
  readonly usage: Usage
  readonly wantsUsage: boolean
}

/** The string members of an object among `keys`, as slots. */
export function slotsAt(
  value: unknown,
  path: Path,
  keys: readonly string[],
  textIdOf: (key: string) => string | undefined,
): TextSlot[] {
  if (!isObject(value)) return []
  return keys.flatMap((key) => {
    const text = value[key]
    return typeof text === 'string' ? [{ path: [...path, key], text, textId: textIdOf(key) }] : []
  })
}

/** A copy with the text at each path replaced. */
export function withTexts(data: JsonObject, texts: readonly { readonly path: Path; readonly text: string }[]): JsonObject {
  let changed: unknown = data
  for (const { path, text } of texts) changed = inPlace(changed, path, text)
  return isObject(changed) ? changed : data
}

function inPlace(value: unknown, [key, ...rest]: Path, text: string): unknown {
  if (key === undefined) return text
  if (Array.isArray(value)) return value.map((entry, index) => (index === key ? inPlace(entry, rest, text) : entry))
  return isObject(value) ? { ...value, [key]: inPlace(value[key], rest, text) } : value
}

/** The groups of the texts that have been seen, in order. */
export function groupsOf(texts: ReadonlyMap<string, string>): string[] {
  return [...new Set([...texts.keys()].map((textId) => textId.slice(0, textId.lastIndexOf('/'))))]
}
